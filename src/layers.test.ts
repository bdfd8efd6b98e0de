import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'

/** Which folder may import from which: the arrows of the map. cli may import from all. */
const arrows: Record<string, readonly string[]> = {
  files: [],
  hooks: [],
  store: ['hooks'],
  permissions: ['hooks'],
  auth: ['store', 'hooks'],
  providers: ['auth', 'hooks'],
  tools: ['sandbox', 'permissions', 'store', 'hooks'],
  mcp: ['sandbox', 'tools', 'permissions', 'store', 'auth', 'hooks'],
  plugins: ['mcp', 'tools', 'store', 'hooks'],
  migrate: ['plugins', 'mcp', 'tools', 'permissions', 'hosts', 'store', 'hooks'],
  workflow: ['sandbox', 'tools', 'permissions', 'store', 'hooks'],
  agent: ['plugins', 'sandbox', 'tools', 'mcp', 'providers', 'permissions', 'workflow', 'auth', 'store', 'hooks'],
  rehearsal: ['providers', 'hooks'],
  sdk: [
    'agent',
    'plugins',
    'tools',
    'mcp',
    'providers',
    'permissions',
    'workflow',
    'auth',
    'store',
    'hooks',
    'rehearsal',
  ],
  tui: [
    'doctor',
    'plugins',
    'sandbox',
    'audit',
    'agent',
    'tools',
    'mcp',
    'providers',
    'permissions',
    'workflow',
    'auth',
    'store',
    'hooks',
    'rehearsal',
  ],
  hosts: ['hooks'],
  brains: ['hosts', 'permissions', 'rehearsal', 'hooks'],
  dispatcher: ['hosts', 'hooks'],
  sandbox: ['permissions', 'hooks'],
  audit: ['hosts', 'permissions', 'store', 'hooks'],
  doctor: [
    'agent',
    'plugins',
    'tools',
    'mcp',
    'providers',
    'permissions',
    'workflow',
    'auth',
    'store',
    'sandbox',
    'brains',
    'hosts',
    'dispatcher',
    'audit',
    'hooks',
    'rehearsal',
  ],
  fleet: ['agent', 'audit', 'brains', 'hosts', 'store', 'hooks'],
}
/** Folders that may use Node's own modules and nothing else. */
const plain = ['hooks', 'dispatcher']
/** What every folder may use. */
const ground = ['files']

/** What a file imports, also for its types and also late. */
const importsOf = (text: string): string[] =>
  [...text.matchAll(/(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)].map(([, name]) => name!)

const targetOf = (file: string, name: string): string => normalize(join(dirname(file), name))

/** What in one file goes against the arrows. Files beside the folders import none of ours. */
function violations(file: string, text: string): string[] {
  const folder = file.includes('/') ? file.split('/')[0]! : 'src'
  if (folder === 'cli') return []
  const allowed = folder === 'src' ? [] : arrows[folder]
  if (!allowed) return [`${file}: ${folder} is not on the map`]
  const found: string[] = []
  for (const name of importsOf(text)) {
    if (name.startsWith('.')) {
      const target = targetOf(file, name)
      const other = target.split('/')[0]!
      if (!target.includes('/') || other === folder || [...ground, ...allowed].includes(other)) continue
      found.push(`${file} imports ${target}: ${folder} may not lean on ${other}`)
    } else if (plain.includes(folder) && !name.startsWith('node:') && !builtinModules.includes(name)) {
      found.push(`${file} imports ${name}: ${folder} uses Node's own modules only`)
    }
  }
  return found
}

/** Files that import each other, directly or by way of others: each group once, by name. */
function cycles(sources: ReadonlyMap<string, string>): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const found: string[][] = []
  const visit = (file: string) => {
    index.set(file, index.size)
    low.set(file, index.get(file)!)
    stack.push(file)
    const targets = importsOf(sources.get(file)!).map((name) => targetOf(file, name))
    for (const target of targets.filter((each) => sources.has(each))) {
      if (!index.has(target)) visit(target)
      if (stack.includes(target)) low.set(file, Math.min(low.get(file)!, low.get(target)!))
    }
    if (low.get(file) !== index.get(file)) return
    const group = stack.splice(stack.indexOf(file))
    if (group.length > 1 || targets.includes(file)) found.push(group.sort())
  }
  for (const file of sources.keys()) if (!index.has(file)) visit(file)
  return found
}

const sources = new Map(
  globSync('**/*.ts', { cwd: import.meta.dirname })
    .filter((file) => !/(^|\/)suite\.ts$|\.test\.ts$/.test(file))
    .map((file) => [file, readFileSync(join(import.meta.dirname, file), 'utf8')]),
)

test('every import follows the arrows of the map', () => {
  const found = [...sources].flatMap(([file, text]) => violations(file, text))
  assert.deepEqual(found, [])
})

test('no files import each other', () => {
  assert.deepEqual(cycles(sources), [])
})

test('a planted cycle is found', () => {
  const planted = new Map([
    ['a/one.ts', "import { two } from './two.ts'"],
    ['a/two.ts', "import type { Three } from '../b/three.ts'"],
    ['b/three.ts', "const { one } = await import('../a/one.ts')"],
    ['b/four.ts', "import { one } from '../a/one.ts'"],
  ])
  assert.deepEqual(cycles(planted), [['a/one.ts', 'a/two.ts', 'b/three.ts']])
})

test('a planted violation is found', () => {
  assert.deepEqual(violations('hooks/order.ts', "import { open } from '../store/open.ts'"), [
    'hooks/order.ts imports store/open.ts: hooks may not lean on store',
  ])
  assert.deepEqual(violations('hooks/order.ts', "import { z } from 'zod'"), [
    "hooks/order.ts imports zod: hooks uses Node's own modules only",
  ])
  assert.deepEqual(violations('tools/read.ts', "await import('../agent/turn.ts')"), [
    'tools/read.ts imports agent/turn.ts: tools may not lean on agent',
  ])
  assert.deepEqual(violations('page.ts', "import { storable } from './store/secrets.ts'"), [
    'page.ts imports store/secrets.ts: src may not lean on store',
  ])
  assert.deepEqual(violations('new/file.ts', ''), ['new/file.ts: new is not on the map'])
})

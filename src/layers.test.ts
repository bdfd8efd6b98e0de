import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, normalize, relative } from 'node:path'
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
  workflow: ['sandbox', 'tools', 'permissions', 'store', 'hooks'],
  agent: ['sandbox', 'tools', 'mcp', 'providers', 'permissions', 'workflow', 'auth', 'store', 'hooks'],
  rehearsal: ['providers', 'hooks'],
  sdk: ['agent', 'tools', 'mcp', 'providers', 'permissions', 'workflow', 'auth', 'store', 'hooks', 'rehearsal'],
  tui: [
    'doctor',
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
  brains: ['hosts', 'hooks'],
  dispatcher: ['hosts', 'hooks'],
  sandbox: ['permissions', 'hooks'],
  audit: ['hosts', 'permissions', 'store', 'hooks'],
  doctor: [
    'agent',
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
const plain = ['files', 'hooks', 'dispatcher']
/** What every folder may use. */
const ground = ['files']

/** What in one file goes against the arrows. */
function violations(file: string, text: string): string[] {
  const folder = file.split('/')[0]!
  const allowed = arrows[folder]
  if (!allowed) return []
  const found: string[] = []
  for (const [, name] of text.matchAll(/(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)) {
    if (name!.startsWith('.')) {
      const target = normalize(join(dirname(file), name!))
      const other = target.split('/')[0]!
      if (!target.includes('/') || other === folder || [...ground, ...allowed].includes(other)) continue
      found.push(`${file} imports ${target}: ${folder} may not lean on ${other}`)
    } else if (plain.includes(folder) && !name!.startsWith('node:') && !builtinModules.includes(name!)) {
      found.push(`${file} imports ${name}: ${folder} uses Node's own modules only`)
    }
  }
  return found
}

test('every import follows the arrows of the map', () => {
  const files = globSync('**/*.ts', { cwd: import.meta.dirname }).filter(
    (file) => !/(^|\/)suite\.ts$|\.test\.ts$/.test(file),
  )
  const found = files.flatMap((file) =>
    violations(relative('.', file), readFileSync(join(import.meta.dirname, file), 'utf8')),
  )
  assert.deepEqual(found, [])
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
})

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, normalize, relative } from 'node:path'
import { test } from 'node:test'

/** Which folder may import from which: the arrows of the map. cli may import from all. */
const arrows: Record<string, readonly string[]> = {
  hooks: [],
  store: ['hooks'],
  permissions: ['hooks'],
  auth: ['store', 'hooks'],
  providers: ['auth', 'hooks'],
  tools: ['permissions', 'store', 'hooks'],
  mcp: ['tools', 'permissions', 'store', 'auth', 'hooks'],
  workflow: ['tools', 'permissions', 'store', 'hooks'],
  agent: ['tools', 'mcp', 'providers', 'permissions', 'workflow', 'auth', 'store', 'hooks'],
  rehearsal: ['providers', 'hooks'],
  sdk: ['agent', 'tools', 'mcp', 'providers', 'permissions', 'workflow', 'auth', 'store', 'hooks', 'rehearsal'],
  tui: ['agent', 'tools', 'mcp', 'providers', 'permissions', 'workflow', 'auth', 'store', 'hooks', 'rehearsal'],
  brains: ['hooks'],
  dispatcher: ['hooks'],
  audit: ['permissions', 'store', 'hooks'],
  fleet: ['agent', 'audit', 'store', 'hooks'],
}
/** Folders that may use Node's own modules and nothing else. */
const plain = ['hooks', 'dispatcher']

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
      if (!target.includes('/') || other === folder || allowed.includes(other)) continue
      found.push(`${file} imports ${target}: ${folder} may not lean on ${other}`)
    } else if (plain.includes(folder) && !name!.startsWith('node:') && !builtinModules.includes(name!)) {
      found.push(`${file} imports ${name}: ${folder} uses Node's own modules only`)
    }
  }
  return found
}

test('every import follows the arrows of the map', () => {
  const files = globSync('**/*.ts', { cwd: import.meta.dirname }).filter((file) => !file.endsWith('.test.ts'))
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

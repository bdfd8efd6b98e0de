/** `ona dispatcher new-module NAME`: a module to start from, its test, and its line in the manifest. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readJson } from './files.ts'
import { writeWhole } from './install.ts'
import { modulePath, shipped } from './manifest.ts'
import { isObject, isSegment } from './paths.ts'

export type Made = { ok: true; files: string[] } | { ok: false; problem: string }

export function makeModule(repoRoot: string, name: string): Made {
  if (!isSegment(name))
    return { ok: false, problem: `"${name}" cannot be a module's name: letters, digits, dots, dashes and underscores` }
  if (Object.hasOwn(shipped, name)) return { ok: false, problem: `${name} is a shipped module; choose another name` }
  const manifestPath = '.ai/hooks/dispatch.manifest.json'
  const { value, problem } = readJson(join(repoRoot, manifestPath))
  if (!isObject(value))
    return { ok: false, problem: `${manifestPath}: ${problem ?? 'not there'}; run: ona dispatcher install` }
  const path = `.ai/hooks/${modulePath(name)}`
  const test = `.ai/hooks/features/${name}/hook.test.mjs`
  for (const file of [path, test])
    if (existsSync(join(repoRoot, file))) return { ok: false, problem: `${file} is already there` }
  const entry = { enabled: true, priority: 200, path: modulePath(name), hotPathSafe: true, critical: false }
  const modules = Array.isArray(value['modules'])
    ? [...value['modules'], { name, ...entry }]
    : { ...(isObject(value['modules']) ? value['modules'] : {}), [name]: entry }
  writeWhole(join(repoRoot, path), moduleText(name))
  writeWhole(join(repoRoot, test), testText(name))
  writeWhole(join(repoRoot, manifestPath), `${JSON.stringify({ ...value, modules }, null, 2)}\n`)
  return { ok: true, files: [path, test, manifestPath] }
}

const moduleText = (name: string): string => `// @ts-check
/**
 * ${name}: say here what it is for.
 * @type {import('ona/dispatcher').HookModule}
 */
const hook = {
  name: '${name}',
  supports: new Set(['PreToolUse']),
  priority: 200,
  hotPathSafe: true, // false: not asked on PreToolUse
  critical: false, // true: its failure denies the call

  handle(eventName, ctx) {
    const touched = ctx.event.paths.find((path) => path.startsWith('migrations/'))
    if (!touched) return undefined
    return { decision: 'ask', denyReason: \`\${touched} is a migration: is this meant?\` }
  },
}

export default hook
`

const testText = (name: string): string => `import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { testContext } from '../../lib/testing.mjs'
import hook from './hook.mjs'

const repo = mkdtempSync(join(tmpdir(), '${name}-'))
after(() => rmSync(repo, { recursive: true }))

/** @param {string} filePath */
const edit = (filePath) =>
  testContext(repo, {
    module: '${name}',
    event: 'PreToolUse',
    input: { tool_name: 'replace_string_in_file', tool_input: { filePath: join(repo, filePath) } },
  })

test('asks before a migration is edited', async () => {
  const action = await hook.handle('PreToolUse', edit('migrations/001.sql'))
  assert.equal(action?.decision, 'ask')
})

test('says nothing about other files', async () => {
  assert.equal(await hook.handle('PreToolUse', edit('src/a.ts')), undefined)
})
`

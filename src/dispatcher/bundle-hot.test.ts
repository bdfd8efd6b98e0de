/** The bundle of PreToolUse has every module that the event asks inside: none of them is imported. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { hooks } from './bundle.ts'
import { hooks as hotHooks } from './bundle-hot.ts'
import { installedText } from './load-modules.ts'
import { shipped } from './manifest.ts'
import type { HookModule } from './types.ts'

test('each bundle has the shipped modules of its events inside, with what the manifest knows of them', () => {
  const known = ({ name, priority, hotPathSafe, critical, supports }: HookModule) => [
    name,
    { priority, hotPathSafe, critical, supports: [...supports] },
  ]
  assert.deepEqual(Object.fromEntries(hooks.map(known)), shipped)
  const onCalls = Object.keys(shipped).filter((name) => shipped[name]!.supports.includes('PreToolUse'))
  assert.deepEqual(
    hotHooks.map(({ name }) => name),
    onCalls,
  )
})

for (const bundle of ['bundle', 'bundle-hot'])
  test(`PreToolUse asks the five modules of ${bundle}`, (t) => {
    const root = mkdtempSync(join(tmpdir(), 'bundle-hot-'))
    t.after(() => rmSync(root, { recursive: true, force: true }))
    const put = (file: string, text: string) => {
      mkdirSync(dirname(join(root, '.ai/hooks', file)), { recursive: true })
      writeFileSync(join(root, '.ai/hooks', file), text)
    }
    const names = ['session', 'graph-pretooluse', 'planGraph-exec', 'rlm-work', 'memory-activation']
    const url = new URL(`./${bundle}.ts`, import.meta.url).href
    put(
      'run.mjs',
      `import { run } from '${url}'\nawait run(import.meta.dirname, () => { throw new Error('imported') })\n`,
    )
    put('lib/features.txt', names.map((name) => installedText(name, `${name}\n`)).join(''))
    for (const name of names) put(`features/${name}/hook.mjs`, `${name}\n`)
    const modules = Object.fromEntries(names.map((name) => [name, {}]))
    put('dispatch.manifest.json', JSON.stringify({ version: 1, modules, budgets: { PreToolUse: 60_000 } }))
    const input = JSON.stringify({ session_id: 'aaaaaaaa-1', tool_name: 'read_file', tool_input: { filePath: 'a' } })
    const words = ['--disable-warning=DEP0111', join(root, '.ai/hooks/run.mjs'), 'PreToolUse']
    const { stdout } = spawnSync(process.execPath, words, { input, encoding: 'utf8' })
    const { decision, _debug } = JSON.parse(stdout)
    assert.deepEqual([decision, _debug.modulesRan.toSorted()], ['allow', names.toSorted()])
    assert.doesNotMatch(stdout, /imported/)
  })

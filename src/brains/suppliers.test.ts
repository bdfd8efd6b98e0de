import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { detectBrainReplsInRepo, detectWithSigns } from './detect.ts'
import { getBrainHooksAdapterByConfigImplicit } from './suppliers.ts'

function place(t: TestContext, files: Record<string, string>) {
  const from = mkdtempSync(join(tmpdir(), 'ona-suppliers-'))
  t.after(() => rmSync(from, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(from, path)), { recursive: true })
    writeFileSync(join(from, path), text)
  }
  return from
}
const pack = (name: string, source: string, kind = 'dependencies') => ({
  'package.json': JSON.stringify({ [kind]: { [name]: '1' } }),
  [`node_modules/${name}/package.json`]: JSON.stringify({ name, main: 'index.js' }),
  [`node_modules/${name}/index.js`]: source,
})

test('getBrainHooksAdapterByConfigImplicit: ours is given where no package claims the brain, by its name or an alias', async (t) => {
  const from = place(t, {})
  for (const slug of [
    'claudecode',
    'anthropic/claude/code',
    'opencode',
    'copilot',
    'gemini',
    'Cursor',
    'vscode',
    'codex',
    'ona',
  ])
    assert.ok(await getBrainHooksAdapterByConfigImplicit({ slug, from }), slug)
  assert.equal(await getBrainHooksAdapterByConfigImplicit({ slug: 'hal9000', from }), null)
})

test('getBrainHooksAdapterByConfigImplicit: a package goes before ours, whichever kind of dependency it is, scoped or not', async (t) => {
  for (const [name, kind] of [
    ['rhachet-brains-mine', 'dependencies'],
    ['ona-brains-mine', 'devDependencies'],
    ['@acme/rhachet-brains-mine', 'optionalDependencies'],
  ] as const) {
    const from = place(
      t,
      pack(
        name,
        `exports.getBrainHooks = ({ slug }) => (slug === 'claudecode' ? { slug: 'theirs', dao: { get: { all: async () => [] } } } : null)`,
        kind,
      ),
    )
    assert.equal((await getBrainHooksAdapterByConfigImplicit({ slug: 'claudecode', from }))?.slug, 'theirs')
    assert.equal((await getBrainHooksAdapterByConfigImplicit({ slug: 'opencode', from }))?.slug, 'opencode')
  }
})

test('getBrainHooksAdapterByConfigImplicit: a package of another name is not looked at; one without getBrainHooks is passed over', async (t) => {
  const other = place(t, pack('brains-of-rhachet', 'throw new Error("loaded")'))
  assert.equal((await getBrainHooksAdapterByConfigImplicit({ slug: 'codex', from: other }))?.slug, 'codex')
  const empty = place(t, pack('rhachet-brains-empty', 'exports.nothing = 1'))
  assert.equal((await getBrainHooksAdapterByConfigImplicit({ slug: 'codex', from: empty }))?.slug, 'codex')
})

test('getBrainHooksAdapterByConfigImplicit: a package that fails is named and passed over', async (t) => {
  const cases: [Record<string, string>, RegExp][] = [
    [
      { 'package.json': '{ "dependencies": { "rhachet-brains-x": "1" } }' },
      /rhachet-brains-x, which is not installed; run npm install/,
    ],
    [pack('rhachet-brains-x', 'throw new Error("no battery")'), /rhachet-brains-x fails when it is loaded: no battery/],
    [
      pack('rhachet-brains-x', 'exports.getBrainHooks = () => { throw new Error("no key") }'),
      /rhachet-brains-x fails when asked for "codex": no key; the package is ignored/,
    ],
    [pack('rhachet-brains-x', 'exports.getBrainHooks = () => ({})'), /rhachet-brains-x: .* is not an adapter/],
  ]
  for (const [files, message] of cases) {
    const warnings: string[] = []
    const warn = (text: string) => void warnings.push(text)
    const adapter = await getBrainHooksAdapterByConfigImplicit({ slug: 'codex', from: place(t, files), warn })
    assert.equal(adapter?.slug, 'codex')
    assert.equal(warnings.length, 1)
    assert.match(warnings[0]!, message)
  }
})

test('getBrainHooksAdapterByConfigImplicit: a package is asked with the names that published ones use', async (t) => {
  const source = `exports.getBrainHooks = ({ brain, repoPath }) =>
    brain === 'hal9000' ? { slug: repoPath, dao: { get: { all: async () => [] } } } : null`
  const from = place(t, pack('rhachet-brains-hal', source))
  assert.equal((await getBrainHooksAdapterByConfigImplicit({ slug: 'hal9000', from }))?.slug, from)
})

test('detectBrainReplsInRepo: each agent is found by its signs, a bare folder among them; a config in the home is no sign of the repository', async (t) => {
  const signs: [string, string[]][] = [
    ['.claude/settings.json', ['claudecode']],
    ['.claude/agents/a.md', ['claudecode']],
    ['CLAUDE.md', ['claudecode']],
    ['.opencode/agent/a.md', ['opencode']],
    ['opencode.jsonc', ['opencode']],
    ['.github/copilot-instructions.md', ['vscode']],
    ['.github/hooks/a.json', ['vscode', 'copilot']],
    ['.github/copilot/settings.json', ['copilot']],
    ['GEMINI.md', ['gemini']],
    ['.codex/config.toml', ['codex']],
    ['.cursorrules', ['cursor']],
    ['.ona/settings.json', ['ona']],
    ['AGENTS.md', []],
    ['.vscode/settings.json', []],
    ['.github/workflows/ci.yml', []],
  ]
  const home = place(t, {})
  for (const [path, slugs] of signs) {
    const from = place(t, { [path]: '' })
    assert.deepEqual(
      (await detectWithSigns({ from, home })).map(({ slug }) => slug),
      slugs,
      path,
    )
  }
  const mention = place(t, { '.vscode/settings.json': '{ "chat.agent.enabled": true }' })
  assert.deepEqual(await detectWithSigns({ from: mention, home }), [
    { slug: 'vscode', sign: '.vscode/settings.json', inHome: false },
  ])
  const elsewhere = place(t, { '.codex/config.toml': '', '.config/opencode/opencode.json': '{}' })
  assert.deepEqual(await detectWithSigns({ from: home, home: elsewhere }), [
    { slug: 'opencode', sign: '~/.config/opencode/opencode.json', inHome: true },
    { slug: 'codex', sign: '~/.codex/config.toml', inHome: true },
  ])
  const both = place(t, { '.claude/settings.json': '{}', '.cursor/rules/a.md': '' })
  assert.deepEqual(await detectBrainReplsInRepo({ from: both }), ['claudecode', 'cursor'])
})

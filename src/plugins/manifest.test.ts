import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readManifest } from './manifest.ts'
import { readMarketplace } from './marketplace.ts'

const read = (value: unknown, kind: 'claude' | 'agent-plugins' = 'claude') =>
  readManifest(typeof value === 'string' ? value : JSON.stringify(value), kind, 'plugin.json')
const problems = (value: unknown) => {
  const it = read(value)
  return it.ok ? [] : it.problems
}

test('a manifest with every part is read', () => {
  const value = {
    name: 'review',
    version: '1.2.0',
    author: { name: 'Ada' },
    commands: ['./extra/a.md', './more/'],
    agents: './helpers',
    skills: './talents',
    hooks: ['./config/hooks.json', { PreToolUse: [] }],
    mcpServers: { a: { command: 'x' } },
    outputStyles: './styles',
    lspServers: './.lsp.json',
  }
  assert.deepEqual(read(value), {
    ok: true,
    warnings: [],
    manifest: {
      kind: 'claude',
      name: 'review',
      version: '1.2.0',
      author: 'Ada',
      commands: ['extra/a.md', 'more/'],
      agents: ['helpers'],
      skills: ['talents'],
      outputStyles: ['styles'],
      hooks: { files: ['config/hooks.json'], inline: [{ PreToolUse: [] }] },
      mcpServers: { files: [], inline: [{ a: { command: 'x' } }] },
      unused: ['lspServers'],
    },
  })
})

test('a bad manifest names the file, the field and the remedy, all faults at once', () => {
  const name = 'must be a name of letters, digits, hyphens and dots, at most 64 long, such as "code-review"'
  assert.deepEqual(problems('{"name":'), ['plugin.json: is not JSON: Unexpected end of JSON input'])
  assert.deepEqual(problems([]), ['plugin.json: must be an object such as {"name": "code-review"}'])
  assert.deepEqual(problems({}), ['plugin.json: name is missing; add "name": "code-review"'])
  assert.deepEqual(problems({ name: '../evil', version: 2, commands: '../up', hooks: 7, agents: ['/etc'] }), [
    `plugin.json: name ${name}`,
    'plugin.json: version must be a string',
    `plugin.json: commands is "../up", which leaves the plugin's folder; move the file into it`,
    `plugin.json: agents is the absolute path "/etc"; write it from the plugin's root: "./…"`,
    'plugin.json: hooks must be a path such as "./hooks/hooks.json", or an object',
  ])
})

test('names and paths that would leave a folder are refused', () => {
  for (const name of ['', '.', '..', 'a/b', 'a\\b', 'a..b', 'x'.repeat(65), 'a\nb', '-x', 'con:', 'a b', 7, null])
    assert.equal(problems({ name }).length, 1, JSON.stringify(name))
  for (const path of ['..', '../x', 'a/../../x', '/x', 'C:/x', 'a\\..\\x', 'a\u0000b', '', 7])
    assert.equal(problems({ name: 'x', skills: path }).length, 1, JSON.stringify(path))
})

test('an unknown key is a warning that names the key that was meant, and an error in Agent Plugins', () => {
  const it = read({ name: 'x', comands: './c' })
  assert.deepEqual(it.ok && it.warnings, ['plugin.json: unknown key "comands"; did you mean "commands"?; ignored'])
  const closed = read({ name: 'x', hooks: {} }, 'agent-plugins')
  assert.match(closed.ok ? '' : closed.problems.join(), /unknown key "hooks".*Agent Plugins 1\.0 allows/)
})

test('a marketplace leaves out entries that it cannot use, and keeps the others', () => {
  const text = JSON.stringify({
    name: 'acme',
    owner: { name: 'Ada' },
    metadata: { pluginRoot: './plugins' },
    plugins: [
      { name: 'near', source: './near' },
      { name: 'far', source: { source: 'github', repo: 'acme/far', ref: 'v1' } },
      { name: 'sub', source: { source: 'git-subdir', url: 'https://example.com/x.git', path: 'p' } },
      { name: 'url', source: { source: 'url', url: 'https://example.com/y.git' } },
      { name: 'up', source: '../up' },
      { name: 'exec', source: { source: 'git', url: 'ext::sh -c evil' } },
      { name: 'option', source: { source: 'git', url: '--upload-pack=evil' } },
      { name: 'ref', source: { source: 'github', repo: 'a/b', ref: '--evil' } },
      { name: 'npm', source: { source: 'npm', package: 'x' } },
      { name: 'near', source: './again' },
      { source: './nameless' },
      'nothing',
    ],
  })
  const it = readMarketplace(text, 'm.json')
  assert.ok(it.ok)
  assert.deepEqual(
    it.marketplace.plugins.map(({ name, source }) => [name, source]),
    [
      ['near', './plugins/./near'],
      ['far', { source: 'github', repo: 'acme/far', ref: 'v1' }],
      ['sub', { source: 'git', url: 'https://example.com/x.git', path: 'p' }],
      ['url', { source: 'git', url: 'https://example.com/y.git' }],
    ],
  )
  assert.equal(it.warnings.length, 8)
  assert.match(it.warnings[0]!, /^m\.json: plugins\[4\]\.source is "\.\.\/up", which leaves/)
  assert.match(it.warnings[4]!, /plugins\[8\]\.source\.source is "npm", which ona does not fetch/)
})

test('no text makes the readers throw or let a path out', () => {
  const rounds = Number(process.env['ONA_FUZZ_ROUNDS'] ?? 3000)
  let seed = 20_261_115
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return (seed >>> 8) % below
  }
  const atoms = [
    '"../x"',
    '"./a"',
    '"/etc"',
    '{}',
    '[]',
    'null',
    '7',
    'true',
    '"a\\u0000"',
    '"x@y"',
    '{"source":"git","url":"ext::x"}',
  ]
  const keys =
    'name version author commands agents skills hooks mcpServers outputStyles plugins owner source metadata __proto__'.split(
      ' ',
    )
  const value = (depth: number): string => {
    const kind = random(depth > 3 ? 1 : 3)
    if (kind === 0) return atoms[random(atoms.length)]!
    if (kind === 1) return `[${Array.from({ length: random(4) }, () => value(depth + 1)).join(',')}]`
    return `{${Array.from({ length: random(6) }, () => `"${keys[random(keys.length)]}":${value(depth + 1)}`).join(',')}}`
  }
  for (let round = 0; round < rounds; round++) {
    const text = round % 10 === 0 ? value(0).slice(0, random(200)) : value(0)
    const manifest = readManifest(text, round % 2 === 0 ? 'claude' : 'agent-plugins', 'f')
    const paths = manifest.ok
      ? [manifest.manifest.commands, manifest.manifest.skills, manifest.manifest.hooks.files].flatMap(
          (each) => each ?? [],
        )
      : []
    for (const path of paths) assert.doesNotMatch(path, /^(\/|\.\.(\/|$))/, text)
    const market = readMarketplace(text, 'f')
    for (const { source } of market.ok ? market.marketplace.plugins : [])
      assert.doesNotMatch(typeof source === 'string' ? source : JSON.stringify(source), /^\/|\.\.\/|ext::/, text)
  }
})

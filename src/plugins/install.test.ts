import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { enabledPlugins } from './enabled.ts'
import { commit, type Place, place, writeGreeter, writeMarket } from './fixture.ts'
import { installFrom, installNamed, removePlugin, updatePlugin } from './install.ts'
import { addMarketplace, type Market, removeMarketplace } from './marketplaces.ts'
import { installedPlugins, knownMarketplaces } from './registry.ts'
import { gitUrlProblem, type Source } from './source.ts'
import { limits } from './tree.ts'
import { trustPlugin } from './trust.ts'

const marketOf = ({ home }: Place, more: Partial<Market> = {}): Market => ({ home, env: {}, policy: {}, ...more })
const directory = (path: string): Source => ({ source: 'directory', path })

/** What a session would use of it. */
const used = (at: Place, id: string) =>
  enabledPlugins({ home: at.home, env: {}, cwd: at.folder, settings: { enabledPlugins: { [id]: true } } })

test('a folder is installed as a copy, and is used once it is trusted as it is', async (t) => {
  const at = place(t)
  const folder = writeGreeter(at, 'greeter')
  const market = marketOf(at)
  const { id, hash, trust, plugin } = await installFrom(market, directory(folder))
  assert.deepEqual([id, trust, plugin.version], ['greet@local', 'new', '1.0.0'])
  const before = used(at, id)
  assert.deepEqual(
    [
      before.untrusted,
      before.plugins.map((each) => [each.servers, each.commands, each.handlers.map((one) => one.withheld)]),
    ],
    [[id], [[[], [], ['untrusted_plugin']]]],
  )
  trustPlugin(at.home, id, hash)
  const [now] = used(at, id).plugins
  assert.deepEqual(
    [now?.handlers.map(({ withheld }) => withheld), now?.servers.map(({ name }) => name), now?.commands.length],
    [[undefined], ['plugin:greet:bell'], 1],
  )
  writeFileSync(join(plugin.root, 'guard.sh'), 'exit 0\n')
  assert.match(used(at, id).warnings.join(), /greet@local has changed since you trusted it, so nothing of it is used/)
})

test('an update asks for trust again when anything changed, and not otherwise', async (t) => {
  const at = place(t)
  const folder = writeGreeter(at, 'greeter')
  const market = marketOf(at)
  const first = await installFrom(market, directory(folder))
  trustPlugin(at.home, first.id, first.hash)
  const same = await updatePlugin(market, 'greet')
  assert.deepEqual([same.unchanged, same.trust], [true, 'trusted'])
  at.write('greeter/lib/more.js', 'process.exit(0)')
  const changed = await updatePlugin(market, 'greet')
  assert.deepEqual([changed.unchanged, changed.trust, existsSync(first.plugin.root)], [false, 'changed', false])
})

test('removing takes the copy, the trust and the data', async (t) => {
  const at = place(t)
  const { id, hash, plugin } = await installFrom(marketOf(at), directory(writeGreeter(at, 'greeter')))
  trustPlugin(at.home, id, hash)
  used(at, id)
  assert.equal(removePlugin(marketOf(at), 'greet'), id)
  assert.deepEqual([existsSync(plugin.root), installedPlugins(marketOf(at))], [false, []])
  assert.deepEqual(readdirSync(join(at.home, '.ona/plugins/data')), [])
})

for (const kind of ['git', 'directory'] as const)
  test(`a marketplace (${kind}) gives a plugin, and an update of it`, async (t) => {
    const at = place(t)
    const folder = writeMarket(at, 'market')
    commit(folder)
    const source: Source = kind === 'git' ? { source: 'git', url: `file://${folder}` } : directory(folder)
    const market = marketOf(at)
    const { known } = await addMarketplace(market, source)
    assert.deepEqual([known.name, existsSync(join(known.location, '.git'))], ['acme', kind === 'directory'])
    const first = await installNamed(market, 'greet@acme')
    at.write('market/plugins/greet/.claude-plugin/plugin.json', { name: 'greet', version: '2.0.0' })
    commit(folder)
    await addMarketplace(market, source)
    const second = await updatePlugin(market, 'greet@acme')
    assert.deepEqual([first.plugin.version, second.plugin.version], ['1.0.0', '2.0.0'])
    removeMarketplace(market, 'acme')
    assert.deepEqual([knownMarketplaces(market), existsSync(folder)], [[], true])
  })

test('a repository is cloned at a branch or a commit, without its hooks, filters and submodules', async (t) => {
  const at = place(t)
  const folder = writeGreeter(at, 'repo')
  const ran = at.at('ran')
  const old = commit(folder)
  at.write('repo/.gitattributes', '*.md filter=evil\n')
  at.write('repo/.gitmodules', `[submodule "x"]\n\tpath = x\n\turl = ext::touch ${ran}\n`)
  at.write('repo/.git/hooks/post-checkout', `#!/bin/sh\ntouch ${ran}\n`, 0o755)
  at.write('repo/.claude-plugin/plugin.json', { name: 'greet', version: '3.0.0' })
  commit(folder)
  execFileSync('git', ['-C', folder, 'config', 'filter.evil.smudge', `touch ${ran}; cat`])
  const market = marketOf(at)
  const url = `file://${folder}`
  assert.equal((await installFrom(market, { source: 'git', url, ref: 'main' })).plugin.version, '3.0.0')
  assert.equal((await installFrom(market, { source: 'git', url, sha: old })).plugin.version, '1.0.0')
  assert.equal(existsSync(ran), false)
  await assert.rejects(installFrom(market, { source: 'git', url, ref: 'gone' }), /cannot be fetched: .*gone/s)
  assert.deepEqual(readdirSync(join(at.home, '.ona/plugins/tmp')), [])
})

test('addresses that run a program or pass an option to git are refused', () => {
  const bad = [
    'ext::sh -c id',
    '-uid',
    '--upload-pack=id',
    'ssh://-oProxyCommand=id/x',
    'http://example.com/x.git',
    'fd::17',
    'a b',
    '',
    'file:x',
  ]
  for (const url of bad) assert.notEqual(gitUrlProblem(url), undefined, url)
  for (const url of ['https://example.com/x.git', 'ssh://git@example.com/x', 'git@example.com:x/y.git', 'file:///x'])
    assert.equal(gitUrlProblem(url), undefined, url)
})

test('a marketplace.json is fetched from the web, bounded, without following redirects', async (t) => {
  const at = place(t)
  const list = { name: 'web', owner: { name: 'Ada' }, plugins: [] }
  const server = createServer((request, reply) => {
    if (request.url === '/m.json') return reply.end(JSON.stringify(list))
    if (request.url === '/big.json') return reply.end('x'.repeat(5 << 20))
    return reply.writeHead(302, { location: '/m.json' }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  const url = (path: string): Source => ({ source: 'url', url: `http://127.0.0.1:${port}${path}` })
  assert.equal((await addMarketplace(marketOf(at), url('/m.json'))).known.name, 'web')
  await assert.rejects(addMarketplace(marketOf(at), url('/big.json')), /is over 4 MiB/)
  await assert.rejects(addMarketplace(marketOf(at), url('/moved.json')), /cannot be fetched/)
})

type Hostile = (folder: string, t: TestContext) => void
const hostile: Record<string, [Hostile, RegExp]> = {
  'a link that leads out': [
    (at) => symlinkSync('/etc/passwd', join(at, 'secret')),
    /secret is a link that leads out of the plugin/,
  ],
  'a manifest that is such a link': [
    (at) => {
      execFileSync('rm', [join(at, '.claude-plugin/plugin.json')])
      symlinkSync('/etc/hostname', join(at, '.claude-plugin/plugin.json'))
    },
    /plugin\.json is a link that leads out/,
  ],
  'a circle of links': [(at) => symlinkSync('.', join(at, 'again')), /over 24 folders deep/],
  'a pipe': [(at) => execFileSync('mkfifo', [join(at, 'pipe')]), /pipe is neither a file nor a folder/],
  'a huge file': [
    (at) => {
      writeFileSync(join(at, 'huge'), '')
      truncateSync(join(at, 'huge'), limits.fileBytes + 1)
    },
    /huge is over 32 MiB/,
  ],
  'a name with a control character': [
    (at) => writeFileSync(join(at, 'a\u001b[2Jb'), ''),
    /control character in its name/,
  ],
  'a hook that cannot be read': [
    (at) => writeFileSync(join(at, 'hooks/hooks.json'), '{"hooks":{"PreToolUse":[{"hooks":[{"type":"command"}]}]}}'),
    /plugin greet: hooks\.PreToolUse\[0\]\.hooks\[0\]\.command/,
  ],
  'a manifest that names a missing file': [
    (at) => writeFileSync(join(at, '.claude-plugin/plugin.json'), '{"name":"greet","commands":"./gone"}'),
    /gone: there is no such file or folder, and the manifest's commands names it/,
  ],
}
for (const [what, [spoil, expected]] of Object.entries(hostile))
  test(`${what} is refused, and nothing is left behind`, async (t) => {
    const at = place(t)
    const folder = writeGreeter(at, 'greeter')
    spoil(folder, t)
    await assert.rejects(installFrom(marketOf(at), directory(folder)), expected)
    assert.deepEqual(installedPlugins(marketOf(at)), [])
    assert.equal(existsSync(join(at.home, '.ona/plugins/cache')), false)
  })

test('managed settings allow and block marketplaces, for installing and for using', async (t) => {
  const at = place(t)
  const folder = writeMarket(at, 'market')
  const source = directory(folder)
  await addMarketplace(marketOf(at), source)
  const { id, hash } = await installNamed(marketOf(at), 'greet@acme')
  trustPlugin(at.home, id, hash)
  const allowed = { strictKnownMarketplaces: [{ source: 'directory', path: folder }] }
  const patterned = { strictKnownMarketplaces: [{ source: 'pathPattern', pathPattern: `${at.folder}/.*` }] }
  for (const policy of [allowed, patterned]) assert.equal((await installNamed(marketOf(at, { policy }), id)).id, id)
  const github: Source = { source: 'github', repo: 'acme/x' }
  const locked = [
    { strictKnownMarketplaces: [] },
    { strictKnownMarketplaces: [{ source: 'hostPattern', hostPattern: 'github.com' }] },
    { blockedMarketplaces: [source] },
  ]
  for (const policy of locked) {
    await assert.rejects(installNamed(marketOf(at, { policy }), id), /managed settings/)
    await assert.rejects(installFrom(marketOf(at, { policy }), source), /managed settings/)
    const settings = { enabledPlugins: { [id]: true } }
    const { plugins, warnings } = enabledPlugins({ home: at.home, env: {}, cwd: at.folder, settings, managed: policy })
    assert.deepEqual([plugins, warnings.length], [[], 1])
  }
  await assert.rejects(addMarketplace(marketOf(at, { policy: { strictKnownMarketplaces: [] } }), github), /not among/)
})

test('a name of another publisher is refused', async (t) => {
  const at = place(t)
  for (const name of ['claude-plugins-official', 'official-claude-tools', 'inline']) {
    mkdirSync(at.at(name))
    at.write(`${name}/.claude-plugin/marketplace.json`, { name, owner: { name: 'x' }, plugins: [] })
    await assert.rejects(addMarketplace(marketOf(at), directory(at.at(name))), /is reserved/)
  }
})

test("Claude Code's installed plugins are used in place, and its files are not touched", (t) => {
  const at = place(t)
  const root = writeGreeter(at, 'home/.claude/plugins/cache/acme/greet/1.0.0')
  const record = { scope: 'user', installPath: root, version: '1.0.0' }
  at.write('home/.claude/plugins/installed_plugins.json', { version: 2, plugins: { 'greet@acme': [record] } })
  assert.deepEqual(installedPlugins(marketOf(at)), [{ id: 'greet@acme', root, version: '1.0.0', by: 'claude' }])
  assert.deepEqual(used(at, 'greet@acme').untrusted, ['greet@acme'])
  assert.throws(() => removePlugin(marketOf(at), 'greet'), /is Claude Code's/)
  at.write('home/.claude/plugins/installed_plugins.json', { version: 1, plugins: { 'greet@acme': record } })
  assert.equal(installedPlugins(marketOf(at))[0]?.root, root)
})

test('a plugin that managed settings enable is trusted; broken, it stops the start', (t) => {
  const at = place(t)
  const root = writeGreeter(at, 'greeter')
  at.write('home/.ona/plugins/installed.json', { plugins: { 'greet@acme': { root } } })
  const settings = { enabledPlugins: { 'greet@acme': true } }
  const request = { home: at.home, env: {}, cwd: at.folder, settings, managed: settings }
  assert.deepEqual(
    enabledPlugins(request).plugins.map(({ id }) => id),
    ['greet@acme'],
  )
  at.write('greeter/hooks/hooks.json', '{')
  assert.match(enabledPlugins(request).problems.join(), /greet@acme cannot be used; ona plugin disable/)
})

test('a folder of Agent Plugins 1.0 gives its skills and servers', async (t) => {
  const at = place(t)
  const $schema = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json'
  at.write('portable/plugin.json', { $schema, name: 'portable', version: '1.0.0' })
  at.write('portable/mcp.json', { mcpServers: { bell: { command: 'sh', args: ['${PLUGIN_ROOT}/bell.sh'] } } })
  at.write('portable/skills/wave/SKILL.md', '---\nname: wave\ndescription: waves\n---\nWave.\n')
  at.write('portable/hooks/hooks.json', '{"hooks":{}}')
  const { plugin } = await installFrom(marketOf(at), directory(at.at('portable')))
  const [server] = plugin.servers
  assert.deepEqual(
    [plugin.name, plugin.handlers, plugin.skills, server?.transport.type === 'stdio' && server.transport.args],
    ['portable', [], [join(plugin.root, 'skills')], [join(plugin.root, 'bell.sh')]],
  )
})

/** What a Claude Code user has already: plugins, rules for paths, servers in ~/.claude.json. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { call, testModel } from '../support/model/model.ts'
import { testPassedFlags } from '../support/passed-flags.ts'
import { place } from '../support/program.ts'

const server = join(import.meta.dirname, '../interop/echo-server.mjs')

test("a plugin's hooks, commands, skills, agents and servers take part", async (t) => {
  const at = place(t)
  at.write('plug/.claude-plugin/plugin.json', { name: 'plug', version: '1.2.3' })
  at.write('plug/hooks/hooks.json', {
    hooks: {
      PreToolUse: [
        { matcher: 'Bash', hooks: [{ type: 'command', command: '${CLAUDE_PLUGIN_ROOT}/guard.sh', shell: 'sh' }] },
      ],
    },
  })
  at.write('plug/guard.sh', '#!/bin/sh\necho "guarded by $CLAUDE_PLUGIN_ROOT" >&2\nexit 2\n')
  at.write('plug/commands/hello.md', '---\ndescription: Greets\n---\nSay hello to $ARGUMENTS.')
  at.write('plug/skills/wave/SKILL.md', '---\nname: wave\ndescription: Waves\n---\nWave.')
  at.write('plug/agents/judge.md', '---\nname: judge\ndescription: Judges\n---\nYou judge.')
  at.write('plug/.mcp.json', { mcpServers: { echo: { command: process.execPath, args: [server] } } })
  const model = await testModel(t, [
    call('Bash', { command: 'touch a' }),
    call('mcp__plugin_plug_echo__say', { text: 'hi' }),
  ])
  const words = ['--plugin-dir', 'plug', '--permission-mode', 'bypassPermissions', '--output-format', 'stream-json']
  const { code, stdout, stderr } = await at.run(['-p', '/plug:hello Ada', ...words], { env: model.env })
  assert.equal(code, 0, stderr)
  const [init] = stdout.split('\n').map((line) => JSON.parse(line || '{}'))
  assert.deepEqual(
    [init.plugins, init.agents.includes('plug:judge'), init.skills.filter((name: string) => name.startsWith('plug:'))],
    [[{ name: 'plug', path: init.plugins[0].path }], true, ['plug:wave', 'plug:hello']],
  )
  const sent = model.chats.map((chat) => JSON.stringify(chat))
  assert.match(sent[0]!, /Say hello to Ada\./)
  assert.match(sent[1]!, /guarded by \S+plug/)
  assert.match(sent[2]!, /said hi/)
  assert.equal(existsSync(join(at.folder, 'a')), false)
})

test('a plugin that cannot be read is wrong usage: its guard is not lost', async (t) => {
  const at = place(t)
  at.write('plug/hooks/hooks.json', { hooks: { PreToolUs: [{ hooks: [{ type: 'command', command: 'true' }] }] } })
  for (const [folder, why] of [
    ['plug', /PreToolUs/],
    ['nowhere', /is not a folder/],
  ] as const) {
    const { code, stderr } = await at.run(['-p', 'hi', '--plugin-dir', folder])
    assert.equal(code, 2)
    assert.match(stderr, why)
  }
  at.write('other/.mcp.json', { mcpServers: { echo: { command: 'false' } } })
  const model = await testModel(t)
  const without = await at.run(['-p', 'hi', '--plugin-dir-no-mcp', 'other'], { env: model.env })
  assert.deepEqual([without.code, without.stderr], [0, ''])
})

test('a rule without paths always holds; one with paths when such a file is touched', async (t) => {
  const at = place(t)
  at.write('.claude/rules/always.md', 'Always be brief.')
  at.write('.claude/rules/web/tests.md', '---\npaths: "src/**/*.{test,spec}.ts, e2e/*"\n---\nTests use tabs.')
  at.write('.claude/rules/docs.md', '---\npaths:\n  - docs/**\n---\nDocs use spaces.')
  at.write('src/deep/a.test.ts', 'x')
  at.write('src/a.ts', 'x')
  const read = (file: string) => call('Read', { file_path: join(at.folder, file) })
  const model = await testModel(t, [read('src/a.ts'), read('src/deep/a.test.ts')])
  const { code, stderr } = await at.run(['-p', 'go', '--allowed-tools', 'Read'], { env: model.env })
  assert.equal(code, 0, stderr)
  const sent = model.chats.map((chat) => JSON.stringify(chat))
  assert.deepEqual(
    sent.map((text) => [/Always be brief/, /Tests use tabs/, /Docs use spaces/].map((each) => each.test(text))),
    [
      [true, false, false],
      [true, false, false],
      [true, true, false],
    ],
  )
  assert.doesNotMatch(sent[2]!, /paths:/)
})

test("servers of ~/.claude.json are used and listed, and the file is Claude Code's own", async (t) => {
  const at = place(t)
  const echo = { command: process.execPath, args: [server] }
  const file = at.write('../home/.claude.json', { mcpServers: { echo }, numStartups: 3 })
  const before = readFileSync(file, 'utf8')
  const model = await testModel(t, [call('mcp__echo__say', { text: 'hi' })])
  await at.run(['-p', 'go', '--allowed-tools', 'mcp__echo'], { env: model.env })
  assert.match(JSON.stringify(model.chats.at(-1)), /said hi/)
  const { stdout } = await at.run(['mcp', 'list', '--json', '--no-check'])
  assert.deepEqual(
    JSON.parse(stdout).map(({ name, scope }: { name: string; scope: string }) => [name, scope]),
    [['echo', 'user']],
  )
  assert.equal((await at.run(['mcp', 'remove', 'echo'])).code, 1)
  assert.equal(readFileSync(file, 'utf8'), before)
})

test('hooks list reports hooks that nothing reads, and how to trust the folder', async (t) => {
  const at = place(t)
  at.write('.claude/hooks.json', { hooks: {} })
  at.write('.ona/settings.json', {
    hook: {},
    hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] },
  })
  const { stdout, stderr } = await at.run(['hooks', 'list'])
  assert.match(stdout, /does not run: untrusted_workspace; trust this folder with ona --trust/)
  assert.match(stderr, /\.claude\/hooks\.json: is not read; put its hooks under "hooks"/)
  assert.match(stderr, /\.ona\/settings\.json: hook unknown key; ignored\. Did you mean "hooks"\?/)
})

testPassedFlags(import.meta.filename)

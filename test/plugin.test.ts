import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { packageRoot } from '../src/package-root.ts'

test('ona plugin build makes one role an installable plugin of each agent, and its guard runs from there', (t) => {
  const repo = mkdtempSync(join(tmpdir(), 'ona-plugin-'))
  t.after(() => rmSync(repo, { recursive: true, force: true }))
  mkdirSync(join(repo, '.git'))
  mkdirSync(join(repo, 'guards'))
  mkdirSync(join(repo, 'skills/tow'), { recursive: true })
  writeFileSync(join(repo, 'skills/tow/SKILL.md'), '---\nname: tow\n---\nTow it.\n')
  writeFileSync(join(repo, 'guards/no.mjs'), "console.error('not today'); process.exit(2)\n")
  writeFileSync(
    join(repo, 'ona.roles.json'),
    JSON.stringify({
      repo: 'acme',
      roles: [
        {
          slug: 'mechanic',
          skills: { dirs: 'skills' },
          hooks: {
            onBrain: {
              onTool: [
                { command: 'node guards/no.mjs', timeout: 'PT5S', filter: { what: 'Bash' }, onFailure: 'refuse' },
              ],
            },
          },
        },
      ],
    }),
  )
  const ona = (...words: string[]) =>
    spawnSync(process.execPath, [join(packageRoot, 'bin/ona.mjs'), ...words], { cwd: repo, encoding: 'utf8' })
  const table: [string, string, string, string, string, string][] = [
    ['claudecode', '.claude-plugin/plugin.json', 'hooks/hooks.json', 'PreToolUse', 'CLAUDE_PLUGIN_ROOT', 'Bash'],
    ['codex', '.codex-plugin/plugin.json', 'hooks/hooks.json', 'PreToolUse', 'PLUGIN_ROOT', 'Bash'],
    ['gemini', 'gemini-extension.json', 'hooks/hooks.json', 'BeforeTool', 'extensionPath', 'run_shell_command'],
    ['cursor', '.cursor-plugin/plugin.json', 'hooks/hooks.json', 'preToolUse', 'CURSOR_PLUGIN_ROOT', 'Shell'],
    ['copilot', 'plugin.json', 'com.github.copilot/hooks/hooks.json', 'PreToolUse', 'PLUGIN_ROOT', 'bash'],
  ]
  for (const [host, manifest, hooks, event, variable, tool] of table) {
    const out = join(repo, `out-${host}`)
    const built = ona('plugin', 'build', 'mechanic', '--host', host, '--out', out)
    assert.equal(built.status, 0, built.stderr)
    const read = (path: string) => JSON.parse(readFileSync(join(out, path), 'utf8'))
    assert.equal(read(manifest).name, 'acme-mechanic')
    assert.match(
      readFileSync(join(out, 'README.md'), 'utf8'),
      /^# acme-mechanic\n[\s\S]*- onTool: `node guards\/no\.mjs`/,
    )
    const market = { claudecode: '.claude-plugin/marketplace.json', codex: '.agents/plugins/marketplace.json' }[host]
    if (market) assert.deepEqual([read(market).name, read(market).plugins.length], ['acme-mechanic', 1])
    const [first] = read(hooks).hooks[event]
    const { command } = first.hooks?.[0] ?? first
    const run = (tool_name: string) =>
      spawnSync('sh', ['-c', command], {
        env: { PATH: process.env['PATH'], [variable]: out },
        input: JSON.stringify({ hook_event_name: event, tool_name, tool_input: { command: 'ls' } }),
        encoding: 'utf8',
      })
    assert.match(run(tool).stderr, /not today/, host)
    assert.equal(run('Read').stderr, '', host)
    assert.match(readFileSync(join(out, 'skills/tow/SKILL.md'), 'utf8'), /Tow it/)
  }
  assert.equal(ona('plugin', 'build', 'mechanic', '--host', 'codex', '--out', join(repo, 'out-codex')).status, 1)
  assert.equal(ona('plugin', 'build', 'mechanic', '--host', 'emacs', '--out', 'x').status, 2)
})

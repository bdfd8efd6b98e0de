/** Plugins and homes for tests, in temporary folders. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'

export interface Place {
  readonly folder: string
  readonly home: string
  /** Writes a text, or a value as JSON. */
  write(path: string, content: unknown, mode?: number): string
  at(path: string): string
}

export function place(t: TestContext): Place {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ona-plugins-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const at = (path: string) => join(folder, path)
  mkdirSync(at('home'))
  return {
    folder,
    home: at('home'),
    at,
    write(path, content, mode = 0o644) {
      mkdirSync(dirname(at(path)), { recursive: true })
      writeFileSync(at(path), typeof content === 'string' ? content : JSON.stringify(content), { mode })
      return at(path)
    },
  }
}

/** A plugin with one part of each kind; its guard denies every Bash call. */
export function writeGreeter({ write, at }: Place, under: string): string {
  write(`${under}/.claude-plugin/plugin.json`, { name: 'greet', version: '1.0.0', description: 'greets' })
  write(
    `${under}/commands/hello.md`,
    '---\ndescription: says hello\n---\nSay hello from ${CLAUDE_PLUGIN_ROOT} to $ARGUMENTS\n',
  )
  write(`${under}/skills/wave/SKILL.md`, '---\nname: wave\ndescription: waves\n---\nWave.\n')
  write(`${under}/agents/host.md`, '---\nname: host\ndescription: receives guests\n---\nReceive them.\n')
  write(`${under}/output-styles/curt.md`, '---\nname: curt\ndescription: few words\n---\nUse few words.\n')
  write(`${under}/.mcp.json`, { mcpServers: { bell: { command: '${CLAUDE_PLUGIN_ROOT}/bell.sh' } } })
  const hook = { type: 'command', command: '"${CLAUDE_PLUGIN_ROOT}"/guard.sh' }
  write(`${under}/hooks/hooks.json`, { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [hook] }] } })
  write(`${under}/guard.sh`, '#!/bin/sh\necho "guarded by $CLAUDE_PLUGIN_ROOT" >&2\nexit 2\n', 0o755)
  return at(under)
}

/** A marketplace whose one plugin is the greeter. */
export function writeMarket(place: Place, under: string): string {
  writeGreeter(place, `${under}/plugins/greet`)
  const plugins = [{ name: 'greet', source: './plugins/greet', description: 'greets' }]
  place.write(`${under}/.claude-plugin/marketplace.json`, { name: 'acme', owner: { name: 'Ada' }, plugins })
  return place.at(under)
}

/** Makes the folder a repository with one more commit. */
export function commit(folder: string): string {
  const git = (...words: string[]) => execFileSync('git', ['-C', folder, ...words], { encoding: 'utf8', stdio: 'pipe' })
  git('init', '--quiet', '--initial-branch=main')
  git('add', '--all')
  git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', 'commit', '--quiet', '--message=change')
  return git('rev-parse', 'HEAD').trim()
}

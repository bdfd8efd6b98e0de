/** Runs one row of hooks in a program, and looks at what came of it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Said } from '../../src/rehearsal/chat.ts'
import type { Pattern, Seen } from './hook-patterns.ts'
import { cache, control, program, type World, world } from './support.ts'

const usual = ['Bash', 'Write', 'Edit', 'Read', 'Agent', 'mcp__t__say']

/** A test of the row in ona, and one in the real Claude Code where it is installed. */
export function testPattern(pattern: Pattern, skip: string | false = false): void {
  const timeout = 90_000
  const noControl = control ? false : 'Claude Code is not installed'
  test(`ona: ${pattern.name}`, { timeout, skip }, (t) => check(t, pattern, [process.execPath, program, '--trust']))
  test(`claude: ${pattern.name}`, { timeout, skip: skip || noControl }, (t) => check(t, pattern, [control!]))
}

async function check(t: TestContext, pattern: Pattern, words: readonly string[]): Promise<void> {
  const at = await world(t, [], { aside: pattern.aside })
  const placed = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value).replaceAll('$DIR', at.folder).replaceAll('$CACHE', cache)) as T
  at.script(placed(pattern.lines) as Said[])
  lay(at, pattern, placed)
  const flags = ['-p', '--output-format=stream-json', '--verbose', ...placed(pattern.flags ?? [])]
  const output = await run([...words, ...flags, '--', pattern.prompt ?? 'go please'], at, pattern.env)
  assert.deepEqual(pattern.outcome(seenIn(at)), pattern.expect, output)
}

function lay(at: World, pattern: Pattern, placed: <T>(value: T) => T): void {
  const { where = 'user', allow = usual } = pattern
  const put = (file: string, content: string | object) => {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
    if (file.endsWith('.sh')) chmodSync(file, 0o755)
  }
  for (const [name, content] of Object.entries(placed(pattern.files ?? {}))) put(join(at.folder, name), content)
  const server = { command: process.execPath, args: [join(import.meta.dirname, 'echo-server.mjs')] }
  put(join(at.folder, 'mcp.json'), { mcpServers: { t: server } })
  const hooks = placed(pattern.hooks)
  put(join(at.home, '.claude/settings.json'), { permissions: { allow }, ...(where === 'user' && { hooks }) })
  if (where === 'project') put(join(at.folder, '.claude/settings.json'), { hooks })
  if (where === 'local') put(join(at.folder, '.claude/settings.local.json'), { hooks })
  if (where === 'plugin') {
    put(join(at.folder, 'plugin/.claude-plugin/plugin.json'), { name: 'guards' })
    put(join(at.folder, 'plugin/hooks/hooks.json'), { hooks })
  }
}

function run(words: readonly string[], { folder, env }: World, more: Pattern['env']): Promise<string> {
  const child = spawn(words[0]!, words.slice(1), {
    cwd: folder,
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 80_000,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece) => {
      output += piece
    })
  return new Promise((resolve) => child.on('close', () => resolve(output)))
}

function seenIn({ folder, chats }: World): Seen {
  const messages = chats.flatMap((chat) => chat.messages)
  return {
    file(name) {
      const path = join(folder, name)
      return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined
    },
    heard: (text) => messages.some((message) => message.text.includes(text)),
    asked: chats.length,
    results: messages.flatMap((each) => (each.role === 'tool' ? [{ text: each.text, isError: each.isError }] : [])),
  }
}

/** A home, a folder and a scripted model that speaks the Messages API, for packages that drive ona. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Chat, Said } from '../../src/rehearsal/chat.ts'
import { startRehearsal } from '../../src/rehearsal/server.ts'

export const cache = process.env['ONA_INTEROP_CACHE'] ?? ''

/** The program under test: ona, or the one that ONA_INTEROP_PROGRAM names, such as the real Claude Code as a control. */
export const program = process.env['ONA_INTEROP_PROGRAM'] ?? join(import.meta.dirname, '../../bin/ona.mjs')
export const isOna = process.env['ONA_INTEROP_PROGRAM'] === undefined

/** The real Claude Code, where it is installed: the control. */
export const control: string | undefined = process.env['ONA_INTEROP_CLAUDE'] || undefined

/** A package of the cache folder. */
// biome-ignore lint/suspicious/noExplicitAny: its types are not installed here
export async function load(name: string): Promise<any> {
  const require = createRequire(join(cache, 'package.json'))
  return import(pathToFileURL(require.resolve(name)).href)
}

export type Line = Said | ((chat: Chat) => Said | Promise<Said>)

export interface World {
  readonly home: string
  readonly folder: string
  readonly env: Record<string, string>
  /** Requests of the conversation; questions beside it are not kept. */
  readonly chats: Chat[]
  /** The text that the model was sent last. */
  heard(): string
  /** The system prompt of the first request. */
  system(): string
  /** Adds to what the model will say. */
  script(lines: readonly Line[]): void
  write(path: string, content: string | object): string
  rows<Row = Record<string, unknown>>(sql: string): Row[]
}

export async function world(
  t: TestContext,
  lines: readonly Line[] = [],
  { aside = 'A summary.' }: { aside?: string | undefined } = {},
): Promise<World> {
  const root = mkdtempSync(join(tmpdir(), 'ona-interop-'))
  t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  const home = join(root, 'home')
  const folder = join(root, 'folder')
  for (const each of [home, folder]) mkdirSync(each)
  const chats: Chat[] = []
  const left = [...lines]
  const server = await startRehearsal({
    async player(chat) {
      if (chat.tools.length === 0) return { text: aside }
      chats.push(chat)
      const line = left.shift() ?? { text: 'Done.' }
      return typeof line === 'function' ? line(chat) : line
    },
  })
  t.after(() => server.close())
  return {
    home,
    folder,
    chats,
    script: (more) => left.push(...more),
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      ONA_KEYCHAIN: 'off',
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: 'test-key-1234',
      ANTHROPIC_MODEL: 'claude-sonnet-4-20250514',
      DISABLE_TELEMETRY: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
    heard: () => chats.at(-1)?.messages.at(-1)?.text ?? '',
    system: () =>
      chats[0]?.messages
        .filter(({ role }) => role === 'system')
        .map(({ text }) => text)
        .join('\n') ?? '',
    write(path, content) {
      const file = join(folder, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
      return file
    },
    rows(sql) {
      const db = new DatabaseSync(join(home, '.ona/agent.db'), { readOnly: true })
      try {
        return db.prepare(sql).all() as never
      } finally {
        db.close()
      }
    },
  }
}

export const call = (name: string, input: Record<string, unknown>): Said => ({ calls: [{ name, input }] })
export const bash = (command: string): Said => call('Bash', { command, description: 'run it' })

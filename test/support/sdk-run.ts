/** For tests of agents: the real loop, plane and store, and the rehearsal model playing a list of replies. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Chat, Said } from '../../src/rehearsal/chat.ts'
import type { RuntimeOptions } from '../../src/sdk/runtime.ts'
import { removeFolder } from './remove-folder.ts'

export type Line = string | object | ((chat: Chat) => Said | string)

export interface Played {
  /** For `run` or `openRuntime`: hermetic, and answered by the lines in order. */
  readonly options: RuntimeOptions & { readonly cwd: string }
  /** What the model was sent. */
  readonly chats: Chat[]
  readonly logged: string[]
}

/** Words, an object as its JSON, or a function of the request. After the last line the model fails. */
export function plays(t: TestContext, ...lines: readonly Line[]): Played {
  const cwd = mkdtempSync(join(tmpdir(), 'ona-sdk-'))
  t.after(() => removeFolder(cwd))
  const chats: Chat[] = []
  const logged: string[] = []
  return {
    chats,
    logged,
    options: {
      cwd,
      env: { HOME: join(cwd, 'home'), PATH: process.env['PATH'], ONA_KEYCHAIN: 'off' },
      rehearsal(chat) {
        const line = lines[chats.length]
        chats.push(chat)
        if (line === undefined) return { fail: { status: 400, message: 'the script is over' } }
        const said = typeof line === 'function' ? line(chat) : line
        if (typeof said === 'string') return { text: said }
        return typeof line === 'function' || 'calls' in said || 'fail' in said ? said : { text: JSON.stringify(said) }
      },
      log: ({ text, cause }) => logged.push(cause instanceof Error ? `${text}: ${cause.message}` : text),
    },
  }
}

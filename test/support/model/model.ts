/** A model for tests: it plays what it is told over Chat Completions on loopback, and keeps what it was sent. */
import type { TestContext } from 'node:test'
import type { Chat, Said } from '../../../src/rehearsal/chat.ts'
import { startRehearsal } from '../../../src/rehearsal/server.ts'

export interface TestModel {
  /** For the environment of the program. */
  readonly env: Record<string, string>
  readonly chats: Chat[]
}

export type Line = Said | ((chat: Chat) => Said | Promise<Said>)

/** One line a request; after the last it says "Done.". Questions beside the conversation get a summary. */
export async function testModel(t: TestContext, lines: readonly Line[] = []): Promise<TestModel> {
  const chats: Chat[] = []
  const left = [...lines]
  const server = await startRehearsal({
    async player(chat) {
      if (chat.tools.length === 0) return { text: 'They said hello.' }
      chats.push(chat)
      const line = left.shift() ?? { text: 'Done.' }
      return typeof line === 'function' ? line(chat) : line
    },
  })
  t.after(() => server.close())
  return { env: { LM_STUDIO_BASE_URL: server.baseUrl, LM_STUDIO_MODEL: server.model }, chats }
}

export const call = (name: string, input: Record<string, unknown>): Said => ({ calls: [{ name, input }] })

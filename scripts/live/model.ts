/** The rehearsal model for real agents: it asks once for a shell command, then says that it is done. */
import { offeredTool } from '../../src/rehearsal/offered-tools.ts'
import { startRehearsal } from '../../src/rehearsal/server.ts'

export interface Model {
  readonly url: string
  /** What the agents sent, newest last. */
  readonly requests: { path: string; body: string }[]
  close(): Promise<void>
}

/** `command`: what the model has the agent run. */
export async function startModel(command: string): Promise<Model> {
  const requests: Model['requests'] = []
  const { url, close } = await startRehearsal({
    onRequest: ({ path, body }) => void requests.push({ path, body }),
    player: ({ messages, tools }) =>
      // requests that offer no shell are for titles and the like
      offeredTool('Bash', tools) && !messages.some(({ role }) => role === 'tool')
        ? { calls: [{ name: 'Bash', input: { command } }] }
        : { text: 'Done.' },
  })
  return { url, requests, close }
}

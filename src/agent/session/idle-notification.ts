/** Notifies hooks that the agent waits for the user: some time after a turn ended and nothing more was typed. */
import type { AgentEvent } from '../events.ts'
import type { Session } from './session.ts'

export interface Idle {
  hear(event: AgentEvent): void
  close(): Promise<void>
}

export function idleNotice(session: () => Session, afterMs: number): Idle {
  const over = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let telling: Promise<void> | undefined
  const tell = async () => {
    const here = session()
    if (here.busy) return
    const fields = { message: 'ona is waiting for your input', notification_type: 'idle_prompt' }
    await here.raise('Notification', () => fields, over.signal)
    here.commit(() => {})
  }
  return {
    hear(event) {
      if (event.agent || (event.type !== 'turn-started' && event.type !== 'turn-ended')) return
      clearTimeout(timer)
      if (event.type === 'turn-started') return
      timer = setTimeout(() => {
        telling = tell()
      }, afterMs).unref()
    },
    async close() {
      clearTimeout(timer)
      over.abort()
      await telling
    },
  }
}

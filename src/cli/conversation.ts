/** A conversation opened by its id from a command, with a session to work in. */

import type { AgentEvent } from '../agent/events.ts'
import { lazyModel } from '../agent/model/lazy-model.ts'
import { type Opened as OpenedRuntime, openSharedRuntime } from '../agent/session/open-runtime.ts'
import { Session } from '../agent/session/session.ts'
import { sessionServices } from '../agent/session/session-services.ts'
import type { PermissionMode } from '../hooks/plane.ts'
import { createSession, getConversation, newestConversation, newestSession } from '../store/conversations.ts'
import { nobody } from './headless/deny-all.ts'
import { noted } from './print.ts'
import { onEndingSignals } from './signals.ts'

export type Opened = { readonly session: Session; close(): Promise<void> } | { readonly problem: string }

/** Without an id, the newest conversation of the folder. Nothing is written where there is none. */
export async function openConversation(id: string | undefined, cwd?: string): Promise<Opened> {
  const { startOptions } = await import('./options.ts')
  const opened = openSharedRuntime({ ...(await startOptions(cwd ? { cwd } : {})), user: nobody, on: tell })
  if ('problem' in opened) return opened
  const { cleanUp } = opened
  const { db } = opened.runtime
  const conversation = id ? getConversation(db, id) : newestConversation(db, cwd ?? process.cwd())
  if (!conversation) {
    cleanUp()
    return {
      problem: id ? `there is no conversation ${id}` : 'there is no conversation of this folder; say --conversation ID',
    }
  }
  const found = newestSession(db, { conversationId: conversation.id }) ?? createSession(db, conversation.id)
  const session = sessionAt(opened, {
    id: found.sessionId,
    conversationId: conversation.id,
    cwd: conversation.projectDir,
  })
  const release = onEndingSignals(() => session.interrupt())
  return {
    session,
    async close() {
      release()
      session.commit(() => {})
      await session.tasks.stopAll()
      cleanUp()
    },
  }
}

/** A session in which no model has a turn: its calls and moves are a user's, or another agent's. */
export function sessionAt(
  opened: OpenedRuntime,
  { mode, ...place }: { id: string; conversationId: string; cwd: string; mode?: PermissionMode },
): Session {
  const { runtime, permissions } = opened
  const session = new Session({
    runtime,
    services: sessionServices,
    ...place,
    projectDir: place.cwd,
    mode: mode ?? permissions.defaultMode ?? 'default',
    model: lazyModel(runtime),
    permissions,
    messages: [],
  })
  opened.use(session)
  return session
}

function tell(event: AgentEvent): void {
  if (event.type === 'notice') noted(event.text)
  if (event.type === 'tool-started' && event.agent) noted(`  ${event.name} ${event.summary}`)
}

/** A session for tests: a real database in a folder of its own, the real plane and tools, a model that plays a script. */
import { mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentEvent, User } from '../../src/agent/events.ts'
import type { ActiveModel, McpHost, Runtime } from '../../src/agent/session/runtime.ts'
import { Session } from '../../src/agent/session/session.ts'
import { sessionServices } from '../../src/agent/session/session-services.ts'
import { type AgentKind, loadAgentKinds } from '../../src/agent/subagents/agent-definitions.ts'
import type { Toolbox } from '../../src/agent/toolbox.ts'
import { createPlane } from '../../src/hooks/dispatch.ts'
import type { Handler } from '../../src/hooks/handler.ts'
import type { PermissionMode } from '../../src/hooks/plane.ts'
import type { PermissionSettings } from '../../src/permissions/question.ts'
import { createConversation, createSession, type Phase } from '../../src/store/conversations.ts'
import { openDb } from '../../src/store/open.ts'
import { type Line, type Scripted, scripted } from './model/scripted-model.ts'
import { removeFolder } from './remove-folder.ts'

export interface TestSession {
  readonly session: Session
  readonly model: Scripted
  readonly events: AgentEvent[]
  readonly folder: string
  /** Rows of a table, for whole-value comparison. */
  rows<Row = Record<string, unknown>>(sql: string): Row[]
  /** The payloads of the transcript, in order. */
  transcript(): Record<string, unknown>[]
  end(): void
}

export interface TestOptions {
  readonly script?: readonly Line[]
  readonly handlers?: readonly Handler[]
  readonly permissions?: PermissionSettings
  readonly mode?: PermissionMode
  readonly user?: Partial<User>
  readonly phase?: Phase
  readonly tools?: Toolbox
  readonly agents?: readonly AgentKind[]
  readonly mcp?: McpHost
  readonly window?: number
  readonly env?: NodeJS.ProcessEnv
}

export function testSession(options: TestOptions = {}): TestSession {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ona-agent-')))
  const db = openDb(join(folder, 'agent.db'))
  const events: AgentEvent[] = []
  const provider = scripted(options.script ?? [])
  const model: ActiveModel = {
    provider,
    providerName: 'lm_studio_local',
    modelId: 'lm_studio_server_routed',
    wireModel: 'scripted',
    window: options.window ?? 100_000,
    maxOutput: 1000,
    why: 'a test',
    rehearsal: false,
  }
  const nobody = async () => undefined
  const runtime: Runtime = {
    db,
    settings: { hooks: [] },
    reasoning: {},
    plane: createPlane(options.handlers ?? []),
    user: { permission: nobody, questions: nobody, approvePlan: nobody, elicit: nobody, ...options.user },
    env: options.env ?? {},
    childEnv: process.env,
    home: folder,
    agents: loadAgentKinds({ projectDir: folder, home: folder, trusted: true, bare: false }, options.agents).kinds,
    skills: { list: () => [], get: () => undefined },
    trusted: true,
    bare: false,
    withoutTools: [],
    ...(options.mcp && { mcp: options.mcp }),
    emit: (event) => events.push(event),
    spent: () => {},
    modelFor: async () => model,
  }
  const { id: conversationId } = createConversation(db, { projectDir: folder, phase: options.phase ?? 'idle' })
  const session = new Session({
    runtime,
    services: sessionServices,
    id: createSession(db, conversationId).sessionId,
    conversationId,
    cwd: folder,
    projectDir: folder,
    mode: options.mode ?? 'default',
    model,
    permissions: options.permissions ?? {},
    messages: [],
    ...(options.tools && { tools: options.tools }),
  })
  return {
    session,
    model: provider,
    events,
    folder,
    rows: (sql) => db.all(sql),
    transcript: () =>
      db
        .all<{ payload: string }>('SELECT payload_json AS payload FROM transcript_entries ORDER BY id')
        .map(({ payload }) => {
          const { uuid: _uuid, ...rest } = JSON.parse(payload)
          return rest
        }),
    end() {
      db.close()
      removeFolder(folder)
    },
  }
}

/** The agent as editors drive it: the Agent Client Protocol, version 1. */
import {
  type AgentApp,
  type AgentContext,
  agent,
  type ClientCapabilities,
  type McpServer,
  PROTOCOL_VERSION,
  type PromptResponse,
  RequestError,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import { compact } from '../../agent/context/compact.ts'
import { expandPrompt } from '../../agent/context/expand.ts'
import type { AgentEvent } from '../../agent/events.ts'
import type { Session } from '../../agent/session/session.ts'
import { type Started, startSession } from '../../agent/session/start.ts'
import type { StartOptions } from '../../agent/session/start-options.ts'
import { runTurn } from '../../agent/turn.ts'
import type { TurnEnd } from '../../agent/turn-end.ts'
import type { PermissionMode } from '../../hooks/plane.ts'
import { dbPath, openDb } from '../../store/open.ts'
import { listSessions } from '../../store/session/session-list.ts'
import { forShell } from '../auth.ts'
import { configOptions, modesOf, restoreMode, saveMode, setMode, setModel, setOption } from './config-options.ts'
import { readPrompt, toldAgain } from './content.ts'
import { textBlock, updatesFor } from './updates.ts'
import { userAt } from './user.ts'

export interface Served {
  readonly app: AgentApp
  /** Ends every session. */
  close(): Promise<void>
}

/** A session that an editor has open. */
interface Open {
  readonly started: Started
  readonly session: Session
  /** Tells the editor, in order. */
  send(update: SessionUpdate): void
  /** Resolves when every update has been sent. */
  sent(): Promise<void>
  toldMode: PermissionMode
  /** The prompt that is being answered. */
  answering?: Promise<unknown>
}

type Place = { cwd: string; mcpServers?: McpServer[]; additionalDirectories?: string[] }

export function serveAcp(options: Omit<StartOptions, 'user' | 'on'>, version: string): Served {
  const open = new Map<string, Open>()
  let can: ClientCapabilities = {}
  let gone = false

  const begin = async (client: AgentContext, place: Place, resume?: string): Promise<Open> => {
    let here: Open | undefined
    const early: AgentEvent[] = []
    const hear = (event: AgentEvent) => {
      if (!here) return void early.push(event)
      for (const update of updatesFor(here.session, event)) here.send(update)
      if (event.type === 'tool-finished' || event.type === 'turn-ended') tellMode(here)
    }
    const started = await startSession({
      ...options,
      cwd: place.cwd,
      addDirs: [...(options.addDirs ?? []), ...(place.additionalDirectories ?? [])],
      mcpConfig: [...(options.mcpConfig ?? []), ...mcpConfig(place.mcpServers ?? [])],
      ...(resume && { resume }),
      user: userAt({
        client,
        get can() {
          return can
        },
        isGone: () => gone,
        sessionId: () => here?.session.id ?? '',
      }),
      on: hear,
    })
    if ('problem' in started) {
      if (started.error === 'authentication_failed')
        throw RequestError.authRequired(undefined, forShell(started.problem))
      throw started.problem.startsWith('No conversation found')
        ? RequestError.sessionNotFound(resume ?? '')
        : RequestError.invalidParams(undefined, started.problem)
    }
    const { session } = started
    if (resume && !options.mode) restoreMode(session)
    let sent = Promise.resolve()
    here = {
      started,
      session,
      send: (update) => {
        sent = sent.then(() => client.notify('session/update', { sessionId: session.id, update })).catch(() => {}) // the editor is gone: the run is about to be ended
      },
      sent: () => sent,
      toldMode: session.mode,
    }
    open.set(session.id, here)
    // After the answer that makes the session known to the editor.
    const opened = here
    setImmediate(() => {
      for (const event of early.splice(0)) hear(event)
      opened.send({ sessionUpdate: 'available_commands_update', availableCommands: commandsOf(session) })
    })
    return here
  }

  const find = (id: string): Open => {
    const found = open.get(id)
    if (!found) throw RequestError.sessionNotFound(id)
    return found
  }

  const end = async (id: string): Promise<void> => {
    const { started, session, answering } = find(id)
    open.delete(id)
    session.interrupt()
    await answering?.catch(() => {}) // its fault is the prompt's own answer
    await started.close('other')
  }

  const app = agent({ name: 'ona' })
    .onRequest('initialize', ({ params }) => {
      can = params.clientCapabilities ?? {}
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: 'ona', title: 'ona', version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, embeddedContext: true },
          mcpCapabilities: { http: true, sse: true },
          sessionCapabilities: { list: {}, resume: {}, close: {}, additionalDirectories: {} },
        },
        authMethods: [
          { id: 'login', name: 'ona login', description: 'Run ona login in a terminal, or set ANTHROPIC_API_KEY.' },
        ],
      }
    })
    .onRequest('authenticate', () => {
      throw RequestError.invalidRequest(undefined, 'run ona login in a terminal, then start the agent again')
    })
    .onRequest('session/new', async ({ params, client }) => {
      const { session } = await begin(client, params)
      return { sessionId: session.id, ...(await choices(session)) }
    })
    .onRequest('session/load', async ({ params, client }) => {
      const here = await begin(client, params, params.sessionId)
      for (const update of toldAgain(here.session)) here.send(update)
      await here.sent()
      return choices(here.session)
    })
    .onRequest('session/resume', async ({ params, client }) => {
      const { session } = await begin(client, params, params.sessionId)
      return choices(session)
    })
    .onRequest('session/list', ({ params }) => ({ sessions: sessionsOf(options, params.cwd ?? null) }))
    .onRequest('session/close', async ({ params }) => end(params.sessionId))
    .onRequest('session/set_mode', async ({ params }) => {
      const here = find(params.sessionId)
      const problem = setMode(here.session, params.modeId)
      if (problem) throw RequestError.invalidParams(undefined, problem)
      here.toldMode = here.session.mode
      await tellOptions(here)
    })
    .onRequest('session/set_config_option', async ({ params }) => {
      const here = find(params.sessionId)
      const problem = await setOption(here.session, params.configId, params.value)
      if (problem) throw RequestError.invalidParams(undefined, problem)
      tellMode(here)
      return { configOptions: await configOptions(here.session) }
    })
    .onRequest('session/prompt', async ({ params, signal }) => {
      const here = find(params.sessionId)
      if (here.session.busy) throw RequestError.invalidRequest(undefined, 'this session is answering a prompt already')
      const stop = () => here.session.interrupt()
      signal.addEventListener('abort', stop, { once: true })
      try {
        here.answering = answer(here, readPrompt(params.prompt))
        return (await here.answering) as PromptResponse
      } finally {
        signal.removeEventListener('abort', stop)
        await here.sent()
      }
    })
    .onNotification('session/cancel', ({ params }) => open.get(params.sessionId)?.session.interrupt())

  return {
    app,
    async close() {
      gone = true
      for (const id of [...open.keys()]) await end(id)
    },
  }
}

async function answer(here: Open, { text, more }: ReturnType<typeof readPrompt>): Promise<PromptResponse> {
  const { session } = here
  const say = (words: string) => here.send({ sessionUpdate: 'agent_message_chunk', content: textBlock(words) })
  const summary = /^\/compact(?:\s+([\s\S]*))?$/.exec(text.trim())
  if (summary) {
    const done = await compact(session, 'manual', summary[1] || null)
    say(done.done ? 'The conversation is compacted to its summary.' : `Not compacted: ${done.why}`)
    return { stopReason: 'end_turn' }
  }
  const [, wanted] = /^\/model\s+(\S+)$/.exec(text.trim()) ?? []
  if (wanted) {
    const problem = await setModel(session, wanted)
    say(problem ?? `The model is now ${session.model.wireModel}.`)
    if (!problem) await tellOptions(here)
    return { stopReason: 'end_turn' }
  }
  const first = here.started.initialPrompt && session.messages.length === 0 ? `${here.started.initialPrompt}\n\n` : ''
  const expanded = await expandPrompt(session, first + text)
  if (!expanded.ok) {
    say(expanded.why)
    return { stopReason: 'end_turn' }
  }
  const end = await runTurn(session, [...expanded.blocks, ...more])
  return { stopReason: stopOf(end, say) }
}

/** A failure is the request's error; the stop reason says who ended the turn. */
function stopOf(end: TurnEnd, say: (words: string) => void): PromptResponse['stopReason'] {
  if (end.failure?.kind === 'authentication') throw RequestError.authRequired(undefined, end.failure.message)
  if (end.stop === 'error') throw RequestError.internalError(undefined, end.why ?? 'the model failed')
  if (end.why && end.stop !== 'cancelled') say(end.why)
  return end.stop
}

function tellMode(here: Open): void {
  const { mode } = here.session
  if (mode === here.toldMode) return
  here.toldMode = mode
  saveMode(here.session)
  here.send({ sessionUpdate: 'current_mode_update', currentModeId: mode })
}

async function tellOptions(here: Open): Promise<void> {
  here.send({ sessionUpdate: 'config_option_update', configOptions: await configOptions(here.session) })
}

const choices = async (session: Session) => ({ modes: modesOf(session), configOptions: await configOptions(session) })

const commandsOf = ({ runtime }: Session) => [
  { name: 'compact', description: 'Turns the conversation into its summary', input: { hint: 'what to keep' } },
  { name: 'model', description: 'Switches to another model', input: { hint: 'a model id, alias or wire name' } },
  ...runtime.skills
    .list()
    .filter(({ forUser }) => forUser !== false)
    .map(({ name, description, argumentHint }) => ({
      name,
      description,
      input: { hint: argumentHint || 'arguments' },
    })),
]

function sessionsOf({ env, db }: Pick<StartOptions, 'env' | 'db'>, projectDir: string | null) {
  const store = openDb(db ?? dbPath(env))
  try {
    return listSessions(store, { projectDir }).map((one) => ({
      sessionId: one.sessionId,
      cwd: one.projectDir,
      title: one.name ?? one.firstPrompt?.slice(0, 80) ?? null,
      updatedAt: new Date(
        `${one.lastActive.replace(' ', 'T')}${one.lastActive.endsWith('Z') ? '' : 'Z'}`,
      ).toISOString(),
    }))
  } finally {
    store.close()
  }
}

/** Servers that the editor brings, as --mcp-config takes them. */
function mcpConfig(servers: readonly McpServer[]): string[] {
  if (servers.length === 0) return []
  const pairs = (list: readonly { name: string; value: string }[]) =>
    Object.fromEntries(list.map(({ name, value }) => [name, value]))
  const mcpServers = Object.fromEntries(
    servers.map((server) => [
      server.name,
      'command' in server
        ? { type: 'stdio', command: server.command, args: server.args, env: pairs(server.env) }
        : { type: server.type, url: server.url, headers: pairs(server.headers) },
    ]),
  )
  return [JSON.stringify({ mcpServers })]
}

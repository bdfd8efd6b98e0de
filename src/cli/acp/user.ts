/** The user behind an editor: a prompt of the agent becomes a request of the protocol. */
import type {
  AgentContext,
  ClientCapabilities,
  CreateElicitationRequest,
  CreateElicitationResponse,
  PermissionOption,
  RequestPermissionRequest,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk'
import type { PermissionRequest, PlanAnswer, User } from '../../agent/events.ts'
import type { Question } from '../../tools/host.ts'
import { sayUpdate } from '../../tui/dialogs/permission.ts'
import { shownCall, textBlock } from './updates.ts'

export interface Editor {
  readonly client: AgentContext
  readonly can: ClientCapabilities
  sessionId(): string
  /** It has closed the connection. */
  isGone(): boolean
}

export function userAt(editor: Editor): User {
  return {
    async permission(request, signal) {
      const options = optionsFor(request)
      const chosen = await choose(editor, callOf(request), options, signal).catch(noAnswer)
      if (chosen === null || editor.isGone()) return undefined
      if (chosen === undefined) return { allow: false, interrupt: true }
      if (chosen === 'reject') return { allow: false }
      const update = request.suggestions[Number(chosen.slice('always-'.length))]
      return { allow: true, ...(chosen.startsWith('always-') && update && { updates: [update] }) }
    },
    async approvePlan(plan, signal) {
      const call = {
        toolCallId: `plan-${crypto.randomUUID()}`,
        title: 'Approve the plan?',
        kind: 'switch_mode' as const,
        content: [{ type: 'content' as const, content: textBlock(plan) }],
      }
      const chosen = await choose(editor, call, planOptions, signal)
      return planAnswers(plan)[chosen ?? 'none']
    },
    questions: (questions, signal) =>
      editor.can.elicitation?.form ? askForm(editor, questions, signal) : askOneByOne(editor, questions, signal),
    async elicit({ message, mode, url, schema }, signal) {
      const can = editor.can.elicitation?.[mode]
      if (!can || (mode === 'url' && !url)) return undefined
      const scope = { sessionId: editor.sessionId(), message }
      const asked: CreateElicitationRequest =
        mode === 'url'
          ? { ...scope, mode: 'url', url: url!, elicitationId: crypto.randomUUID() }
          : { ...scope, mode: 'form', requestedSchema: { type: 'object', ...(schema as object) } }
      const answer = await unlessOver(
        editor.client.request('elicitation/create', asked, until(signal)),
        signal,
        cancelled,
      )
      if (answer.action === 'accept')
        return { action: 'accept', content: (answer as { content?: Record<string, unknown> }).content ?? {} }
      return { action: answer.action === 'decline' ? 'decline' : 'cancel' }
    },
  }
}

const callOf = ({ toolUseId, tool, input, summary }: PermissionRequest) => ({
  toolCallId: toolUseId,
  ...shownCall(tool, input, summary),
  status: 'pending' as const,
})

const optionsFor = ({ suggestions }: PermissionRequest): PermissionOption[] => [
  { optionId: 'allow', name: 'Yes', kind: 'allow_once' },
  ...suggestions.map(
    (update, index): PermissionOption => ({
      optionId: `always-${index}`,
      name: sayUpdate(update),
      kind: 'allow_always',
    }),
  ),
  { optionId: 'reject', name: 'No', kind: 'reject_once' },
]

const planOptions: PermissionOption[] = [
  { optionId: 'edits', name: 'Yes, and accept edits', kind: 'allow_always' },
  { optionId: 'approve', name: 'Yes, and ask for each edit', kind: 'allow_once' },
  { optionId: 'reject', name: 'No, keep planning', kind: 'reject_once' },
]

const planAnswers = (plan: string): Record<string, PlanAnswer | undefined> => ({
  edits: { approve: true, plan, acceptEdits: true },
  approve: { approve: true, plan, acceptEdits: false },
  reject: { approve: false, feedback: '' },
  none: undefined,
})

/** The option that was chosen; undefined when the turn was cancelled. */
async function choose(
  { client, sessionId }: Editor,
  toolCall: ToolCallUpdate,
  options: PermissionOption[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const asked: RequestPermissionRequest = { sessionId: sessionId(), toolCall, options }
  const { outcome } = await unlessOver(client.request('session/request_permission', asked, until(signal)), signal, {
    outcome: { outcome: 'cancelled' },
  })
  return outcome.outcome === 'selected' ? outcome.optionId : undefined
}

/** An editor that cannot be asked, or went away while it was: nobody answers. */
const noAnswer = (): null => null

const until = (signal: AbortSignal) => ({ cancellationSignal: signal, stopWaitingOnCancel: true })

/** A question that was withdrawn is not waited for, whatever the editor does with it. */
async function unlessOver<T>(answer: Promise<T>, signal: AbortSignal, otherwise: T): Promise<T> {
  try {
    return await answer
  } catch (cause) {
    if (signal.aborted) return otherwise
    throw cause
  }
}

const cancelled: CreateElicitationResponse = { action: 'cancel' }

async function askForm(editor: Editor, questions: readonly Question[], signal: AbortSignal) {
  const properties = Object.fromEntries(
    questions.map(({ question, header, options, multiSelect }, index) => {
      const choices = options.map(({ label, description }) => ({ const: label, title: label, description }))
      const about = { title: header, description: question }
      const schema = multiSelect
        ? { type: 'array', ...about, items: { anyOf: choices } }
        : { type: 'string', ...about, oneOf: choices }
      return [`answer${index}`, schema]
    }),
  )
  const asked: CreateElicitationRequest = {
    sessionId: editor.sessionId(),
    mode: 'form',
    message: questions.map(({ question }) => question).join('\n'),
    requestedSchema: { type: 'object', properties, required: Object.keys(properties) },
  }
  const answer = await unlessOver(editor.client.request('elicitation/create', asked, until(signal)), signal, cancelled)
  if (answer.action !== 'accept') return undefined
  const content = (answer as { content?: Record<string, unknown> }).content ?? {}
  return Object.fromEntries(
    questions.map(({ question }, index) => [question, [content[`answer${index}`] ?? ''].flat().join(', ')]),
  )
}

/** An editor without forms can still show buttons. */
async function askOneByOne(editor: Editor, questions: readonly Question[], signal: AbortSignal) {
  const answers: Record<string, string> = {}
  for (const { question, options } of questions) {
    const call = { toolCallId: `question-${crypto.randomUUID()}`, title: question, kind: 'other' as const }
    const chosen = await choose(
      editor,
      call,
      [
        ...options.map(({ label }): PermissionOption => ({ optionId: label, name: label, kind: 'allow_once' })),
        { optionId: '', name: 'Do not answer', kind: 'reject_once' },
      ],
      signal,
    )
    if (!chosen) return undefined
    answers[question] = chosen
  }
  return answers
}

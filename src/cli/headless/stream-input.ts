/** `--input-format stream-json`: user messages and control requests on stdin, one JSON object a line. */

import { saveModel } from '../../agent/model/saved-model.ts'
import { mostWaitMs } from '../../agent/session/idle-turns.ts'
import type { Session } from '../../agent/session/session.ts'
import type { PermissionMode } from '../../hooks/plane.ts'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import type { Block } from '../../hooks/steps.ts'
import { readJson } from '../../hooks/text/json-text.ts'
import { modeInForce, modes } from '../../permissions/modes.ts'

export type StreamLine =
  | { readonly kind: 'prompt'; readonly text: string; readonly images: readonly Block[]; readonly message: JsonObject }
  | { readonly kind: 'control'; readonly id: string; readonly request: JsonObject }
  | AnswerLine
  | { readonly kind: 'nothing' }
  | { readonly kind: 'wrong'; readonly why: string }

/** What the driver says to a control request of ours. */
export interface AnswerLine {
  readonly kind: 'answer'
  readonly id: string
  readonly answer: { readonly value: unknown } | { readonly problem: string }
}

export type PromptLine = Extract<StreamLine, { kind: 'prompt' }>

export function readStreamLine(line: string): StreamLine {
  if (line.trim() === '') return { kind: 'nothing' }
  const read = readJson(line)
  if (!read.ok) return { kind: 'wrong', why: `a line on stdin is not JSON: ${read.why}` }
  const message = read.value
  if (!isObject(message)) return { kind: 'wrong', why: 'a line on stdin must be a JSON object' }
  if (message['type'] === 'keep_alive') return { kind: 'nothing' }
  if (message['type'] === 'control_response')
    return isObject(message['response']) ? answerOf(message['response']) : { kind: 'nothing' }
  if (message['type'] === 'control_request' && isObject(message['request']))
    return {
      kind: 'control',
      id: typeof message['request_id'] === 'object' ? '' : String(message['request_id'] ?? ''),
      request: message['request'],
    }
  const content = message['type'] === 'user' && isObject(message['message']) ? message['message']['content'] : undefined
  if (typeof content === 'string') return { kind: 'prompt', text: content, images: [], message }
  if (!Array.isArray(content))
    return { kind: 'wrong', why: 'a line on stdin must be {"type":"user","message":{"role":"user","content":…}}' }
  const blocks = content.filter(isObject)
  const text = blocks
    .map(({ type, text: words }) => (type === 'text' && typeof words === 'string' ? words : ''))
    .join('')
  return { kind: 'prompt', text, images: blocks.flatMap(imageOf), message }
}

const answerOf = ({ request_id, subtype, response, error }: JsonObject): AnswerLine => ({
  kind: 'answer',
  id: String(request_id),
  answer: subtype === 'error' ? { problem: JSON.stringify(error) } : { value: response },
})

function imageOf({ type, source }: JsonObject): Block[] {
  if (type !== 'image' || !isObject(source) || source['type'] !== 'base64') return []
  return [{ type: 'image', mimeType: String(source['media_type']), data: String(source['data']) }]
}

/** What a control request is answered with. Those that we do not know are refused. */
export async function answerControl(session: Session, id: string, request: JsonObject): Promise<object> {
  const asked = String(request['subtype'])
  const answer = Object.hasOwn(controls, asked)
    ? await controls[asked]!(session, request)
    : { error: `${asked} is not supported here` }
  const response =
    'error' in answer
      ? { subtype: 'error', request_id: id, error: answer.error }
      : { subtype: 'success', request_id: id, response: answer }
  return { type: 'control_response', response }
}

type Control = (session: Session, request: JsonObject) => Promise<object> | object

const controls: Record<string, Control> = {
  initialize: async ({ runtime, projectDir }) => ({
    commands: runtime.skills
      .list()
      .map(({ name, description, argumentHint = '' }) => ({ name, description, argumentHint })),
    agents: runtime.agents.map(({ name, description }) => ({ name, description })),
    output_style: runtime.settings.outputStyle ?? 'default',
    available_output_styles: (await import('../../agent/context/output-style.ts')).outputStyles(
      projectDir,
      runtime.home,
    ),
    models: [],
    account: {},
  }),
  interrupt(session) {
    if (session.busy) session.interrupt()
    return {}
  },
  set_permission_mode(session, { mode }) {
    if (!modes.includes(mode as PermissionMode)) return { error: `there is no mode ${JSON.stringify(mode)}` }
    if (modeInForce(mode as PermissionMode, session.permissions) !== mode)
      return { error: `the settings forbid the mode ${mode}` }
    session.mode = mode as PermissionMode
    return { mode }
  },
  async set_model(session, { model }) {
    const chosen = await session.runtime.modelFor(typeof model === 'string' ? model : '')
    if ('problem' in chosen) return { error: chosen.problem }
    session.model = chosen
    saveModel(session, chosen)
    return { model: chosen.wireModel }
  },
}

/**
 * Takes prompts one after another, in the order they came, and between them the news of agents in the background; a
 * control request is answered at once, also while a turn runs. Ends when stdin has, and no agent is at work any more.
 */
export async function converse(
  session: Session,
  input: NodeJS.ReadableStream,
  on: {
    /** Before the first line is taken. */
    begin(): Promise<void>
    prompt(line: PromptLine): Promise<void>
    answer(line: AnswerLine): void
    /** Nothing more comes; what came is still worked off. */
    end(): void
    news(): Promise<void>
    write(message: object): void
    wrong(why: string): void
  },
): Promise<void> {
  const { createInterface } = process.getBuiltinModule('node:readline')
  const waiting: PromptLine[] = []
  let isOver = false
  let wake = () => {}
  const lines = createInterface({ input })
  lines.on('line', (text) => {
    const line = readStreamLine(text)
    if (line.kind === 'wrong') on.wrong(line.why)
    if (line.kind === 'control') void answerControl(session, line.id, line.request).then(on.write)
    if (line.kind === 'answer') on.answer(line)
    if (line.kind === 'prompt') waiting.push(line)
    wake()
  })
  lines.on('close', () => {
    isOver = true
    on.end()
    wake()
  })
  await on.begin()
  for (;;) {
    const next = waiting.shift()
    if (next) {
      await on.prompt(next)
      continue
    }
    const line = new AbortController()
    const heard = new Promise<void>((resolve) => {
      wake = () => {
        line.abort()
        resolve()
      }
    })
    const over = AbortSignal.any([session.signal, line.signal])
    if (await session.tasks.news(mostWaitMs, isOver ? session.signal : over)) await on.news()
    else if (isOver) return
    else await heard
  }
}

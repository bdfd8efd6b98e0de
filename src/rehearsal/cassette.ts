/** A conversation that took place, as a script that plays it again. */

/** A row of the transcript, as it is stored. */
export interface Recorded {
  readonly entry_type: string
  readonly payload_json: string
  /** Whether an agent that the session started wrote it. */
  readonly ofAgent?: boolean
}

interface Payload {
  readonly content?:
    | readonly { type: string; text?: string; id?: string; name?: string; input?: Record<string, unknown> }[]
    | string
  readonly tool_use_id?: string
  readonly is_error?: boolean
}

export interface CassetteOptions {
  readonly about: string
  /** The permission mode of the session. */
  readonly mode?: string
  /** Takes secrets out of a text. */
  clean(text: string): string
}

/**
 * The rows of a session and of the agents that it started, in the order in which they were written. Of results only
 * this is expected again: whether they were errors. Their text depends on the day.
 */
export async function cassette(rows: readonly Recorded[], { about, mode, clean }: CassetteOptions): Promise<string> {
  const { stringify } = await import('yaml')
  const steps: object[] = []
  let call: { step: object; open: Set<string>; error: boolean } | undefined
  for (const { entry_type, payload_json, ofAgent } of rows) {
    const { content, tool_use_id = '', is_error } = JSON.parse(payload_json) as Payload
    if (entry_type === 'tool_result' && call?.open.delete(tool_use_id)) {
      call.error ||= is_error === true
      // An agent that it started has spoken in between: then the next request is not the one with this result.
      if (call.open.size === 0 && steps.at(-1) === call.step) steps.push({ expect: { error: call.error } })
    }
    if (!Array.isArray(content)) continue
    const text = content
      .map((block) => (block.type === 'text' ? (block.text ?? '') : ''))
      .join('')
      .trim()
    if (entry_type === 'user' && text !== '' && !ofAgent) steps.push({ prompt: text })
    if (entry_type !== 'assistant') continue
    if (text !== '') steps.push({ say: text })
    const uses = content.filter((block) => block.type === 'tool_use')
    const made = uses.map(({ name, input }) => ({
      call: name,
      ...(input && Object.keys(input).length > 0 && { input }),
    }))
    if (made.length === 0) continue
    const step = made.length === 1 ? made[0]! : { calls: made }
    steps.push(step)
    call = { step, open: new Set(uses.map(({ id }) => id ?? '')), error: false }
  }
  return stringify(cleaned({ about, ...(mode && { mode }), steps }, clean), { lineWidth: 100, blockQuote: 'literal' })
}

function cleaned(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value)
  if (Array.isArray(value)) return value.map((each) => cleaned(each, clean))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [clean(key), cleaned(each, clean)]))
}

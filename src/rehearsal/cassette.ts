/** A conversation that took place, as a script that plays it again. */

/** A row of the transcript, as it is stored. */
export interface Recorded {
  readonly entry_type: string
  readonly payload_json: string
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
  /** Takes secrets out of a text. */
  clean(text: string): string
}

/** Results are expected again as far as they are likely to come again: whether they failed, and how they begin. */
export async function cassette(rows: readonly Recorded[], { about, clean }: CassetteOptions): Promise<string> {
  const { stringify } = await import('yaml')
  const steps: object[] = []
  const results = resultsById(rows)
  for (const { entry_type, payload_json } of rows) {
    const { content } = JSON.parse(payload_json) as Payload
    if (!Array.isArray(content)) continue
    const text = content
      .map((block) => (block.type === 'text' ? (block.text ?? '') : ''))
      .join('')
      .trim()
    if (entry_type === 'user' && text !== '') steps.push({ prompt: text })
    if (entry_type !== 'assistant') continue
    if (text !== '') steps.push({ say: text })
    const calls = content.filter((block) => block.type === 'tool_use')
    const made = calls.map(({ name, input }) => ({
      call: name,
      ...(input && Object.keys(input).length > 0 && { input }),
    }))
    if (made.length === 1) steps.push(made[0]!)
    else if (made.length > 1) steps.push({ calls: made })
    const came = calls.flatMap(({ id }) => results.get(id ?? '') ?? [])
    if (came.length > 0) steps.push({ expect: { error: came.some(({ is_error }) => is_error === true) } })
  }
  return stringify(cleaned({ about, steps }, clean), { lineWidth: 100 })
}

function resultsById(rows: readonly Recorded[]): Map<string, Payload> {
  const found = new Map<string, Payload>()
  for (const { entry_type, payload_json } of rows) {
    if (entry_type !== 'tool_result') continue
    const payload = JSON.parse(payload_json) as Payload
    if (payload.tool_use_id) found.set(payload.tool_use_id, payload)
  }
  return found
}

function cleaned(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value)
  if (Array.isArray(value)) return value.map((each) => cleaned(each, clean))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [clean(key), cleaned(each, clean)]))
}

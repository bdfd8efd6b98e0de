/** The agent's events as plain lines: for pipes, simple terminals and screen readers. No escape codes, nothing redrawn. */
import type { AgentEvent } from '../../agent/events.ts'
import { clean, cleanLine } from './clean.ts'
import { duration, plural, tokens } from './format.ts'
import type { ToolCall } from './items.ts'
import { cleanOutput } from './output-text.ts'

const shortResult = 6

export class PlainView {
  /** The full texts of answers, newest last. */
  readonly answers: string[] = []
  readonly #write: (text: string) => void
  readonly #calls = new Map<string, Pick<ToolCall, 'name' | 'summary'>>()
  #open = false
  #streamed = ''

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  on(event: AgentEvent): void {
    const lead = event.agent ? `  [${cleanLine(event.agent.type)}] ` : ''
    switch (event.type) {
      case 'text':
        if (event.agent) return
        this.#streamed += event.text
        this.#say(clean(event.text))
        break
      case 'assistant':
        if (event.agent) return
        if (this.#streamed === '' && event.text) this.#say(clean(event.text))
        if (event.text) this.answers.push(event.text)
        this.#streamed = ''
        this.#end()
        break
      case 'tool-started':
        this.#calls.set(event.id, { name: event.name, summary: event.summary })
        break
      case 'tool-finished': {
        const call = this.#calls.get(event.id) ?? { name: event.name, summary: '' }
        this.#calls.delete(event.id)
        const { display } = event.output
        const status = display?.kind === 'output' && display.status ? ` (${display.status})` : ''
        const how = event.outcome === 'ran' ? (event.output.isError ? `failed${status}` : 'ran') : event.outcome
        this.line(
          `${lead}${call.name}(${cleanLine(call.summary)}): ${how}${event.outcome === 'ran' ? `, ${duration(event.ms)}` : ''}`,
        )
        if (!event.agent) this.#result(event)
        break
      }
      case 'hook':
        this.line(
          `${lead}hook ${cleanLine(event.note.hook)} ${event.note.effect}: ${cleanLine(event.note.reason)} (${event.note.event})`,
        )
        break
      case 'retry':
        if (!event.agent) this.#streamed = ''
        this.#end()
        this.line(`${lead}trying again in ${duration(event.waitMs)}: ${cleanLine(event.failure.message)}`)
        break
      case 'todos':
        if (event.agent) return
        for (const { status, content } of event.todos)
          this.line(`  [${status === 'completed' ? 'x' : status === 'in_progress' ? '>' : ' '}] ${cleanLine(content)}`)
        break
      case 'phase':
        this.line(`phase: ${event.from} -> ${event.to}`)
        break
      case 'compacted':
        this.line(
          `Conversation compacted (${event.trigger}): ${tokens(event.tokensBefore)} -> ${tokens(event.tokensAfter)} tokens`,
        )
        break
      case 'task':
        this.line(`background task ${event.id} ${event.status}: ${cleanLine(event.about)}`)
        break
      case 'notice':
        this.line(lead + (event.level === 'info' ? '' : `${event.level}: `) + clean(event.text))
        break
      case 'brief':
        this.line(clean(event.text))
        break
      case 'turn-ended':
        this.#end()
        if (event.failure) this.line(`error: ${clean(event.failure.message)}`)
        else if (event.stop !== 'end_turn') this.line(`stopped: ${event.stop}`)
        break
    }
  }

  line(text: string): void {
    this.#end()
    this.#write(`${text}\n`)
  }

  #say(text: string): void {
    if (text === '') return
    this.#write(text)
    this.#open = !text.endsWith('\n')
  }

  #end(): void {
    if (this.#open) this.#write('\n')
    this.#open = false
  }

  #result({ output }: Extract<AgentEvent, { type: 'tool-finished' }>): void {
    const { display } = output
    const text =
      display?.kind === 'text'
        ? display.summary
        : display?.kind === 'output'
          ? display.text
          : display?.kind === 'diff'
            ? display.patch
            : display
              ? ''
              : output.content
    const lines = cleanOutput(text)
      .trimEnd()
      .split('\n')
      .filter((line) => line !== '')
    for (const line of lines.slice(0, shortResult)) this.line(`  ${line}`)
    if (lines.length > shortResult) this.line(`  ... ${plural(lines.length - shortResult, 'more line')}`)
  }
}

/** The calls that run: one with its last output below it, a sub-agent with its own calls, several sub-agents with a line each. */
import type { SpeakingAgent } from '../../agent/events.ts'
import type { HookNote } from '../../hooks/plane.ts'
import { plural, seconds } from './format.ts'
import { glyph } from './glyphs.ts'
import { hookLines, type ToolCall, toolHead, treeLines } from './items.ts'
import { cleanOutput } from './output-text.ts'
import { paint } from './style.ts'
import { clip, width } from './width.ts'

/** The end of a running call's output that is kept, in characters. */
const progressKept = 4_000
/** The last lines of output and the last calls of a sub-agent that are shown. */
const tailRows = 5
const treeRows = 4
/** A call that runs longer than this shows its time. */
const longMs = 1_000

export class RunningCalls {
  readonly #calls = new Map<string, ToolCall>()
  /** Sub-agents by id, and the call that started each. */
  readonly #agents = new Map<string, ToolCall>()

  get size(): number {
    return this.#calls.size
  }

  get all(): ToolCall[] {
    return [...this.#calls.values()]
  }

  /** What the turn does while these run. */
  doing(): string {
    const [last] = this.all.slice(-1)
    const agents = this.#agentCalls().length
    if (agents > 1) return `Running ${agents} agents`
    return last ? `Running ${last.name}` : 'Working'
  }

  #agentCalls(): ToolCall[] {
    return this.all.filter(({ name }) => name === 'Agent')
  }

  start(call: ToolCall): void {
    this.#calls.set(call.id, call)
  }

  /** Hooks, rules and the user have let it through: its time counts from now. */
  run(id: string): void {
    const call = this.#calls.get(id)
    if (call) call.startedAt = Date.now()
  }

  progress(id: string, text: string): void {
    const call = this.#calls.get(id)
    if (call) call.progress = (call.progress + text).slice(-progressKept)
  }

  /** Takes the call out: it is done. */
  finish(id: string): ToolCall | undefined {
    const call = this.#calls.get(id)
    this.#calls.delete(id)
    for (const [agent, owner] of this.#agents) if (owner === call) this.#agents.delete(agent)
    return call
  }

  clear(): void {
    this.#calls.clear()
    this.#agents.clear()
  }

  /** Puts a note under the call it is about; false where no such call runs. */
  note(note: HookNote, id: string | undefined): boolean {
    const call = id === undefined ? this.all[0] : this.#calls.get(id)
    call?.notes.push(note)
    return call !== undefined
  }

  /** The call that a sub-agent works for; none when the agent runs in the background. */
  ownerOf(agent: SpeakingAgent): ToolCall | undefined {
    const known = this.#agents.get(agent.id)
    if (known) return known
    const owner = agent.toolUseId === undefined ? this.#byDescription(agent.about) : this.#withCall(agent.toolUseId)
    if (owner) this.#agents.set(agent.id, owner)
    return owner
  }

  /** The call of this id, or the one whose sub-agent made it: agents of agents are shown with the outermost. */
  #withCall(id: string): ToolCall | undefined {
    return this.#calls.get(id) ?? this.all.find(({ calls }) => calls.some((call) => call.id === id))
  }

  #byDescription(about: string): ToolCall | undefined {
    const taken = new Set(this.#agents.values())
    const free = this.all.filter((call) => call.name === 'Agent' && !taken.has(call))
    return free.find((call) => call.input['description'] === about) ?? free.at(-1)
  }

  /** `still`: a dialog is open. The call that it is about does not run, and shows no time. */
  lines(columns: number, spin: string, now: number, still = false): string[] {
    const agents = this.#agentCalls()
    const isCrowd = agents.length > 1
    const timeOf = ({ name }: ToolCall) => (still && name !== 'Agent' ? 0 : now)
    const single = this.all.filter((call) => !isCrowd || call.name !== 'Agent')
    const crowd = isCrowd ? ['', ...agents.flatMap((call) => agentLine(call, columns, spin, now))] : []
    return [...single.flatMap((call) => ['', ...callLines(call, columns, spin, timeOf(call))]), ...crowd]
  }
}

const timed = (call: ToolCall, now: number): ToolCall => ({
  ...call,
  ms: now - call.startedAt > longMs ? now - call.startedAt : undefined,
})

function callLines(call: ToolCall, columns: number, spin: string, now: number): string[] {
  const progress = cleanOutput(call.progress)
    .trimEnd()
    .split('\n')
    .slice(-tailRows)
    .filter((line) => line !== '')
    .map((line, row) => paint('dim', `  ${row === 0 ? glyph.under : ' '} ${clip(line, columns - 5)}`))
  return [
    toolHead(timed(call, now), columns, spin),
    ...call.notes.flatMap((note) => hookLines(note, columns)),
    ...treeLines(call.calls, columns, treeRows, spin),
    ...progress,
  ]
}

/** One of several sub-agents: what it is for, how long, how many calls, and the call it is at. */
function agentLine(call: ToolCall, columns: number, spin: string, now: number): string[] {
  const at = call.calls.at(-1)
  const about = [
    ...(now - call.startedAt > longMs ? [seconds(now - call.startedAt)] : []),
    ...(call.calls.length > 0 ? [plural(call.calls.length, 'call')] : []),
  ]
  const tail = about.length > 0 ? paint('dim', ` ${about.join(` ${glyph.dot} `)}`) : ''
  const head = toolHead(call, columns - width(tail), spin) + tail
  const room = columns - width(head) - 3
  const doing = at && room >= 16 ? paint('dim', clip(` ${glyph.dot} ${at.name}(${at.summary})`, room)) : ''
  return [head + doing, ...call.notes.flatMap((note) => hookLines(note, columns))]
}

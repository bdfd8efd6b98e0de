/** The line under the prompt: ours, or what a command of the user's prints. */
import { spawn } from 'node:child_process'
import type { PermissionMode } from '../../../hooks/plane.ts'
import { isObject } from '../../../hooks/shape.ts'
import { cleanLine, onlyStyles } from '../clean.ts'
import { money } from '../format.ts'
import { glyph } from '../glyphs.ts'
import { paint, type Role } from '../style.ts'
import { clip, width } from '../width.ts'

export interface StatusFacts {
  readonly model: string
  readonly phase: string
  readonly mode: PermissionMode
  readonly contextShare: number
  readonly costUsd: number
  readonly branch: string | undefined
  readonly name: string | undefined
  readonly rehearsal: boolean
  /** Commands and agents that run in the background. */
  readonly background: number
}

const modes: Record<PermissionMode, { text: string; role: Role } | undefined> = {
  default: undefined,
  acceptEdits: { text: 'accept edits on', role: 'accent' },
  plan: { text: 'plan mode on', role: 'plan' },
  dontAsk: { text: "don't ask on", role: 'warn' },
  bypassPermissions: { text: 'bypass permissions on', role: 'bad' },
}

/** A part of the line: as it is where there is room, how it may be shortened, and how long it stays where there is none. */
interface Part {
  readonly text: string
  readonly short?: string
  readonly role?: Role
  readonly rank: number
}

export function statusLine(facts: StatusFacts, columns: number): string {
  const mode = modes[facts.mode]
  const share = Math.round(facts.contextShare * 100)
  const parts: (Part | undefined)[] = [
    mode && { text: `${mode.text} (shift+tab to cycle)`, short: mode.text, role: mode.role, rank: 7 },
    facts.rehearsal
      ? { text: 'rehearsal: not a language model', short: 'rehearsal', role: 'warn', rank: 5 }
      : { text: facts.model, rank: 5 },
    facts.phase === 'idle' ? undefined : { text: facts.phase, role: 'plan', rank: 6 },
    share === 0
      ? undefined
      : { text: `${share}% context`, short: `${share}%`, ...(share >= 80 && { role: 'warn' }), rank: 4 },
    facts.background === 0
      ? undefined
      : {
          text: `${facts.background} in background (/tasks)`,
          short: `${facts.background} bg`,
          role: 'accent',
          rank: 6,
        },
    facts.costUsd === 0 ? undefined : { text: money(facts.costUsd), rank: 3 },
    facts.branch ? { text: cleanLine(facts.branch), rank: 2 } : undefined,
    facts.name ? { text: cleanLine(facts.name), rank: 1 } : undefined,
  ]
  const line = (of: readonly Part[]) =>
    of.map(({ text, role = 'dim' }) => paint(role, text)).join(paint('dim', ` ${glyph.dot} `))
  let shown = parts.filter((part) => part !== undefined)
  if (width(line(shown)) > columns) shown = shown.map((part) => ({ ...part, text: part.short ?? part.text }))
  while (shown.length > 1 && width(line(shown)) > columns) {
    const least = Math.min(...shown.map(({ rank }) => rank))
    shown = shown.filter(({ rank }) => rank !== least)
  }
  return clip(line(shown), columns)
}

export interface StatusCommand {
  readonly command: string
  readonly padding: number
}

export function readStatusCommand(setting: unknown): StatusCommand | undefined {
  if (!isObject(setting) || setting['type'] !== 'command' || typeof setting['command'] !== 'string') return undefined
  return { command: setting['command'], padding: typeof setting['padding'] === 'number' ? setting['padding'] : 0 }
}

const settleMs = 300
const limitMs = 5_000
const mostRows = 5

/** Runs the user's command a moment after something changed; a newer run ends the older one. */
export class StatusScript {
  lines: readonly string[] = []
  readonly #command: StatusCommand
  readonly #input: () => object
  readonly #options: { cwd: () => string; env: NodeJS.ProcessEnv; changed: () => void }
  #timer: NodeJS.Timeout | undefined
  #run: AbortController | undefined

  constructor(
    command: StatusCommand,
    input: () => object,
    options: { cwd: () => string; env: NodeJS.ProcessEnv; changed: () => void },
  ) {
    this.#command = command
    this.#input = input
    this.#options = options
  }

  refresh(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#start(), settleMs).unref()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#run?.abort()
  }

  async #start(): Promise<void> {
    this.#run?.abort()
    const run = new AbortController()
    this.#run = run
    const text = await output(this.#command.command, JSON.stringify(this.#input()), {
      ...this.#options,
      cwd: this.#options.cwd(),
      signal: run.signal,
    })
    if (run.signal.aborted) return
    const lead = ' '.repeat(this.#command.padding)
    this.lines = (text ?? '')
      .trimEnd()
      .split('\n')
      .filter((line) => line !== '')
      .slice(0, mostRows)
      .map((line) => lead + onlyStyles(line))
    this.#options.changed()
  }
}

function output(
  command: string,
  stdin: string,
  { cwd, env, signal }: { cwd: string; env: NodeJS.ProcessEnv; signal: AbortSignal },
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', command], {
      cwd,
      env,
      signal,
      timeout: limitMs,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      if (text.length < 10_000) text += chunk
    })
    child.stdin.on('error', () => {}) // it may exit without reading us
    child.stdin.end(stdin)
    child.on('error', () => resolve(undefined))
    child.on('close', (code) => resolve(code === 0 ? text : undefined))
  })
}

/** The line under the prompt: ours, or what a command of the person's prints. */
import { spawn } from 'node:child_process'
import type { PermissionMode } from '../hooks/plane.ts'
import { isObject } from '../hooks/shape.ts'
import { cleanLine } from './clean.ts'
import { glyph } from './glyphs.ts'
import { paint, type Role } from './style.ts'
import { clip } from './width.ts'
import { money } from './words.ts'

export interface StatusFacts {
  readonly model: string
  readonly phase: string
  readonly mode: PermissionMode
  readonly contextShare: number
  readonly costUsd: number
  readonly branch: string | undefined
  readonly name: string | undefined
  readonly rehearsal: boolean
}

const modes: Record<PermissionMode, { text: string; role: Role } | undefined> = {
  default: undefined,
  acceptEdits: { text: 'accept edits on', role: 'accent' },
  plan: { text: 'plan mode on', role: 'plan' },
  dontAsk: { text: "don't ask on", role: 'warn' },
  bypassPermissions: { text: 'bypass permissions on', role: 'bad' },
}

export function statusLine(facts: StatusFacts, columns: number): string {
  const mode = modes[facts.mode]
  const share = Math.round(facts.contextShare * 100)
  const parts = [
    ...(mode ? [paint(mode.role, `${mode.text} (shift+tab turns)`)] : []),
    facts.rehearsal ? paint('warn', 'rehearsal: not a language model') : facts.model,
    ...(facts.phase === 'idle' ? [] : [paint('plan', facts.phase)]),
    ...(share > 0 ? [share >= 80 ? paint('warn', `${share}% context`) : `${share}% context`] : []),
    ...(facts.costUsd > 0 ? [money(facts.costUsd)] : []),
    ...(facts.branch ? [cleanLine(facts.branch)] : []),
    ...(facts.name ? [cleanLine(facts.name)] : []),
  ]
  return clip(
    parts.map((part) => (part.includes('\x1b') ? part : paint('dim', part))).join(paint('dim', ` ${glyph.dot} `)),
    columns,
  )
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

/** Runs the person's command a moment after something changed; a newer run ends the older one. */
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
      .map((line) => lead + onlyColours(line))
    this.#options.changed()
  }
}

/** Colours may pass; what moves the cursor may not. */
const onlyColours = (line: string) =>
  line.replace(
    /\x1b(?!\[[0-9;:]*m)(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?|[\x00-\x1a\x1c-\x1f\x7f-\x9f]/g,
    '',
  )

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

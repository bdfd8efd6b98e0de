/** Lines in, lines out: a pipe, a simple terminal, or one whose screen is read aloud. */
import { spawn } from 'node:child_process'
import { lineCutter } from '../../hooks/text/json-lines.ts'
import { clean } from '../render/clean.ts'
import { PlainView } from '../render/plain-view.ts'
import type { Chosen, Dialog, Front, TextQuestion } from './front.ts'

export interface LineInput {
  setEncoding(encoding: 'utf8'): unknown
  [Symbol.asyncIterator](): AsyncIterator<unknown>
}

export class Lines implements Front {
  readonly interactive: boolean
  readonly columns = 100
  readonly view: PlainView
  readonly #write: (text: string) => void
  readonly #env: NodeJS.ProcessEnv
  readonly #lines: AsyncGenerator<string>

  constructor(
    input: LineInput,
    output: { write(text: string): unknown },
    interactive: boolean,
    env: NodeJS.ProcessEnv = process.env,
  ) {
    this.interactive = interactive
    this.#env = env
    this.#write = (text) => void output.write(text)
    this.view = new PlainView(this.#write)
    this.#lines = linesOf(input, () =>
      this.notice('error', 'a line of over 10 MiB was ignored; put it in a file and name that'),
    )
  }

  /** The next line that was typed or piped; undefined at the end. */
  async next(): Promise<string | undefined> {
    if (this.interactive) this.#write('> ')
    const { value, done } = await this.#lines.next()
    return done ? undefined : value
  }

  print(...lines: string[]): void {
    for (const line of lines) this.view.line(clean(line))
  }

  notice(level: 'info' | 'warning' | 'error', text: string): void {
    this.print(level === 'info' ? text : `${level}: ${text}`)
  }

  markdown(text: string): void {
    this.print(text)
  }

  async choose<T>(dialog: Dialog<T>, signal?: AbortSignal): Promise<Chosen<T> | undefined> {
    if (!this.interactive || signal?.aborted) return undefined
    const { choices } = dialog
    this.print(
      '',
      dialog.title,
      ...(dialog.body ?? []).map((line) => `  ${line}`),
      ...(dialog.question ? [dialog.question] : []),
    )
    for (const [index, { label, hint }] of choices.entries())
      this.print(`  ${index + 1}. ${label}${hint ? ` (${hint})` : ''}`)
    for (;;) {
      this.#write(
        dialog.multiple ? 'numbers, with commas; empty to cancel: ' : `1 to ${choices.length}; empty to cancel: `,
      )
      const line = await this.#answer(signal)
      if (!line?.trim()) return undefined
      const picked = line
        .split(/[\s,]+/)
        .map((word) =>
          choices.find(
            ({ key }, index) => word === String(index + 1) || (key !== undefined && word.toLowerCase() === key),
          ),
        )
      const [first] = picked
      if (!first || picked.includes(undefined) || (!dialog.multiple && picked.length > 1)) {
        this.print('That is none of them.')
        continue
      }
      const chosen = picked as NonNullable<(typeof picked)[number]>[]
      const written = chosen.find(({ text }) => text !== undefined)
      if (!written) return { value: first.value, values: chosen.map(({ value }) => value) }
      this.#write(`${written.label} (${written.text}): `)
      const text = (await this.#answer(signal)) ?? ''
      return { value: first.value, values: chosen.map(({ value }) => value), text }
    }
  }

  async ask(question: TextQuestion, signal?: AbortSignal): Promise<string | undefined> {
    if (!this.interactive || signal?.aborted) return undefined
    this.print('', question.title, ...(question.body ?? []))
    for (;;) {
      this.#write(question.initial ? `[${question.initial}]: ` : ': ')
      const line = await this.#answer(signal)
      if (line === undefined) return undefined
      const text = line === '' ? (question.initial ?? '') : line
      const problem = question.check?.(text)
      if (!problem) return text
      this.print(problem)
    }
  }

  /** A withdrawn question is not answered by the line that comes after it. */
  async #answer(signal?: AbortSignal): Promise<string | undefined> {
    const { value, done } = await this.#lines.next()
    return done || signal?.aborted ? undefined : value
  }

  async page(title: string, lines: readonly string[]): Promise<void> {
    this.print(title, ...lines)
  }

  async edit(path: string, about = path): Promise<boolean> {
    const editor = this.#env['VISUAL'] || this.#env['EDITOR']
    if (!this.interactive || !editor) {
      this.print(about === path ? `the file is ${path}` : `there is no editor here to open ${about} with`)
      return false
    }
    return this.handOver('/bin/sh', ['-c', `${editor} "$1"`, 'sh', path])
  }

  handOver(program: string, words: readonly string[]): Promise<boolean> {
    return new Promise((resolve) => {
      const stdio = this.interactive ? 'inherit' : (['ignore', 'inherit', 'inherit'] as const)
      const child = spawn(program, words, { stdio: stdio as 'inherit', env: this.#env })
      child.on('error', () => resolve(false))
      child.on('exit', (code) => resolve(code === 0))
    })
  }

  setDraft(text: string): void {
    if (text) this.print(`The prompt was: ${text}`)
  }

  async copy(): Promise<boolean> {
    return false
  }
}

/** As many characters as one line may have. */
const longest = 10 * 1024 * 1024

async function* linesOf(input: LineInput, ignored: () => void): AsyncGenerator<string> {
  input.setEncoding('utf8')
  let cut = lineCutter()
  let isTooLong = false
  const take = (text: string): string[] => {
    const { lines, openLength } = cut(text)
    const whole = lines.slice(isTooLong ? 1 : 0)
    if (lines.length > 0) isTooLong = false
    if (openLength > longest) {
      if (!isTooLong) ignored()
      isTooLong = true
      cut = lineCutter()
    }
    return whole
  }
  for await (const chunk of input) for (const line of take(String(chunk))) yield line.replace(/\r$/, '')
  for (const rest of take('\n')) if (rest !== '') yield rest
}

/** The program while it runs: lines go in when the test says so, and the test waits for what comes out. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Place, type Ran, started } from './program.ts'

export interface Live {
  send(line: string): void
  /** Waits for `found` to give something: asked whenever there is output, and now and then. */
  until<T>(found: (live: Live) => T | undefined | false): Promise<T>
  kill(signal: NodeJS.Signals): void
  /** Closes stdin and waits for the end. */
  end(): Promise<Ran>
  stdout(): string
  stderr(): string
  /** What came on stdout as JSON lines. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into these by hand
  messages(): Record<string, any>[]
}

const ona = join(import.meta.dirname, '../../bin/ona.mjs')

export function live(t: TestContext, at: Place, words: readonly string[], env: Record<string, string> = {}): Live {
  started.push(words)
  const child = spawn(process.execPath, [ona, ...words], {
    cwd: at.folder,
    env: { PATH: process.env['PATH'], HOME: at.home, ONA_KEYCHAIN: 'off', ...env },
  })
  t.after(() => child.kill('SIGKILL'))
  const out = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (piece) => {
      out[name] += piece
    })
  }
  child.stdin.on('error', () => {}) // it may have ended
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve))
  let isClosed = false
  void closed.then(() => {
    isClosed = true
  })
  const messages: Record<string, unknown>[] = []
  let read = 0
  const self: Live = {
    send: (line) => void child.stdin.write(`${line}\n`),
    async until(found) {
      // a busy machine is slow, but it goes on: only a program that says nothing more has failed
      for (let deadline = Date.now() + 90_000, said = out.stdout.length; ; ) {
        const value = found(self)
        if (value) return value
        if (out.stdout.length > said) [said, deadline] = [out.stdout.length, Date.now() + 90_000]
        if (isClosed || Date.now() > deadline)
          throw new Error(`it never came\n${out.stdout.slice(-4000)}\n${out.stderr}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    kill: (signal) => void child.kill(signal),
    async end() {
      child.stdin.end()
      return { code: await closed, ...out }
    },
    stdout: () => out.stdout,
    stderr: () => out.stderr,
    messages() {
      // each line is parsed once: a test may ask after every message
      for (let end = out.stdout.indexOf('\n', read); end >= 0; end = out.stdout.indexOf('\n', read)) {
        messages.push(JSON.parse(out.stdout.slice(read, end)))
        read = end + 1
      }
      return messages
    },
  }
  return self
}

/** The other side of a persistent hook, in TypeScript: `serveHook((input) => …)` answers until stdin ends. */
import { errorOf } from '../kernel.ts'
import type { JsonObject } from '../shape.ts'

/**
 * Answers every call with what the function returns: what a command hook would print, or nothing. What it throws is a failure
 * of the hook. Print nothing else on stdout.
 */
export function serveHook(answer: (input: JsonObject) => unknown): void {
  let partial = ''
  const write = (value: object) => process.stdout.write(`${JSON.stringify(value)}\n`)
  const hear = async (line: string) => {
    const { protocol, id, input } = JSON.parse(line) as { protocol?: number; id?: number; input?: JsonObject }
    if (protocol !== undefined) return write({ protocol: 1 })
    try {
      const verdict = (await answer(input ?? {})) ?? null
      return write({ id, verdict })
    } catch (cause) {
      return write({ id, error: errorOf(cause).message })
    }
  }
  process.stdin.setEncoding('utf8').on('data', (text: string) => {
    const lines = (partial + text).split('\n')
    partial = lines.pop()!
    for (const line of lines) if (line !== '') void hear(line)
  })
}

/** The other side of a persistent hook, in TypeScript: `serveHook((input) => …)` answers until stdin ends. */
import { errorOf } from '../kernel.ts'
import type { JsonObject } from '../shape.ts'
import { lineCutter } from '../text/json-lines.ts'

/**
 * Answers every call with what the function returns: what a command hook would print, or nothing. What it throws is a failure
 * of the hook. Print nothing else on stdout. When stdin ends and all is answered, so does the process.
 */
export function serveHook(answer: (input: JsonObject) => unknown): void {
  const cut = lineCutter()
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
  const answers = new Set<Promise<unknown>>()
  const stdin = process.stdin.setEncoding('utf8')
  stdin.on('data', (text: string) => {
    for (const line of cut(text).lines) {
      if (line === '') continue
      const answered = hear(line)
      answers.add(answered)
      void answered.then(() => answers.delete(answered))
    }
  })
  // whatever else the hook holds open
  stdin.once('end', () => void Promise.all(answers).then(() => process.stdout.write('', () => process.exit())))
}

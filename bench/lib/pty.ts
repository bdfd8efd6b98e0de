/** A program on a pseudo-terminal (util-linux `script`): keys in, bytes out, with the time of each. */
import { spawn } from 'node:child_process'

export interface OnPty {
  write(keys: string): void
  /** Milliseconds until what comes out from now on holds this. */
  until(shown: string | RegExp, withinMs?: number): Promise<number>
  readonly ended: Promise<void>
  kill(): void
}

export function onPty(argv: readonly string[], env: NodeJS.ProcessEnv, cwd: string): OnPty {
  const command = argv.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const child = spawn('script', ['-qfec', command, '/dev/null'], {
    env: { ...env, TERM: 'xterm-256color', COLUMNS: '100', LINES: '30' },
    cwd,
  })
  let seen = ''
  let wake = () => {}
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen += text
    wake()
  })
  return {
    write: (keys) => void child.stdin.write(keys),
    async until(shown, withinMs = 20_000) {
      const startedAt = performance.now()
      const found = () => (typeof shown === 'string' ? seen.indexOf(shown) : seen.search(shown))
      while (found() < 0) {
        if (performance.now() - startedAt > withinMs)
          throw new Error(`never shown: ${shown}; last: ${JSON.stringify(seen.slice(-400))}`)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, 1000)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      seen = seen.slice(found() + 1)
      return performance.now() - startedAt
    },
    ended: new Promise((resolve) => child.on('exit', () => resolve())),
    kill: () => void child.kill(),
  }
}

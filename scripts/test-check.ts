/** Lints and checks types beside the tests. */
import { spawn } from 'node:child_process'

/** Whether `npm run check` passed. What it reports is printed as soon as it ends. */
export function startCheck(): Promise<boolean> {
  const child = spawn('npm', ['run', '--silent', 'check'], { stdio: ['ignore', 'pipe', 'pipe'] })
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => output.push(piece))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      process.stderr.write(Buffer.concat(output))
      resolve(code === 0)
    })
  })
}

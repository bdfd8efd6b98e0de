/** Lints and checks types beside the tests. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Whether what `npm run check` does passed. What it reports is printed as soon as it ends. */
export function startCheck(): Promise<boolean> {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { check: string } }
  // side by side, its checkers would each check what their files share: a third more work, for cores that have tests to run
  const command = scripts.check.replaceAll('tsc --noEmit', '$& --singleThreaded')
  const PATH = `${join(import.meta.dirname, '../node_modules/.bin')}${delimiter}${process.env['PATH']}`
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, PATH } })
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

/** Runs the acceptance rows beside the tests. */
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'

export interface Rows {
  readonly code: number | null
  /** What the script prints, for after the report of the tests. */
  readonly output: string
  /** Ids of rows that failed; each was printed as it happened. */
  readonly failed: readonly string[]
}

interface RowsOptions {
  /** Where the run of the tests writes its results. */
  readonly tested: string
  /** Where each row's CPU time goes. */
  readonly times: string
}

/** One file of rows per core: what is left of the machine beside the tests. */
export function startRows({ tested, times }: RowsOptions): Promise<Rows> {
  const script = join(import.meta.dirname, 'sdlc-acceptance.sh')
  const jobs = String(availableParallelism())
  const words = ['--jobs', jobs, '--times', times, '--tested', tested, '--testing', String(process.pid)]
  if (process.env['ONA_TEST_FULL'] !== '1') words.push('--shared')
  const child = spawn(script, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let problems = ''
  child.stdout.on('data', (piece) => {
    output += piece
  })
  child.stderr.on('data', (piece) => {
    problems += piece
    process.stderr.write(piece)
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) =>
      resolve({
        code,
        output,
        failed: [...problems.matchAll(/^FAIL .*/gm)].map(([line]) => `acceptance row: ${line}`),
      }),
    )
  })
}

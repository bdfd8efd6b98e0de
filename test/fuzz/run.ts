/** Some cases at one door, and what went wrong with them. A case that does not end in time is a failure like any other. */
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { doors } from './doors.ts'
import { nastyText } from './texts.ts'

export interface Failure {
  readonly door: string
  readonly text: string
  readonly why: string
}

const longestMs = 15_000

/** Cases `from` to `from + count` of a door, or one text; stops at the first that never ends. */
export function fuzz(
  door: string,
  { from, count, text }: { from: number; count: number; text?: string },
): Promise<Failure[]> {
  const progress = new Int32Array(new SharedArrayBuffer(4))
  const failures: Failure[] = []
  const failed = (index: number, why: string) =>
    failures.push({ door, why, text: text ?? nastyText(doors[door]!.seeds, from + index) })
  const worker = new Worker(join(import.meta.dirname, 'worker.ts'), {
    workerData: { name: door, from, count, progress, text },
  })
  return new Promise((resolve) => {
    let seen = -1
    const watch = setInterval(() => {
      const at = Atomics.load(progress, 0)
      if (at !== seen) seen = at
      else {
        failed(at, `it did not end in ${longestMs / 1000} s`)
        void worker.terminate()
      }
    }, longestMs)
    const end = () => {
      clearInterval(watch)
      resolve(failures)
    }
    worker.on('message', (said: 'done' | { index: number; why: string }) => {
      if (said !== 'done') failed(said.index, said.why)
    })
    worker.on('error', (thrown) =>
      failed(Atomics.load(progress, 0), `thrown past everyone: ${(thrown as Error).stack}`),
    )
    worker.on('exit', end)
  })
}

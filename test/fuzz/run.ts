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

/** What a worker is given; it answers with a failure per case that failed, then with "done". */
export interface Round {
  readonly name: string
  readonly from: number
  readonly count: number
  /** These, and no made ones. */
  readonly texts?: readonly string[] | undefined
}
export type Said = 'done' | { readonly index: number; readonly why: string }

const longestMs = 60_000
/** Loading what is behind the doors takes longer than a round, so one thread does them all; after a hang, another. */
let idle: Worker | undefined
const progress = new Int32Array(new SharedArrayBuffer(4))

/** Cases `from` to `from + count` of a door, or these texts; stops at the first that never ends. */
export function fuzz(
  door: string,
  { from = 0, count = 0, texts }: { from?: number; count?: number; texts?: readonly string[] },
): Promise<Failure[]> {
  const failures: Failure[] = []
  const failed = (index: number, why: string) =>
    failures.push({ door, why, text: texts?.[index] ?? nastyText(doors[door]!.seeds, from + index) })
  const worker = idle ?? new Worker(join(import.meta.dirname, 'worker.ts'), { workerData: progress })
  idle = undefined
  Atomics.store(progress, 0, 0)
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
    const hear = (said: Said) => {
      if (said !== 'done') return failed(said.index, said.why)
      idle = worker
      end()
    }
    const fall = (thrown: unknown) =>
      failed(Atomics.load(progress, 0), `thrown past everyone: ${(thrown as Error).stack}`)
    const end = () => {
      clearInterval(watch)
      worker.off('message', hear).off('error', fall).off('exit', end)
      resolve(failures)
    }
    worker.on('message', hear).on('error', fall).on('exit', end)
    worker.postMessage({ name: door, from, count: texts?.length ?? count, texts } satisfies Round)
  })
}

/** Lets the process end. */
export async function closeDoors(): Promise<void> {
  const ended = new Promise((resolve) => (idle ? idle.on('exit', resolve) : resolve(0)))
  idle?.postMessage('end')
  await ended
}

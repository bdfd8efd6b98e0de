/** Work on outside data that may take all the time and memory it is given: done in a thread that can be ended. */
import { join } from 'node:path'
import { packageRoot } from '../package-root.ts'
import type { Found, Search } from './search/search.ts'

export interface PageRange {
  readonly first: number
  readonly last: number
}

export type Task =
  | { readonly kind: 'pdf'; readonly bytes: Uint8Array; readonly range: PageRange | undefined; readonly most: number }
  | { readonly kind: 'html'; readonly html: string }
  | { readonly kind: 'search'; readonly search: Search }

export interface Done {
  /** `texts` is undefined when there are more than `most` pages and no range was given. */
  pdf: { readonly total: number; readonly first: number; readonly texts: readonly string[] | undefined }
  html: { readonly title: string; readonly markdown: string }
  search: Found
}

export type Answer<T> = { ok: true; value: T } | { ok: false; why: string; timedOut?: boolean }

export async function inWorker<T extends Task>(
  task: T,
  { timeLimitMs, signal }: { timeLimitMs: number; signal: AbortSignal },
): Promise<Answer<Done[T['kind']]>> {
  if (signal.aborted) return { ok: false, why: 'it was interrupted' }
  const { Worker } = await import('node:worker_threads')
  const worker = new Worker(workerFile, {
    workerData: task,
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 512, stackSizeMb: 8 },
  })
  const answer = Promise.withResolvers<Answer<Done[T['kind']]>>()
  const onAbort = () => answer.resolve({ ok: false, why: 'it was interrupted' })
  const timer = setTimeout(() => {
    answer.resolve({ ok: false, why: `it took over ${timeLimitMs / 1000} s`, timedOut: true })
  }, timeLimitMs)
  signal.addEventListener('abort', onAbort, { once: true })
  worker.on('message', answer.resolve)
  worker.on('error', (error: Error) => answer.resolve({ ok: false, why: error.message }))
  worker.on('exit', () => answer.resolve({ ok: false, why: 'its thread ended early' }))
  try {
    return await answer.promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    await worker.terminate()
  }
}

/** From source the worker is a file of its own; bundled it is an entry of its own. */
const workerFile = import.meta.dirname.startsWith(join(packageRoot, 'src'))
  ? join(packageRoot, 'src/tools/worker.ts')
  : join(packageRoot, 'dist/worker.cjs')

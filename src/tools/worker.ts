/** The thread's own side: does one task and says what came of it. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Task } from './worker-task.ts'

async function perform(task: Task): Promise<unknown> {
  if (task.kind === 'pdf') return (await import('./read/pdf-pages.ts')).pdfPages(task.bytes, task.range, task.most)
  if (task.kind === 'html') return (await import('./web/html-markdown.ts')).htmlToMarkdown(task.html)
  return (await import('./search/search-walk.ts')).searchWalk(task.search)
}

perform(workerData as Task).then(
  (value) => parentPort?.postMessage({ ok: true, value }),
  (error: unknown) =>
    parentPort?.postMessage({ ok: false, why: error instanceof Error ? error.message : String(error) }),
)

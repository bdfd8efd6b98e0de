/** Runs the cases of one door in a thread, so that a case that never ends can be seen and stopped. */
import { parentPort, workerData } from 'node:worker_threads'
import { doors } from './doors.ts'
import { nastyText } from './texts.ts'

const { name, from, count, progress, text } = workerData as {
  name: string
  from: number
  count: number
  progress: Int32Array
  /** This one text, and no made one. */
  text?: string
}
const { seeds, enter } = doors[name]!

for (let index = 0; index < count; index++) {
  Atomics.store(progress, 0, index)
  const given = text ?? nastyText(seeds, from + index)
  try {
    await enter(given)
  } catch (thrown) {
    parentPort!.postMessage({ index, why: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) })
  }
}
parentPort!.postMessage('done')
process.exit(0)

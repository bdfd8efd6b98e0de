/** Runs the cases of doors in a thread, so that a case that never ends can be seen and stopped. */
import { parentPort, workerData } from 'node:worker_threads'
import { doors } from './doors.ts'
import type { Round, Said } from './run.ts'
import { nastyText } from './texts.ts'

const progress: Int32Array = workerData
const say = (said: Said) => parentPort!.postMessage(said)

parentPort!.on('message', async (round: Round | 'end') => {
  if (round === 'end') process.exit(0)
  const { name, from, count, texts } = round
  const { seeds, enter } = doors[name]!
  for (let index = 0; index < count; index++) {
    Atomics.store(progress, 0, index)
    try {
      await enter(texts?.[index] ?? nastyText(seeds, from + index))
    } catch (thrown) {
      say({ index, why: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) })
    }
  }
  say('done')
})

/** Judges the parts of the record that a thread is given. */
import { parentPort, workerData } from 'node:worker_threads'
import { judgePart } from '../../../audit/replay/part-result.ts'
import { callsOfPart, type Part, type ThreadAnswer, type ThreadData } from '../../../audit/replay/parts.ts'
import { openReplay } from '../../../audit/replay/replay.ts'
import { readDb, StoreError } from '../../../store/open.ts'
import { knownTool } from '../../../tools/known-tool.ts'

const { path, filter, policy, baseline, wanted } = workerData as ThreadData
const db = readDb(path)
const replay = openReplay({ ...policy, tool: knownTool }, baseline && { ...baseline, tool: knownTool })

/** One after another: hooks are counted by the part. */
let last = Promise.resolve()
parentPort!.on('message', (part: Part) => {
  last = last.then(async () => parentPort!.postMessage(await judged(part)))
})

async function judged(part: Part): Promise<ThreadAnswer> {
  try {
    return await judgePart(replay, callsOfPart(db, part, filter), wanted)
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    return error instanceof StoreError ? { problem, kind: error.kind } : { problem }
  }
}

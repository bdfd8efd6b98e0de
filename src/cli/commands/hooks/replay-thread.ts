/** A thread of `ona hooks replay`: judges the parts of the record that it is given. */
import { parentPort, workerData } from 'node:worker_threads'
import { callsOfPart, type Part, type ThreadAnswer, type ThreadData } from '../../../audit/replay/parts.ts'
import { type Change, openReplay } from '../../../audit/replay/replay.ts'
import { readDb, StoreError } from '../../../store/open.ts'
import { knownTool } from '../../../tools/known-tool.ts'

const { path, filter, policy, baseline } = workerData as ThreadData
const db = readDb(path)
const replay = openReplay({ ...policy, tool: knownTool }, baseline && { ...baseline, tool: knownTool })

parentPort!.on('message', async (part: Part) => {
  parentPort!.postMessage(await judged(part))
})

async function judged(part: Part): Promise<ThreadAnswer> {
  const changes: Change[] = []
  try {
    return { summary: await replay(callsOfPart(db, part, filter), (change) => changes.push(change)), changes }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    return error instanceof StoreError ? { problem, kind: error.kind } : { problem }
  }
}

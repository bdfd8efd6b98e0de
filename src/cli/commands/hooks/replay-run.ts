/** Runs a replay in this thread or in several, with a line of progress on a terminal. */
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { hasSay, mayBeAsked, type Policy } from '../../../audit/replay/judge-call.ts'
import { judgePart, type PartResult, type Wanted } from '../../../audit/replay/part-result.ts'
import {
  callsOfPart,
  isLong,
  judgeSideBySide,
  ownJudge,
  type Part,
  partsOf,
  type ThreadData,
  threadJudge,
} from '../../../audit/replay/parts.ts'
import type { CallFilter } from '../../../audit/replay/recorded-calls.ts'
import { nothingYet, openReplay, type Summary, sumOf } from '../../../audit/replay/replay.ts'
import { grouped } from '../../../hooks/text/counted.ts'
import { packageRoot } from '../../../package-root.ts'
import type { ReadDb } from '../../../store/open.ts'
import { openProgress } from '../../progress.ts'

export interface Judging {
  readonly policy: Policy
  readonly baseline: Policy | undefined
  readonly filter: CallFilter
  readonly threads: number
}

/** Without a number: one for each core where the record is long, as long as no hook runs, which may keep a state. */
export function threadsFor(db: ReadDb, wanted: number | undefined, judging: Omit<Judging, 'threads'>): number {
  if (wanted !== undefined) return wanted
  if (asked(judging).some((runs) => runs) || !isLong(db, judging.filter)) return 1
  return Math.min(availableParallelism(), mostThreads)
}
const mostThreads = 4

/** Functions cannot be handed to another thread. */
export const hasFunctions = ({ policy, baseline }: Pick<Judging, 'policy' | 'baseline'>): boolean =>
  [policy, baseline].some((each) => each?.handlers.some((handler) => handler.kind === 'function' && hasSay(handler)))

const asked = ({ policy, baseline }: Omit<Judging, 'threads'>): boolean[] =>
  [policy, ...(baseline ? [baseline] : [])].flatMap(({ handlers, runCommands }) =>
    handlers.filter(hasSay).map((handler) => mayBeAsked(handler, runCommands)),
  )

/** The same changes in the same order, and the same summary, with any number of threads. */
export async function runReplay(
  db: ReadDb,
  { policy, baseline, filter, threads }: Judging,
  wanted: Wanted,
  onPart: (result: PartResult) => void,
): Promise<Summary> {
  const progress = openProgress()
  let sum = nothingYet
  const onResult = ({ share }: Part, result: PartResult): void => {
    onPart(result)
    sum = sumOf(sum, result.summary)
    progress.show(`${grouped(sum.calls)} calls, ${Math.floor(share * 100)} %`, share)
  }
  const replay = openReplay(policy, baseline)
  const own = ownJudge((part) => judgePart(replay, callsOfPart(db, part, filter), wanted))
  const data = { path: db.path, filter, policy: cloned(policy), baseline: baseline && cloned(baseline), wanted }
  const others = threads > 1 ? await startThreads(threads - 1, data) : []
  await judgeSideBySide(partsOf(db, filter), [own, ...others.map(threadJudge)], onResult)
  progress.end()
  return sum
}

/** Hooks that have no say stay behind: they may be functions. */
function cloned({ tool: _, handlers, ...policy }: Policy): ThreadData['policy'] {
  return { ...policy, handlers: handlers.filter(hasSay) }
}

async function startThreads(count: number, workerData: ThreadData) {
  const { Worker } = await import('node:worker_threads')
  // what is read is dropped at once, and a thread without a limit would collect it late
  const resourceLimits = { maxYoungGenerationSizeMb: 48, maxOldGenerationSizeMb: 384 }
  return Array.from({ length: count }, () => new Worker(threadFile, { workerData, resourceLimits }))
}

/** From source the thread is a file of its own; bundled it is an entry of its own. */
const threadFile = import.meta.dirname.startsWith(join(packageRoot, 'src'))
  ? join(import.meta.dirname, 'replay-thread.ts')
  : join(packageRoot, 'dist/replay-thread.cjs')

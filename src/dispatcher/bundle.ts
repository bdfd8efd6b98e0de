/** What lib/dispatch.cjs is built from: the dispatcher with its eight modules inside. */
import type { Bundled, Importer } from './load-modules.ts'
import { main } from './main.ts'
import { hook as graphPreToolUse } from './modules/graph-pretooluse.ts'
import { hook as memoryActivation } from './modules/memory-activation.ts'
import { hook as memoryJournal } from './modules/memory-journal.ts'
import { hook as planGraphExec } from './modules/plan-graph-exec.ts'
import { hook as planSubagentContract } from './modules/plan-subagent-contract.ts'
import { hook as rlmWork } from './modules/rlm-work.ts'
import { hook as session } from './modules/session.ts'
import { hook as stopSynth } from './modules/stop-synth.ts'
import type { HookModule } from './types.ts'

export const hooks = [
  session,
  graphPreToolUse,
  planGraphExec,
  planSubagentContract,
  rlmWork,
  memoryJournal,
  memoryActivation,
  stopSynth,
]
const bundled: Bundled = Object.fromEntries(hooks.map((hook: HookModule) => [hook.name, hook]))

export const run = (hooksRoot: string, importer: Importer): Promise<void> => main(hooksRoot, bundled, importer)

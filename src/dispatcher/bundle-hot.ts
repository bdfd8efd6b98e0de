/** What lib/hot.cjs is built from: the dispatcher with what PreToolUse asks, and nothing else. */
import type { Importer } from './load-modules.ts'
import { main } from './main.ts'
import { hook as graphPreToolUse } from './modules/graph-pretooluse.ts'
import { hook as memoryActivation } from './modules/memory-activation.ts'
import { hook as planGraphExec } from './modules/plan-graph-exec.ts'
import { hook as rlmWork } from './modules/rlm-work.ts'
import { toolHook as session } from './modules/session-tool.ts'

export const hooks = [session, graphPreToolUse, planGraphExec, rlmWork, memoryActivation]
const bundled = Object.fromEntries(hooks.map((hook) => [hook.name, hook]))

export const run = (hooksRoot: string, importer: Importer): Promise<void> => main(hooksRoot, bundled, importer)

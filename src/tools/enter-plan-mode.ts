/** EnterPlanMode: from now on nothing is changed until a plan is approved. */
import { record } from '../hooks/shape.ts'
import { defineTool } from './tool.ts'

export const enterPlanMode = defineTool({
  name: 'EnterPlanMode',
  prompt: `Starts planning: you look around without changing anything, write a plan, and leave with ExitPlanMode. Use it before work that touches several files or has more than one good way.`,
  input: record({}),
  safety: 'read_only',
  summary: () => 'planning',
  run: (_, { host }) => host.enterPlanMode(),
})

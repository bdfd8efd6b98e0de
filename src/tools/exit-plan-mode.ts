/** ExitPlanMode: lays the plan before the person. */
import { list, literal, optional, record, string } from '../hooks/shape.ts'
import { defineTool } from './tool.ts'

export const exitPlanMode = defineTool({
  name: 'ExitPlanMode',
  prompt: `Ends planning: lays your plan before the person for approval. Only after it is approved may you change anything. If they want it otherwise, change the plan and call again.`,
  input: record({
    plan: optional(string('The plan in Markdown, with what will show that it is done')),
    allowedPrompts: optional(
      list(
        record({ tool: literal('Bash'), prompt: string('A kind of command, such as "run the tests"') }),
        'Commands that carrying it out will need',
      ),
    ),
  }),
  safety: 'read_only',
  summary: ({ plan }) => plan?.split('\n').find((line) => line.trim() !== '') ?? 'the plan',
  run: ({ plan }, { host }) => host.exitPlanMode(plan ?? ''),
})

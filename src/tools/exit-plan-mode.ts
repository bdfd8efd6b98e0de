/** ExitPlanMode: presents the plan to the user. */
import { list, literal, optional, record, string } from '../hooks/shape.ts'
import { defineTool } from './tool.ts'

export const exitPlanMode = defineTool({
  name: 'ExitPlanMode',
  prompt: `Ends planning: presents your plan to the user for approval. You may change files only after it is approved. If the user wants changes, revise the plan and call again.`,
  input: record({
    plan: optional(string('The plan in Markdown, with what will show that it is done')),
    allowedPrompts: optional(
      list(
        record({ tool: literal('Bash'), prompt: string('A command as in a permission rule: "npm test", "git add *"') }),
        'Commands that carrying it out will need; the user may allow them together with the plan',
      ),
    ),
  }),
  safety: 'read_only',
  summary: ({ plan }) => plan?.split('\n').find((line) => line.trim() !== '') ?? 'the plan',
  run: ({ plan, allowedPrompts = [] }, { host }) =>
    host.exitPlanMode(
      plan ?? '',
      allowedPrompts.map(({ prompt }) => prompt),
    ),
})

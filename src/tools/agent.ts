/** Agent: hands a piece of work to a sub-agent with a context of its own. */
import { boolean, oneOf, optional, record, string } from '../hooks/shape.ts'
import { failed, firstNames } from './output.ts'
import { defineTool } from './tool.ts'

export const agent = defineTool({
  name: 'Agent',
  prompt: `Starts a sub-agent: it works on its own with fresh context and answers with one final message.
- Tell it everything it needs in prompt, and what to answer: it sees nothing of this conversation.
- Use it for wide searches and for work whose details you need not see. For one file or one name, use Read, Glob or Grep.
- Several Agent calls in one reply run at the same time: use that for work that does not depend on each other.
- With run_in_background it returns at once; see TaskOutput.`,
  input: record({
    description: string('The work in three to five words'),
    prompt: string('The work, whole'),
    subagent_type: optional(string('Which kind of agent; "general-purpose" when left out')),
    model: optional(oneOf(['sonnet', 'opus', 'haiku'], 'Another model than its own')),
    run_in_background: optional(boolean('Return at once and let it run on')),
    isolation: optional(
      oneOf(['worktree'], 'Works in a git worktree of its own, which is removed again when nothing in it was changed'),
    ),
    mode: optional(
      oneOf(
        ['default', 'acceptEdits', 'bypassPermissions', 'plan', 'dontAsk'],
        'A permission mode that allows no more than yours',
      ),
    ),
  }),
  safety: 'mutating',
  sideBySide: true,
  summary: ({ description }) => description,
  async run({ description, prompt, subagent_type, model, run_in_background, isolation, mode }, context) {
    const { host, toolUseId, signal } = context
    const type = subagent_type ?? 'general-purpose'
    const types = host.agentTypes().map(({ name }) => name)
    if (!types.includes(type))
      return failed(`Agent type '${type}' not found. Available agents: ${firstNames(types) || 'none'}`)
    if (prompt.trim() === '') return failed('prompt is empty; say what the agent is to do')
    const output = await host.runAgent({
      description,
      prompt,
      type,
      ...(model && { model }),
      ...(isolation && { isolation }),
      ...(mode && { mode }),
      background: run_in_background ?? false,
      toolUseId,
      signal,
      progress: (text) => context.progress(text),
    })
    return output.content.trim() === '' ? { ...output, content: '(The agent ended without a message.)' } : output
  },
})

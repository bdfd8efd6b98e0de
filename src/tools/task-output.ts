/** TaskOutput: what a background task has printed, and how it stands. */
import { boolean, integer, optional, record, string } from '../hooks/shape.ts'
import { capped } from './bounded.ts'
import type { TaskState } from './host.ts'
import { failed, said } from './output.ts'
import { defineTool } from './tool.ts'

const waitMs = 30_000
const maxWaitMs = 600_000

export const taskOutput = defineTool({
  name: 'TaskOutput',
  prompt: `Gives the new output and the state of a background command or agent.
- It waits for the end of the task, at most timeout ms (default ${waitMs}). With block false it answers at once.`,
  input: record({
    task_id: string('The id that the start answered'),
    block: optional(boolean('Wait for its end (default true)')),
    timeout: optional(integer('How long to wait, in milliseconds', { min: 0, max: maxWaitMs })),
  }),
  safety: 'read_only',
  summary: ({ task_id }) => task_id,
  async run({ task_id, block = true, timeout = waitMs }, { host, signal }) {
    const state = await host.tasks.output(task_id, block ? timeout : 0, signal)
    if (!state) return failed(`there is no task ${JSON.stringify(task_id)}; use the id that its start answered`)
    return said(described(state, block), {
      kind: 'text',
      summary: `${state.about}: ${state.status}`,
      full: state.output,
    })
  },
})

function described({ id, kind, status, exitCode, output }: TaskState, waited: boolean): string {
  const lines = [
    `<retrieval_status>${status === 'running' && waited ? 'timeout' : 'success'}</retrieval_status>`,
    `<task_id>${id}</task_id>`,
    `<task_type>local_${kind}</task_type>`,
    `<status>${status}</status>`,
    ...(exitCode === null ? [] : [`<exit_code>${exitCode}</exit_code>`]),
    ...(output === '' ? [] : [`<output>\n${capped(output).trimEnd()}\n</output>`]),
  ]
  return lines.join('\n')
}

/** TodoWrite: the model's own list of what is left to do. */
import { list, oneOf, record, string } from '../hooks/shape.ts'
import { said } from './output.ts'
import { defineTool } from './tool.ts'

export const todoWrite = defineTool({
  name: 'TodoWrite',
  prompt: `Replaces your task list for this session; the user sees it.
- Use it for work of three steps or more. Keep it current: mark a task in_progress when you start it and completed as soon as it is done, one in progress at a time.
- Always send the whole list.`,
  input: record({
    todos: list(
      record({
        content: string('The task as an order: "Run the tests"'),
        status: oneOf(['pending', 'in_progress', 'completed']),
        activeForm: string('The task while it is being done: "Running the tests"'),
      }),
      'The whole list',
    ),
  }),
  safety: 'read_only',
  summary: ({ todos }) => `${todos.filter(({ status }) => status === 'completed').length} of ${todos.length} done`,
  async run({ todos }, { host }) {
    host.setTodos(todos)
    const of = (wanted: string) => todos.filter(({ status }) => status === wanted).length
    const counts = `${of('completed')} completed, ${of('in_progress')} in progress, ${of('pending')} pending`
    return said(`The todo list has been replaced: ${counts}. Keep it current, and go on with the current task.`, {
      kind: 'todos',
      todos,
    })
  },
})

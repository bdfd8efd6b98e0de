/** Hooks as settings write them. */
import { eventNames } from '../events.ts'
import { boolean, either, list, literal, map, number, oneOf, optional, record, string } from '../shape.ts'
import { stepNames } from '../steps.ts'

const common = {
  if: optional(string('a permission rule, such as Bash(git *), that the call must match')),
  if_condition: optional(string('the same as "if"')),
  timeout: optional(number('seconds', { min: 0.001, max: 86_400 })),
  timeout_ms: optional(number('milliseconds', { min: 1, max: 86_400_000 })),
  onFailure: optional(oneOf(['refuse', 'proceed'], 'refuse: a failure of this hook counts as exit code 2')),
  onError: optional(oneOf(['block', 'proceed'], 'the same as "onFailure", in the words of steps')),
  once: optional(boolean('asked once a session')),
  parallel: optional(boolean('asked at the same time as the parallel hooks beside it; it may not change the input')),
  statusMessage: optional(string('shown while it runs')),
  profile: optional(oneOf(['claude'], "claude: the hook is written for Claude Code and gets Claude Code's contract")),
  name: optional(string('a name of your own')),
  async: optional(boolean('profile claude: the turn does not wait for the command. Otherwise no effect')),
  asyncRewake: optional(boolean('no effect: the hook is waited for')),
}

/** The kinds of handler that settings can declare. */
export const kinds = {
  command: record({
    type: optional(literal('command')),
    command: string('run by the shell; gets the event on stdin'),
    args: optional(list(string(), 'the exec form: command is a program, run with these and without a shell')),
    shell: optional(oneOf(['bash', 'sh', 'powershell'])),
    sandbox: optional(boolean('true: it runs in the sandbox of the session, or not at all')),
    persistent: optional(boolean('the program stays and answers one line of JSON for each line it is sent')),
    ...common,
  }),
  builtin: record({ type: literal('builtin'), ...common, name: string('which one') }),
  prompt: record({
    type: literal('prompt'),
    prompt: optional(string('the question; $ARGUMENTS stands for the event')),
    system: optional(string()),
    render: optional(either(literal('json'), record({ template: string('{{key}} stands for a key of the event') }))),
    model: optional(string()),
    ...common,
  }),
  http: record({
    type: literal('http'),
    url: string('the event is posted to it: https, or http on this machine'),
    headers: optional(map(string('$NAME stands for a variable of allowedEnvVars'))),
    allowedEnvVars: optional(list(string())),
    ...common,
  }),
  function: record({
    type: literal('function'),
    file: string('TypeScript or JavaScript; what it exports for this event with defineHook runs'),
    ...common,
  }),
}

export const matchShape = record(
  {
    tool: optional(string('the exact name')),
    tool_glob: optional(string()),
    safety: optional(list(oneOf(['read_only', 'mutating', 'destructive', 'network']))),
  },
  'for steps: every part given must hold',
  { closed: true },
)
const where = { matcher: optional(string()), match: optional(matchShape) }

const anyHook = either(...Object.values(kinds))
const anyName = oneOf([...eventNames, ...stepNames])
const flat = either(
  ...Object.values(kinds).map((kind) => record({ hook_event_name: anyName, ...where, ...kind.fields })),
)
/** Both forms, for the JSON Schema of the settings. */
export const hooksShape = either(list(flat), map(list(record({ ...where, hooks: list(anyHook) }))))

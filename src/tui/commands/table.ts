/** Every built-in slash command, by name. A command's file is loaded when it is run. */
import type { Ui } from '../session/command-context.ts'

export interface SlashCommand {
  readonly name: string
  readonly aliases: readonly string[]
  readonly summary: string
  /** `<a>` is needed, `[a]` may be left out. */
  readonly argumentHint: string
  /** Runs at once while the agent works; others wait for the turn's end. */
  readonly immediate?: boolean
  run(args: string, ui: Ui): Promise<void>
}

type Run = SlashCommand['run']
type Options = { aliases?: string[]; hint?: string; immediate?: true }

function command(
  name: string,
  summary: string,
  load: () => Promise<{ run: Run }>,
  options: Options = {},
): SlashCommand {
  return {
    name,
    aliases: options.aliases ?? [],
    summary,
    argumentHint: options.hint ?? '',
    ...(options.immediate && { immediate: true }),
    run: async (args, ui) => (await load()).run(args, ui),
  }
}

export const slashCommands: readonly SlashCommand[] = [
  command('help', 'what can be typed here', () => import('./help.ts'), { hint: '[command]', immediate: true }),
  command('model', 'show or change the model, and with it the provider', () => import('./model.ts'), {
    hint: '[model]',
    immediate: true,
  }),
  command('status', 'version, session, model, credentials, settings', () => import('./status.ts'), { immediate: true }),
  command('login', 'sign in, or store a key', () => import('./login.ts')),
  command('logout', 'forget the stored login', () => import('./logout.ts')),
  command('config', 'see and change preferences', () => import('./config.ts'), {
    aliases: ['settings'],
    hint: '[key=value]',
  }),
  command('clear', 'start a new conversation', () => import('./clear.ts'), {
    aliases: ['reset', 'new'],
    hint: '[name]',
  }),
  command('compact', 'make the conversation a summary', () => import('./compact.ts'), { hint: '[instructions]' }),
  command('context', 'what fills the context window', () => import('./context.ts'), { immediate: true }),
  command('cost', 'what this session has cost', () => import('./cost.ts'), { immediate: true }),
  command('usage', 'tokens by model, here and over the last days', () => import('./usage.ts'), {
    aliases: ['stats'],
    immediate: true,
  }),
  command('resume', 'go on with an earlier session', () => import('./resume.ts'), {
    aliases: ['continue'],
    hint: '[session]',
  }),
  command('rewind', 'go back to an earlier prompt', () => import('./rewind.ts'), {
    aliases: ['checkpoint', 'undo'],
    hint: '[number]',
  }),
  command('branch', 'go on in a copy of this session', () => import('./branch.ts'), {
    aliases: ['fork'],
    hint: '[name]',
  }),
  command('rename', 'name this session', () => import('./rename.ts'), { hint: '[name]', immediate: true }),
  command('plan', 'enter planning, with a task if you like', () => import('./plan.ts'), { hint: '[task]' }),
  command('test', 'have the tests of the plan written and run, or run again', () => import('./test.ts'), {
    hint: '[C2…]',
  }),
  command('verify', 'show the coverage of the plan, and approve it', () => import('./verify.ts'), {
    hint: '[approve]',
  }),
  command('rate', 'rate how well the task went', () => import('./rate.ts'), {
    hint: '<1-5> [objective]',
    immediate: true,
  }),
  command('permissions', 'see and change the rules', () => import('./permissions.ts'), {
    aliases: ['allowed-tools'],
    hint: '[allow|ask|deny|remove rule]',
    immediate: true,
  }),
  command('hooks', 'see, add and remove hooks', () => import('./hooks.ts'), { hint: '[add|remove …]' }),
  command('mcp', 'MCP servers: state, tools, sign in, reconnect', () => import('./mcp.ts'), {
    hint: '[reconnect|login server]',
  }),
  command('agents', 'kinds of sub-agents', () => import('./agents.ts'), { hint: '[new name]' }),
  command('skills', 'skills and custom commands', () => import('./skills.ts')),
  command('memory', 'instruction files and memories', () => import('./memory.ts'), { hint: '[search words]' }),
  command('init', 'write ONA.md for this project', () => import('./init.ts')),
  command('review', 'review the changes of this branch', () => import('./review.ts'), { hint: '[what]' }),
  command('security-review', 'look for security problems in the changes', () => import('./security-review.ts')),
  command('add-dir', 'one more folder to work in', () => import('./add-dir.ts'), { hint: '<path>', immediate: true }),
  command('export', 'the conversation as text', () => import('./export.ts'), { hint: '[file]' }),
  command('copy', 'copy the last answer', () => import('./copy.ts'), { hint: '[number]' }),
  command('diff', 'uncommitted changes', () => import('./diff.ts')),
  command('doctor', 'check the installation and the settings', () => import('./doctor.ts')),
  command('theme', 'colours', () => import('./theme.ts'), { hint: '[name]' }),
  command('vim', 'turn vim keys on or off', () => import('./vim.ts')),
  command('statusline', 'your own line under the prompt', () => import('./statusline.ts'), { hint: '[command|off]' }),
  command('output-style', 'how the agent writes', () => import('./output-style.ts'), { hint: '[style]' }),
  command('tasks', 'what runs in the background', () => import('./tasks.ts'), {
    aliases: ['bashes'],
    hint: '[stop id]',
    immediate: true,
  }),
  command('todos', 'the task list', () => import('./todos.ts'), { immediate: true }),
  command('btw', 'a question beside the work', () => import('./btw.ts'), { hint: '<question>', immediate: true }),
  command('release-notes', 'what changed in ona', () => import('./release-notes.ts')),
  command('bug', 'where to report a problem, with what we know', () => import('./bug.ts'), {
    aliases: ['feedback'],
    hint: '[what happened]',
  }),
  command('exit', 'leave', () => import('./exit.ts'), { aliases: ['quit'], immediate: true }),
]

export const findCommand = (name: string): SlashCommand | undefined =>
  slashCommands.find((one) => one.name === name) ?? slashCommands.find(({ aliases }) => aliases.includes(name))

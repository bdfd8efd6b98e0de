/** Every built-in slash command, by name. A command's file is loaded when it is run. */
import type { SlashCommand } from './slash-command.ts'

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
  command(
    'help',
    'list commands and keys',
    async () => ({ run: (await import('./information/help.ts')).help(slashCommands, findCommand) }),
    {
      hint: '[command]',
      immediate: true,
    },
  ),
  command('model', 'show or change the model, and with it the provider', () => import('./configuration/model.ts'), {
    hint: '[model]',
    immediate: true,
  }),
  command('effort', 'show or change how much the model works on an answer', () => import('./configuration/effort.ts'), {
    hint: '[low|medium|high|xhigh|max|auto]',
    immediate: true,
  }),
  command('status', 'version, session, model, credentials, settings', () => import('./information/status.ts'), {
    immediate: true,
  }),
  command('login', 'sign in, or store a key', () => import('./configuration/login.ts')),
  command('logout', 'remove the stored credential', () => import('./configuration/logout.ts')),
  command('config', 'see and change preferences', () => import('./configuration/config.ts'), {
    aliases: ['settings'],
    hint: '[key=value]',
  }),
  command('clear', 'start a new conversation', () => import('./conversation/clear.ts'), {
    aliases: ['reset', 'new'],
    hint: '[name]',
  }),
  command('compact', 'summarize the conversation to free context', () => import('./conversation/compact.ts'), {
    hint: '[instructions]',
  }),
  command('context', 'what fills the context window', () => import('./conversation/context.ts'), { immediate: true }),
  command('cost', 'what this session has cost', () => import('./information/cost.ts'), { immediate: true }),
  command('usage', 'tokens by model, here and over the last days', () => import('./information/usage.ts'), {
    aliases: ['stats'],
    immediate: true,
  }),
  command('resume', 'resume an earlier session', () => import('./conversation/resume.ts'), {
    aliases: ['continue'],
    hint: '[session]',
  }),
  command('rewind', 'go back to an earlier prompt', () => import('./conversation/rewind.ts'), {
    aliases: ['checkpoint', 'undo'],
    hint: '[number]',
  }),
  command('branch', 'continue in a copy of this session', () => import('./conversation/branch.ts'), {
    aliases: ['fork'],
    hint: '[name]',
  }),
  command('rename', 'name this session', () => import('./conversation/rename.ts'), { hint: '[name]', immediate: true }),
  command('plan', 'enter planning, with a task if you like', () => import('./workflow/plan.ts'), { hint: '[task]' }),
  command('test', 'have the tests of the plan written and run, or run again', () => import('./workflow/test.ts'), {
    hint: '[C2…]',
  }),
  command('verify', 'show the coverage of the plan, and approve it', () => import('./workflow/verify.ts'), {
    hint: '[approve]',
  }),
  command('rate', 'rate how well the task went', () => import('./workflow/rate.ts'), {
    hint: '<1-5> [objective]',
    immediate: true,
  }),
  command('permissions', 'see and change the rules', () => import('./configuration/permissions.ts'), {
    aliases: ['allowed-tools'],
    hint: '[suggest|allow|ask|deny|remove rule]',
    immediate: true,
  }),
  command('sandbox', 'what commands may read, write and reach', () => import('./configuration/sandbox.ts'), {
    hint: '[on|off]',
  }),
  command('hooks', 'see, add and remove hooks', () => import('./configuration/hooks.ts'), { hint: '[add|remove …]' }),
  command('mcp', 'MCP servers: state, tools, sign in, reconnect', () => import('./configuration/mcp.ts'), {
    hint: '[reconnect|login server]',
  }),
  command('plugin', 'plugins: state, what they run, trust', () => import('./configuration/plugin.ts'), {
    aliases: ['plugins'],
    hint: '[info|trust|enable|disable name]',
  }),
  command('agents', 'kinds of sub-agents', () => import('./configuration/agents.ts'), { hint: '[new name]' }),
  command('skills', 'skills and custom commands', () => import('./configuration/skills.ts')),
  command('memory', 'instruction files and memories', () => import('./configuration/memory.ts'), {
    hint: '[search words]',
  }),
  command('init', 'write ONA.md for this project', () => import('./configuration/init.ts')),
  command('review', 'review the changes of this branch', () => import('./workflow/review.ts'), { hint: '[what]' }),
  command(
    'security-review',
    'look for security problems in the changes',
    () => import('./workflow/security-review.ts'),
  ),
  command('add-dir', 'one more folder to work in', () => import('./configuration/add-dir.ts'), {
    hint: '<path>',
    immediate: true,
  }),
  command('export', 'the conversation as text', () => import('./conversation/export.ts'), { hint: '[file]' }),
  command('copy', 'copy the last answer', () => import('./conversation/copy.ts'), { hint: '[number]' }),
  command('diff', 'uncommitted changes', () => import('./workflow/diff.ts')),
  command('doctor', 'check the installation and the settings', () => import('./information/doctor.ts')),
  command('theme', 'colours', () => import('./configuration/theme.ts'), { hint: '[name]' }),
  command('keybindings', 'list the keys', () => import('./information/keybindings.ts'), { immediate: true }),
  command('vim', 'turn vim keys on or off', () => import('./configuration/vim.ts')),
  command('statusline', 'your own line under the prompt', () => import('./configuration/statusline.ts'), {
    hint: '[command|off]',
  }),
  command('output-style', 'how the agent writes', () => import('./configuration/output-style.ts'), { hint: '[style]' }),
  command('tasks', 'what runs in the background', () => import('./conversation/tasks.ts'), {
    aliases: ['bashes'],
    hint: '[stop id]',
    immediate: true,
  }),
  command('todos', 'the task list', () => import('./conversation/todos.ts'), { immediate: true }),
  command('btw', 'a question beside the work', () => import('./conversation/btw.ts'), {
    hint: '<question>',
    immediate: true,
  }),
  command('release-notes', 'what changed in ona', () => import('./information/release-notes.ts')),
  command('bug', 'where to report a problem, with what we know', () => import('./information/bug.ts'), {
    aliases: ['feedback'],
    hint: '[what happened]',
  }),
  command('exit', 'leave', () => import('./conversation/exit.ts'), { aliases: ['quit'], immediate: true }),
]

export const findCommand = (name: string): SlashCommand | undefined =>
  slashCommands.find((one) => one.name === name) ?? slashCommands.find(({ aliases }) => aliases.includes(name))

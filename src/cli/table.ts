/** Every command of ona, by its first word. Dispatch, help and completion are made from these rows. */
import type { Entry } from './command.ts'
import { verbs } from './verbs.ts'

export const commands: Readonly<Record<string, Entry>> = {
  acp: {
    about: 'serve the agent to editors over the Agent Client Protocol',
    usage: '[FLAGS]',
    load: () => import('./commands/acp.ts'),
  },
  approvals: {
    about: 'decide calls that wait for an answer',
    verbs: verbs.approvals,
    load: () => import('./commands/workflow/approvals.ts'),
  },
  attest: {
    about: 'a signed statement of plan, tests and sign-off, for the pull request',
    usage: '[verify FILE|lines] [FLAGS]',
    load: () => import('./commands/record/attest.ts'),
  },
  audit: {
    about: 'the record: import from other agents, verify, sign, export, archive, erase',
    verbs: verbs.audit,
    load: () => import('./commands/record/audit.ts'),
  },
  completion: {
    about: 'print a completion script for your shell',
    usage: 'bash|zsh|fish',
    load: async () => ({ run: (await import('./commands/completion.ts')).completion(commands, flagCommands) }),
  },
  demo: {
    about: 'play a whole plan-to-sign-off cycle, offline, in a minute',
    load: () => import('./commands/workflow/demo.ts'),
  },
  dispatcher: {
    about: 'install the eight policy modules for VS Code and others',
    verbs: verbs.dispatcher,
    load: () => import('./commands/roles/dispatcher.ts'),
  },
  doctor: {
    about: 'check the installation, settings and this folder',
    load: () => import('./commands/doctor.ts'),
  },
  enforce: {
    about: 'write one policy into every agent, where its user cannot change it',
    verbs: verbs.enforce,
    load: () => import('./commands/policy/enforce.ts'),
  },
  fleet: {
    about: 'many machines: rows in, policies out, jobs, on PostgreSQL',
    usage: 'init|serve|enrol|ship|…',
    verbs: verbs.fleet,
    load: () => import('./commands/fleet/fleet.ts'),
  },
  hooks: {
    about: 'list, test, log and replay hooks',
    verbs: verbs.hooks,
    load: () => import('./commands/hooks/hooks.ts'),
  },
  init: {
    about: "write a role's hooks into every agent of this repository",
    usage: '--roles R… --hooks [BRAIN…]',
    load: () => import('./commands/roles/init.ts'),
  },
  inspect: {
    about: 'browse the record: prompts, calls, hooks, decisions',
    load: () => import('./commands/record/inspect.ts'),
  },
  login: {
    about: 'store a key or sign in to an account for the Anthropic API',
    load: () => import('./commands/auth/login.ts'),
  },
  logout: {
    about: 'remove the stored credential',
    load: () => import('./commands/auth/logout.ts'),
  },
  mcp: {
    about: 'manage MCP servers, or serve the tools as one',
    usage: 'add|list|get|remove|serve|…',
    verbs: verbs.mcp,
    load: () => import('./commands/mcp/mcp.ts'),
  },
  migrate: {
    about: 'what you have from other agents, and what ona does with it',
    usage: '[--from HOST…] [--apply]',
    load: () => import('./commands/migrate.ts'),
  },
  otel: {
    about: 'the record to an OpenTelemetry collector',
    verbs: verbs.otel,
    load: () => import('./commands/record/otel.ts'),
  },
  permissions: {
    about: 'explain why a call is allowed, prompted for or denied',
    usage: 'test RULE…',
    verbs: verbs.permissions,
    load: () => import('./commands/permissions.ts'),
  },
  plan: {
    about: 'list, show or approve the plans of a conversation',
    verbs: verbs.plan,
    load: () => import('./commands/workflow/plan.ts'),
  },
  plugin: {
    about: 'install and manage plugins; build one from a role',
    usage: 'list|add|info|trust|update|…',
    verbs: verbs.plugin,
    load: () => import('./commands/plugins/plugin.ts'),
  },
  policy: {
    about: 'rules that your history calls for, and policies to start from',
    verbs: verbs.policy,
    load: () => import('./commands/policy/policy.ts'),
  },
  prove: {
    about: 'show that the policy holds, in the agents themselves',
    usage: '[AGENT…]',
    load: () => import('./commands/policy/prove.ts'),
  },
  rehearse: {
    about: 'play a script through the whole runtime',
    usage: 'SCRIPT…',
    load: () => import('./commands/rehearse.ts'),
  },
  role: {
    about: 'create a role with a hook and its test; list roles',
    verbs: verbs.role,
    load: () => import('./commands/roles/role.ts'),
  },
  sandbox: {
    about: 'run one command in the sandbox, or explain what it lets a command do',
    usage: 'run|explain …',
    verbs: verbs.sandbox,
    load: () => import('./commands/sandbox/sandbox.ts'),
  },
  status: {
    about: 'show which model and credential a session here would use',
    load: () => import('./commands/auth/status.ts'),
  },
  verify: {
    about: 'show the coverage report of a conversation, for sign-off',
    load: () => import('./commands/workflow/verify.ts'),
  },
}

/** Commands spelt as flags, accepted anywhere among the words. */
export const flagCommands: Readonly<Record<string, Entry>> = {
  '--eval': {
    about: 'run one tool call through hooks and rules',
    usage: `'{"tool":…,"input":…}'`,
    load: () => import('./commands/eval.ts'),
  },
  '--init-db': {
    about: 'create the database',
    load: () => import('./commands/record/init-db.ts'),
  },
  '--transition': {
    about: 'move a conversation to another phase',
    usage: 'PHASE --conversation ID',
    load: () => import('./commands/workflow/transition.ts'),
  },
}

/** Every command of ona, by its first word. The door, the help and the completion are made from these rows. */
import type { Run } from './command.ts'

export interface Entry {
  readonly about: string
  /** What follows the name, as the help shows it. Without it: the verbs. */
  readonly usage?: string
  readonly verbs?: readonly string[]
  readonly load: () => Promise<{ run: Run }>
}

/** What the commands that are families can do. Each of their files must have exactly these. */
export const verbs = {
  audit: ['import'],
  dispatcher: ['install', 'doctor', 'upgrade', 'uninstall', 'new-module'],
  hooks: ['list', 'fire', 'log', 'replay', 'brains', 'import'],
  mcp: ['add', 'add-json', 'list', 'get', 'remove', 'login', 'logout', 'reset-project-choices', 'serve'],
  permissions: ['test'],
  plan: ['list', 'show', 'approve'],
  role: ['new', 'list'],
} as const

export type Verb<Name extends keyof typeof verbs> = (typeof verbs)[Name][number]

export const commands: Readonly<Record<string, Entry>> = {
  acp: {
    about: 'the agent for editors, over the Agent Client Protocol',
    usage: '[FLAGS]',
    load: () => import('./commands/acp.ts'),
  },
  audit: {
    about: "other agents' logs into the database",
    verbs: verbs.audit,
    load: () => import('./commands/record/audit.ts'),
  },
  completion: {
    about: 'completion for your shell',
    usage: 'bash|zsh|fish',
    load: () => import('./commands/completion.ts'),
  },
  demo: {
    about: 'a whole plan-to-sign-off cycle, offline, in a minute',
    load: () => import('./commands/workflow/demo.ts'),
  },
  dispatcher: {
    about: 'the eight policy modules for VS Code and others',
    verbs: verbs.dispatcher,
    load: () => import('./commands/roles/dispatcher.ts'),
  },
  doctor: {
    about: 'what is well here, what is not, and what to do',
    load: () => import('./commands/doctor.ts'),
  },
  hooks: {
    about: 'which hooks are in force, what they say, what they said',
    verbs: verbs.hooks,
    load: () => import('./commands/hooks/hooks.ts'),
  },
  init: {
    about: "a role's hooks into every agent of this repository",
    usage: '--roles R… --hooks [BRAIN…]',
    load: () => import('./commands/roles/init.ts'),
  },
  inspect: {
    about: 'what happened, as pages: prompts, calls, hooks, rulings',
    load: () => import('./commands/record/inspect.ts'),
  },
  login: {
    about: 'keep a key or an account for the Anthropic API',
    load: () => import('./commands/auth/login.ts'),
  },
  logout: {
    about: 'forget it',
    load: () => import('./commands/auth/logout.ts'),
  },
  mcp: {
    about: 'MCP servers, and our tools as one',
    usage: 'add|list|get|remove|serve|…',
    verbs: verbs.mcp,
    load: () => import('./commands/mcp/mcp.ts'),
  },
  permissions: {
    about: 'why a call is allowed, asked or denied',
    usage: 'test RULE…',
    verbs: verbs.permissions,
    load: () => import('./commands/permissions.ts'),
  },
  plan: {
    about: 'the plans of a conversation',
    verbs: verbs.plan,
    load: () => import('./commands/workflow/plan.ts'),
  },
  rehearse: {
    about: 'play a script through the whole runtime',
    usage: 'SCRIPT…',
    load: () => import('./commands/rehearse.ts'),
  },
  role: {
    about: 'make a role with a hook and its test; the roles here',
    verbs: verbs.role,
    load: () => import('./commands/roles/role.ts'),
  },
  status: {
    about: 'which model and which credential a session here would use',
    load: () => import('./commands/auth/status.ts'),
  },
  verify: {
    about: 'the coverage report of a conversation, for sign-off',
    load: () => import('./commands/workflow/verify.ts'),
  },
}

/** Commands spelt as flags: they may stand anywhere among the words. */
export const flagCommands: Readonly<Record<string, Entry>> = {
  '--eval': {
    about: 'one tool call, through hooks and rules',
    usage: `'{"tool":…,"input":…}'`,
    load: () => import('./commands/eval.ts'),
  },
  '--init-db': {
    about: 'make the database',
    load: () => import('./commands/record/init-db.ts'),
  },
  '--transition': {
    about: 'move a conversation on',
    usage: 'PHASE --conversation ID',
    load: () => import('./commands/workflow/transition.ts'),
  },
}

/** The subcommands of each command. Its file must implement exactly these. */
export const verbs = {
  approvals: ['list', 'show', 'approve', 'deny'],
  audit: ['import', 'verify', 'checkpoint', 'export', 'archive', 'unarchive', 'retain', 'erase', 'hold'],
  dispatcher: ['install', 'doctor', 'upgrade', 'uninstall', 'new-module'],
  enforce: ['plan', 'apply', 'status', 'remove'],
  fleet: [
    ...([
      'init',
      'serve',
      'enrol',
      'ship',
      'policy',
      'invite',
      'token',
      'submit',
      'worker',
      'log',
      'cancel',
      'retry',
    ] as const),
    ...(['approvals', 'up', 'down', 'login', 'status', 'access', 'revoke', 'acknowledge', 'retain', 'erase'] as const),
  ],
  hooks: ['list', 'fire', 'log', 'replay', 'brains', 'import'],
  mcp: ['add', 'add-json', 'list', 'get', 'remove', 'accept', 'login', 'logout', 'reset-project-choices', 'serve'],
  otel: ['ship'],
  permissions: ['test'],
  plan: ['list', 'show', 'approve'],
  plugin: ['list', 'add', 'info', 'trust', 'enable', 'disable', 'update', 'remove', 'validate', 'marketplace', 'build'],
  policy: ['suggest', 'new', 'list', 'guard'],
  role: ['new', 'list'],
  sandbox: ['run', 'explain'],
} as const

export type Verb<Name extends keyof typeof verbs> = (typeof verbs)[Name][number]

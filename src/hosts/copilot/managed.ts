/**
 * Copilot CLI's policy hooks (docs.github.com, "Hooks reference"): `policy.d`, owned by root, in force in every folder. Unlike its
 * other hook files they know no `command`, only `bash`.
 */
import { claudeEvents } from '../claudecode/events.ts'
import { managedHooks } from '../config/managed-hooks.ts'
import { type Managed, notOwned, ownFile, type RuleSupport } from '../managed.ts'

export const copilotManaged: Managed = {
  holds: 'hooks hold; the shim refuses in time where Copilot itself would let a slow hook pass',
  files({ hooks }, place) {
    const lists = managedHooks(
      { events: claudeEvents, unitMs: 1000, groups: false, commandKey: 'bash', also: { type: 'command' } },
      hooks,
      place,
      'copilot',
    )
    return [
      ownFile('/etc/github-copilot/policy.d/50-ona.json', `${JSON.stringify({ version: 1, hooks: lists }, null, 2)}\n`),
    ]
  },
  support: ({ behavior }): RuleSupport =>
    behavior === 'allow'
      ? { how: 'cannot', why: 'a managed permissions block would turn every call that it does not list into a prompt' }
      : { how: 'hook' },
  overrides: (seen) => notOwned(seen, ['/etc/github-copilot/policy.d', '/etc/github-copilot/policy.d/50-ona.json']),
}

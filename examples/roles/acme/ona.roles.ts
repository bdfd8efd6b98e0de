/** The roles of a platform team: written once, in force in every agent that a repository uses. */
import type { RoleRegistry } from 'ona/brains'

const registry: RoleRegistry = {
  slug: 'acme',
  roles: [
    {
      slug: 'guardian',
      purpose: 'keeps secrets out of the work of agents',
      briefs: { dirs: 'briefs' },
      inits: { exec: [{ cmd: 'git config --get user.email > /dev/null || echo "set user.email for your commits"' }] },
      hooks: {
        onBrain: {
          // what it prints is in front of the model when a session starts
          onBoot: [{ command: 'cat .agent/repo=acme/role=guardian/briefs/*.md', timeout: 'PT10S' }],
          onTool: [
            { command: 'node hooks/no-secrets.mjs', timeout: { seconds: 10 }, filter: { what: 'Write|Edit' } },
            { command: 'node hooks/note.mjs', timeout: 'PT10S', filter: { what: 'Bash', when: 'after' } },
          ],
        },
        onDispatch: {
          // before ona puts a prompt to the model
          onInvokeAskInput: (input) => ({
            ...input,
            ask: input.ask.replaceAll(/AKIA[0-9A-Z]{16}/g, '[an access key]'),
          }),
        },
      },
    },
  ],
}

export default registry

import { bash, type Starter } from './starter.ts'

/** What comes right after `git push`, or later in the command. */
const rewriting = [
  ...['--for*', '-f*', '+*', '--m*', '--pru*', '--de*', '-d*'],
  // `git push origin :main` deletes; a rule cannot end in `:*`, which means a prefix
  ...[':main*', ':master*', ':dev*', ':release*', ':prod*', ':stag*', ':trunk*', ':refs*', ':heads*', ':v*'],
]

export const noForcePush: Starter = {
  id: 'no-force-push',
  about: 'no force pushes, and no deletion of main branches',
  limits: 'What a server does by itself (merge buttons, bots) is for the branch protection of the server.',
  words: ['force', 'push', 'main', 'branch', 'history'],
  permissions: {
    deny: [
      ...rewriting.flatMap((option) => [`Bash(git push ${option})`, `Bash(git push * ${option})`]),
      ...['Bash(git send-pack *)', 'Bash(git -c remote.*)', 'Bash(git *--config-env*)'],
      ...['Bash(git config *remote.*.push*)', 'Bash(git config *remote.*.mirror*)', 'Bash(hub push *)'],
    ],
    ask: ['Bash(gh api *git/refs*)', 'Bash(gh repo sync *)'],
  },
  refuses: [
    ...['git push --force origin main', 'git push origin main -f', 'git push origin +main', 'git push -uf origin main'],
    ...['git -C . push --force-with-lease', 'git push --mirror', 'git push origin :main', 'git push -d origin main'],
    ...['git -c remote.origin.push=+main push', 'sh -c "git push -f"', 'git send-pack --force origin main'],
  ].map(bash),
  allows: [bash('git status --short || true'), bash('git push -u origin feature || true')],
}

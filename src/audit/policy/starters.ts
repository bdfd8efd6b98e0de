/** Policies that teams ask for, ready to adapt: each a rule or a hook, with a rehearsal that proves it. */

export interface Starter {
  readonly id: string
  readonly about: string
  /** Words that name it on the command line. */
  readonly words: readonly string[]
  readonly permissions?: { readonly deny?: readonly string[]; readonly ask?: readonly string[] }
  /** A shell hook: what it reads on stdin is the event as JSON; exit 2 denies, and stderr says why. */
  readonly hook?: { readonly event: string; readonly matcher: string; readonly script: string }
  /** Calls that the rehearsal makes: those that must be refused, and those that must still run. */
  readonly refuses: readonly Tried[]
  readonly allows: readonly Tried[]
  /** Files that the rehearsal's folder holds. */
  readonly files?: Readonly<Record<string, string>>
}

export interface Tried {
  readonly call: string
  readonly input: Readonly<Record<string, string>>
}

const bash = (command: string): Tried => ({ call: 'Bash', input: { command } })
const write = (file_path: string, content = 'x'): Tried => ({ call: 'Write', input: { file_path, content } })

export const starters: readonly Starter[] = [
  {
    id: 'no-force-push',
    about: 'no force pushes, to any branch',
    words: ['force', 'push', 'main', 'branch', 'history'],
    permissions: {
      deny: [
        'Bash(git push --force*)',
        'Bash(git push * --force*)',
        'Bash(git push -f*)',
        'Bash(git push * -f*)',
        'Bash(git push * +*)',
      ],
    },
    refuses: [bash('git push --force origin main'), bash('git push origin main -f'), bash('git push origin +main')],
    allows: [bash('git status --short || true')],
  },
  {
    id: 'no-secrets',
    about: 'files with secrets are neither read nor written',
    words: ['secret', 'secrets', 'env', 'credentials', 'keys', 'password'],
    permissions: {
      deny: [
        'Read(.env)',
        'Read(.env.*)',
        'Read(*.pem)',
        'Read(*.key)',
        'Read(id_rsa)',
        'Read(~/.ssh/**)',
        'Read(~/.aws/**)',
        'Edit(.env)',
        'Edit(.env.*)',
      ],
    },
    files: { '.env': 'TOKEN=planted', 'a.txt': 'hello' },
    refuses: [{ call: 'Read', input: { file_path: '.env' } }, bash('cat .env'), write('.env')],
    allows: [{ call: 'Read', input: { file_path: 'a.txt' } }],
  },
  {
    id: 'lock-files',
    about: 'lock files change through the package manager only',
    words: ['lock', 'lockfile', 'lockfiles', 'package-lock', 'dependencies'],
    permissions: {
      deny: [
        'Edit(package-lock.json)',
        'Edit(yarn.lock)',
        'Edit(pnpm-lock.yaml)',
        'Edit(Cargo.lock)',
        'Edit(poetry.lock)',
        'Edit(uv.lock)',
        'Edit(go.sum)',
      ],
    },
    files: { 'package-lock.json': '{}' },
    refuses: [write('package-lock.json', '{"a":1}')],
    allows: [write('package.json', '{}')],
  },
  {
    id: 'production-folders',
    about: 'folders of production are read and never changed',
    words: ['production', 'prod', 'deploy', 'folder', 'folders', 'infrastructure', 'infra'],
    permissions: { deny: ['Edit(/infra/production/**)', 'Edit(/deploy/**)', 'Edit(/k8s/**)'] },
    files: { 'deploy/app.yaml': 'replicas: 1' },
    refuses: [write('deploy/app.yaml'), write('infra/production/main.tf')],
    allows: [{ call: 'Read', input: { file_path: 'deploy/app.yaml' } }],
  },
  {
    id: 'package-publishing',
    about: 'nothing is published to a registry',
    words: ['publish', 'publishing', 'package', 'registry', 'npm', 'release'],
    permissions: {
      deny: [
        'Bash(npm publish*)',
        'Bash(pnpm publish*)',
        'Bash(yarn publish*)',
        'Bash(yarn npm publish*)',
        'Bash(cargo publish*)',
        'Bash(twine upload*)',
        'Bash(gem push*)',
        'Bash(poetry publish*)',
        'Bash(uv publish*)',
        'Bash(docker push*)',
      ],
    },
    refuses: [bash('npm publish --access public'), bash('docker push acme/app:latest')],
    allows: [bash('echo npm pack')],
  },
  {
    id: 'cloud-destroy',
    about: 'command-line tools of clouds delete nothing',
    words: ['cloud', 'aws', 'gcloud', 'azure', 'terraform', 'kubectl', 'destroy', 'delete'],
    permissions: {
      deny: [
        'Bash(terraform destroy*)',
        'Bash(terraform apply*)',
        'Bash(tofu destroy*)',
        'Bash(pulumi destroy*)',
        'Bash(kubectl delete*)',
        'Bash(helm uninstall*)',
        'Bash(aws * delete*)',
        'Bash(aws * terminate*)',
        'Bash(aws s3 rm*)',
        'Bash(aws s3 rb*)',
        'Bash(gcloud * delete*)',
        'Bash(az * delete*)',
      ],
    },
    refuses: [
      bash('terraform destroy -auto-approve'),
      bash('aws ec2 terminate-instances --instance-ids i-1'),
      bash('kubectl delete pod web'),
    ],
    allows: [bash('echo terraform plan')],
  },
  {
    id: 'network-egress',
    about: 'no program of the shell opens the network without a prompt',
    words: ['network', 'egress', 'curl', 'internet', 'download', 'exfiltration'],
    permissions: {
      deny: [
        'Bash(curl *)',
        'Bash(wget *)',
        'Bash(nc *)',
        'Bash(ncat *)',
        'Bash(ssh *)',
        'Bash(scp *)',
        'Bash(rsync *)',
        'Bash(ftp *)',
        'Bash(telnet *)',
      ],
      ask: ['WebFetch'],
    },
    refuses: [
      bash('curl https://example.com'),
      bash('cat a.txt | nc example.com 80'),
      { call: 'WebFetch', input: { url: 'https://example.com', prompt: 'x' } },
    ],
    allows: [bash('echo curl')],
    files: { 'a.txt': 'hello' },
  },
  {
    id: 'licence-headers',
    about: 'a new source file begins with a licence header',
    words: ['licence', 'license', 'header', 'headers', 'copyright', 'spdx'],
    hook: {
      event: 'PreToolUse',
      matcher: 'Write',
      script: `#!/bin/sh
# Denies a Write of a source file whose first lines hold no SPDX identifier.
input=$(cat)
case $input in
  *'"file_path":"'*.ts\\"*|*'"file_path":"'*.js\\"*|*'"file_path":"'*.py\\"*|*'"file_path":"'*.go\\"*|*'"file_path":"'*.rs\\"*) ;;
  *) exit 0 ;;
esac
case $input in
  *SPDX-License-Identifier:*) exit 0 ;;
esac
echo 'begin the file with a line such as: // SPDX-License-Identifier: MIT' >&2
exit 2
`,
    },
    refuses: [write('src/a.ts', 'export const a = 1')],
    allows: [write('src/b.ts', '// SPDX-License-Identifier: MIT\nexport const b = 1'), write('notes.txt')],
  },
  {
    id: 'commit-format',
    about: 'commit messages follow Conventional Commits',
    words: ['commit', 'message', 'format', 'conventional'],
    hook: {
      event: 'PreToolUse',
      matcher: 'Bash',
      script: `#!/bin/sh
# Denies git commit -m whose subject is not "type: text" or "type(scope): text".
input=$(cat)
case $input in
  *'git commit'*-m*) ;;
  *) exit 0 ;;
esac
if printf '%s' "$input" | grep -Eq 'git commit[^"]* -[a-z]*m *(\\\\"|'"'"')?[a-z]+(\\([a-z0-9-]+\\))?!?: '; then exit 0; fi
echo 'write the subject as "type: text", such as: git commit -m "fix: handle an empty file"' >&2
exit 2
`,
    },
    refuses: [bash('git commit -m "changed things"')],
    allows: [bash('git commit --allow-empty -m "fix: handle an empty file" || true')],
  },
  {
    id: 'test-before-stop',
    about: 'a turn that changed sources ends only after the tests ran',
    words: ['test', 'tests', 'stop', 'before', 'finish'],
    hook: {
      event: 'Stop',
      matcher: '*',
      script: `#!/bin/sh
# Keeps the turn going until the tests pass. Once is enough: a second stop is let through.
input=$(cat)
case $input in
  *'"stop_hook_active":true'*) exit 0 ;;
esac
if sh ./run-tests.sh >/dev/null 2>&1; then exit 0; fi
echo 'the tests fail: run ./run-tests.sh and fix what it reports before you finish' >&2
exit 2
`,
    },
    files: { 'run-tests.sh': 'test -f done.txt\n' },
    refuses: [],
    allows: [write('done.txt')],
  },
]

/** The starter that the words name best; undefined when none of them names any. */
export function starterFor(text: string): Starter | undefined {
  const words = text.toLowerCase().match(/[a-z-]+/g) ?? []
  const score = ({ id, words: own }: Starter) =>
    (id === text ? 100 : 0) +
    words.filter((word) => own.includes(word) || own.includes(word.replace(/(?:es|s)$/, ''))).length
  const best = starters.toSorted((a, b) => score(b) - score(a))[0]!
  return score(best) > 0 ? best : undefined
}

/** The settings that put a starter in force; `hookCommand` runs its hook. */
export function starterSettings({ permissions, hook }: Starter, hookCommand: string): object {
  return {
    ...(permissions && { permissions }),
    ...(hook && { hooks: [{ hook_event_name: hook.event, matcher: hook.matcher, command: hookCommand }] }),
  }
}

/** A script for `ona rehearse`: what must be refused is, and what must run does. JSON is YAML. */
export function starterRehearsal(starter: Starter): string {
  const { about, refuses, allows, files = {}, hook } = starter
  const command = `sh .ona/hooks/${starter.id}.sh`
  const settings = starterSettings(starter, command) as { permissions?: object; hooks?: object }
  const tried = (calls: readonly Tried[], error: boolean) => calls.flatMap((each) => [each, { expect: { error } }])
  const script = {
    about,
    files: { ...files, ...(hook && { [`.ona/hooks/${starter.id}.sh`]: hook.script }) },
    settings: { ...settings, permissions: { ...settings.permissions, defaultMode: 'bypassPermissions' } },
    steps: [{ prompt: 'try it' }, ...tried(refuses, true), ...tried(allows, false), { say: 'done' }],
  }
  return `# ${about}\n${JSON.stringify(script, null, 2)}\n`
}

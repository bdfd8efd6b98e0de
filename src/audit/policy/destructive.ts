/**
 * Commands that destroy, publish, reach other machines or cannot be known: never proposed for an allow rule, whatever was
 * approved before. The rules are held against every command of a line, behind quotes, wrappers and `sh -c`, as in a session.
 */
import { judge } from '../../permissions/decide.ts'
import type { PermissionQuestion } from '../../permissions/question.ts'
import { cloudDestroy } from './starters/cloud-destroy.ts'
import { networkPrograms } from './starters/network-egress.ts'
import { packagePublishing } from './starters/package-publishing.ts'
import { verbRules } from './starters/verbs.ts'

const programs = [
  ...[
    'rm',
    'rmdir',
    'shred',
    'unlink',
    'truncate',
    'dd',
    'mkfs*',
    'fdisk',
    'parted',
    'wipefs',
    'kill',
    'pkill',
    'killall',
  ],
  ...['shutdown', 'reboot', 'halt', 'poweroff', 'sudo', 'doas', 'su', 'pkexec', 'chmod', 'chown', 'chgrp', 'chattr'],
  ...['setfacl', 'mount', 'umount', 'crontab', 'at', 'batch', 'systemctl', 'service', 'launchctl', 'iptables', 'nft'],
  ...['useradd', 'userdel', 'usermod', 'passwd', 'visudo', 'psql', 'mysql', 'mongo', 'mongosh', 'redis-cli', 'sqlite3'],
  ...[
    'tmux',
    'screen',
    'script',
    'expect',
    'gdb',
    'eval',
    'source',
    'trap',
    'alias',
    'rimraf',
    'del',
    'del-cli',
    'trash',
  ],
  ...[
    'mv',
    'cp',
    'ln',
    'tee',
    'install',
    'patch',
    'tar',
    'unzip',
    '7z',
    'cpio',
    'vi',
    'vim',
    'nvim',
    'emacs',
    'nano',
    'ed',
  ],
  ...['gpg', 'openssl', 'aws', 'gcloud', 'az', 'doctl', 'fly', 'flyctl', 'heroku', 'vercel', 'netlify', 'wrangler'],
  ...['ansible', 'ansible-playbook', 'pulumi', 'cdk', 'sam', 'serverless', 'sls', 'eksctl', 'oci', 'ibmcloud'],
  ...networkPrograms,
]
/** They fetch a program and run it. */
const runners = ['npx', 'pnpx', 'bunx', 'uvx', 'pipx', 'npm exec', 'pnpm dlx', 'pnpm exec', 'yarn dlx', 'bun x']
const verbs = verbRules({
  git: [
    ...[
      'push',
      'reset',
      'clean',
      'rebase',
      'filter-branch',
      'filter-repo',
      'update-ref',
      'gc',
      'prune',
      'reflog',
      'rm',
    ],
    ...['checkout', 'restore', 'branch -D', 'branch -d', 'branch -f', 'tag -d', 'tag -f', 'stash', 'worktree remove'],
    ...['config', 'remote', 'submodule', 'send-pack', 'am', 'apply', 'replace', 'notes'],
  ],
  'gh glab': [
    'repo',
    'release',
    'secret',
    'variable',
    'api',
    'workflow',
    'pr merge',
    'pr close',
    'issue delete',
    'auth',
  ],
  'docker podman': ['rm', 'rmi', 'prune', 'kill', 'login', 'run', 'exec', 'system', 'volume', 'compose down', 'stop'],
  'kubectl oc': [
    'apply',
    'create',
    'edit',
    'patch',
    'rollout',
    'set',
    'run',
    'cp',
    'cordon',
    'taint',
    'label',
    'annotate',
  ],
  helm: ['upgrade', 'install', 'push'],
  sed: ['-i', '--in-place'],
  find: ['-delete', '-exec', '-ok', '-fprint', '-fls'],
  'npm pnpm yarn bun': ['login', 'logout', 'token', 'owner', 'access', 'config', 'uninstall', 'remove', 'cache clean'],
})
const deny = [
  ...programs.flatMap((name) => [`Bash(${name})`, `Bash(${name} *)`]),
  ...[...verbs, ...packagePublishing.permissions!.deny!, ...cloudDestroy.permissions!.deny!],
]

const everyRunner = { deny: [...deny, ...runners.flatMap((name) => [`Bash(${name})`, `Bash(${name} *)`])] }
const knownRunner = { deny }

/** Names of scripts, targets and tools that say what becomes of the world: `npm run deploy`, `./reset-db.sh`. */
const risky =
  /(?:^|[^a-z])(?:deploy(?:ment)?|publish|release|prod(?:uction)?|live|destroy|delete|remove|drop|purge|wipe|reset|clean(?:up)?|nuke|migrat\w+|rollback|uninstall|prune|kill|tear-?down|truncate|erase|terminate|force|ship|revoke|rotate|merge|transfer|pay|refund|send|rm)(?:[^a-z]|$)/i
/** Code on the command line says too little about what it does. */
const inlineCode =
  /(?:^|[\s;&|(/])(?:node|deno|bun|python[\d.]*|perl|ruby|php|lua|osascript|[bdakz]*sh|powershell|pwsh)\s+(?:\S+\s+)*?(?:-\w*[ecr]\b|-p\b|--eval|--print|--command|-\s*<<|<<)/

/** What is installed runs code of its own. */
const installs =
  /\b(?:npm|pnpm|yarn|bun|pip[\d.]*|uv|gem|cargo|go|apt(?:-get)?|brew|dnf|yum)\s+(?:i|install|add|get)\s+\S/

/** Options that name a program to run, that publish or delete, or that write outside the project. */
const reachesOut =
  /(?:^|\s)--?(?:(?:exec|toolexec|vettool|script-shell|post-renderer|upload-pack|receive-pack|ext-diff|pager|editor|push|destroy)(?:[=\s]|$)|(?:outDir|out-dir|output|target-dir|basetemp)[=\s]["']?(?:\/|~|\.\.|\$)|(?:write|fix)\b.*\s["']?(?:\/|~|\.\.\/))/
/** Variables that make a program load or run another. */
const loadsAnother =
  /(?:^|[\s;&|(])(?:LD_\w+|DYLD_\w+|\w*(?:OPTIONS|PRELOAD|COMMAND|PAGER|EDITOR|ASKPASS|EXTERNAL_DIFF|RUSTC\w*|RUSTFLAGS)|PYTHON(?:PATH|STARTUP)|NODE_PATH|PATH|BASH_ENV|ENV|IFS|SHELL)=/

/** `getAndDelete` is read as `get And Delete`. */
export const hasRiskyName = (text: string): boolean => risky.test(text.replaceAll(/([a-z])([A-Z])/g, '$1 $2'))

/**
 * Whether a command line destroys, or may: what cannot be known counts. `known`: the rule names a program that is known to be
 * harmless, so that `npx` may run it, and words such as "remove" in its arguments say nothing.
 */
export async function isDestructive(
  command: string,
  { home, cwd, known = false }: Pick<PermissionQuestion, 'home' | 'cwd'> & { readonly known?: boolean },
): Promise<boolean> {
  if ((!known && hasRiskyName(command)) || inlineCode.test(command) || installs.test(command)) return true
  if (reachesOut.test(command) || loadsAnother.test(command)) return true
  const { ruling } = await judge({
    ...{ settings: known ? knownRunner : everyRunner, mode: 'bypassPermissions', tool: 'Bash' },
    ...{ input: { command }, hook: 'none' },
    ...{ home, cwd, projectDir: cwd },
  })
  return ruling.decision !== 'allow'
}

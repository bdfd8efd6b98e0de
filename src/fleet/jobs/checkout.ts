/** A checkout of its own for every attempt at a job, with a branch of its own. */
import { execFile } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Problem } from '../../files/problem.ts'

const run = promisify(execFile)

/** Git runs no program that an address names, asks nobody, and takes no hook of the machine's. */
const env = (): NodeJS.ProcessEnv => ({
  ...process.env,
  GIT_ALLOW_PROTOCOL: 'https:ssh:file',
  GIT_TERMINAL_PROMPT: '0',
  GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
})

/** A repository inside the checkout has a configuration of its own: git does not look into it. */
const quiet = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'protocol.ext.allow=never',
  'diff.ignoreSubmodules=all',
  'submodule.recurse=false',
]

async function git(cwd: string, ...words: string[]): Promise<string> {
  try {
    const { stdout } = await run('git', [...quiet.flatMap((each) => ['-c', each]), ...words], {
      ...{ cwd, env: env(), timeout: 10 * 60_000, maxBuffer: 16 * 1024 * 1024, encoding: 'utf8' },
    })
    return stdout.trim()
  } catch (cause) {
    const { stderr, message } = cause as Error & { stderr?: string }
    throw new Problem(`git ${words[0]}: ${(stderr || message).trim().split('\n').at(-1)}`)
  }
}

export interface Checkout {
  readonly folder: string
  readonly repo: string
  readonly branch: string
}

export async function makeCheckout(folder: string, repo: string, ref: string, branch: string): Promise<Checkout> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 })
  await git(dirname(folder), 'clone', '--quiet', '--no-checkout', '--', repo, folder)
  const commit = await git(folder, 'rev-parse', '--verify', '--quiet', `origin/${ref}^{commit}`).catch(() =>
    git(folder, 'rev-parse', '--verify', `${ref}^{commit}`),
  )
  await git(folder, 'checkout', '--quiet', '-b', branch, commit)
  return { folder, repo, branch }
}

/** What was changed, as a commit on the branch; undefined where nothing was. */
export async function commitChanges(
  { folder, repo, branch }: Checkout,
  message: string,
  push: boolean,
): Promise<string | undefined> {
  await resetConfiguration(folder, repo)
  await git(folder, 'add', '--all')
  const author = ['-c', 'user.name=ona fleet', '-c', 'user.email=ona-fleet@localhost', '-c', 'commit.gpgsign=false']
  if ((await git(folder, 'status', '--porcelain')) !== '')
    await git(folder, ...author, 'commit', '--quiet', '--no-verify', '-m', message)
  const [head, base] = [
    await git(folder, 'rev-parse', 'HEAD'),
    await git(folder, 'merge-base', 'HEAD', 'origin/HEAD').catch(() => ''),
  ]
  if (head === base) return undefined
  if (push) await git(folder, 'push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`)
  return head
}

/**
 * What works in a checkout can write its configuration, by which git runs programs (filters, monitors, helpers) and pushes
 * elsewhere. We run git there with the worker's rights, so the configuration becomes that of a new clone again.
 */
async function resetConfiguration(folder: string, repo: string): Promise<void> {
  const own = join(folder, '.git')
  if (!lstatSync(own, { throwIfNoEntry: false })?.isDirectory() || existsSync(join(own, 'commondir')))
    throw new Problem(`${own} is not the folder that the clone made; nothing was committed`)
  const file = join(own, 'config')
  const list = await git(dirname(folder), 'config', '--file', file, '--no-includes', '--list')
  const kept = list.split('\n').flatMap((line) => {
    const [, section, name, value] = plainSetting.exec(line) ?? []
    return section ? [`[${section}]\n\t${name} = ${value}\n`] : []
  })
  const origin = `[remote "origin"]\n\turl = ${JSON.stringify(repo)}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`
  rmSync(file)
  writeFileSync(file, `${kept.join('')}${origin}`)
}

/** How the objects are stored and what the file system can do; none of these names a program or a place. */
const plainSetting =
  /^(core|extensions)\.(repositoryformatversion|filemode|bare|ignorecase|symlinks|precomposeunicode|logallrefupdates|objectformat|refstorage)=([\w.-]+)$/

export const removeCheckout = ({ folder }: Pick<Checkout, 'folder'>): void => {
  if (existsSync(folder)) rmSync(folder, { recursive: true, force: true })
}

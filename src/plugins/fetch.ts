/** Fetches a source into a folder of our own. Git runs without hooks, filters, submodules, templates and prompts. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { leadsOut } from '../files/leads-out.ts'
import { statOf } from '../files/plain-file.ts'
import { Problem } from '../files/problem.ts'
import { gitUrl, type Source, saySource } from './source.ts'

export interface Fetched {
  /** The folder that holds it: the source itself for a local folder, otherwise a temporary copy. */
  readonly folder: string
  readonly sha?: string
  /** Removes the temporary copy. */
  clean(): void
}

const gitTimeoutMs = 120_000
const largestList = 4 << 20

/** `scratch`: where temporary copies lie, on the same disk as what they become. */
export async function fetchSource(source: Source, scratch: string): Promise<Fetched> {
  if (source.source === 'directory' || source.source === 'file') return local(source)
  mkdirSync(scratch, { recursive: true, mode: 0o700 })
  const folder = mkdtempSync(join(scratch, 'fetch-'))
  const clean = () => rmSync(folder, { recursive: true, force: true })
  try {
    if (source.source === 'url') return { folder: await download(source.url, folder), clean }
    const sha = await clone(gitUrl(source), join(folder, 'repo'), source)
    const inside = join(folder, 'repo', source.path ?? '')
    if (leadsOut(join(folder, 'repo'), inside) || !statOf(inside))
      throw new Problem(`${saySource(source)} has no folder ${source.path}`)
    return { folder: inside, sha, clean }
  } catch (error) {
    clean()
    throw error
  }
}

function local({ path, source }: Extract<Source, { source: 'directory' | 'file' }>): Fetched {
  const stat = statOf(path)
  const fits = source === 'directory' ? stat?.isDirectory() : stat?.isFile()
  if (!fits) throw new Problem(`${path}: there is no such ${source === 'directory' ? 'folder' : 'file'}`)
  return { folder: path, clean: () => {} }
}

async function clone(
  url: string,
  folder: string,
  at: { readonly ref?: string; readonly sha?: string },
): Promise<string> {
  // a commit may not be at the tip of anything, so it needs the whole history
  const shallow = at.sha === undefined ? ['--depth=1', '--single-branch'] : []
  const branch = at.ref === undefined ? [] : [`--branch=${at.ref}`]
  const words = ['clone', '--quiet', '--no-checkout', '--no-local', '--template=', '--no-recurse-submodules']
  await git(dirname(folder), [...words, ...shallow, ...branch, '--', url, folder], url)
  await git(folder, ['checkout', '--quiet', '--detach', at.sha ?? 'HEAD'], url)
  const sha = (await git(folder, ['rev-parse', 'HEAD'], url)).trim()
  if (at.sha !== undefined && sha !== at.sha) throw new Problem(`${url}: the commit is ${sha}, not ${at.sha}`)
  return sha
}

/** A fresh clone has no configuration of its own; these keep what a checkout could trigger from running. */
const quiet: Readonly<Record<string, string>> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.symlinks': 'true',
  'core.attributesFile': '/dev/null',
  'core.protectHFS': 'true',
  'core.protectNTFS': 'true',
  'fetch.fsckObjects': 'true',
  'transfer.fsckObjects': 'true',
  'submodule.recurse': 'false',
  'filter.lfs.smudge': '',
  'filter.lfs.process': '',
  'filter.lfs.required': 'false',
  'protocol.allow': 'never',
  'protocol.https.allow': 'always',
  'protocol.http.allow': 'always',
  'protocol.ssh.allow': 'always',
  'protocol.file.allow': 'always',
}

async function git(cwd: string, words: readonly string[], url: string): Promise<string> {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_') || name === 'GIT_SSL_CAINFO')
  const env: NodeJS.ProcessEnv = {
    ...Object.fromEntries(own),
    GIT_ALLOW_PROTOCOL: 'https:http:ssh:file',
    GIT_TERMINAL_PROMPT: '0',
    GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
    GIT_LFS_SKIP_SMUDGE: '1',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: String(Object.keys(quiet).length),
  }
  for (const [index, [name, value]] of Object.entries(quiet).entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = name
    env[`GIT_CONFIG_VALUE_${index}`] = value
  }
  return new Promise((done, fail) => {
    const options = { cwd, env, timeout: gitTimeoutMs, maxBuffer: 1 << 20, killSignal: 'SIGKILL' } as const
    execFile('git', words, options, (failure, stdout, stderr) => {
      if (!failure) return done(stdout)
      const why = failure.killed ? `git took over ${gitTimeoutMs / 1000} s` : stderr.trim() || failure.message
      fail(new Problem(`${url} cannot be fetched: ${why}`))
    })
  })
}

/** A marketplace.json by itself, put where a repository would have it. */
async function download(url: string, folder: string): Promise<string> {
  let text: string
  try {
    const reply = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(30_000) })
    if (!reply.ok) throw new Problem(`${url} answered ${reply.status}`)
    text = await bounded(reply)
  } catch (error) {
    if (error instanceof Problem) throw error
    throw new Problem(`${url} cannot be fetched: ${(error as Error).message}`)
  }
  const file = join(folder, '.claude-plugin', 'marketplace.json')
  if (!existsSync(dirname(file))) mkdirSync(dirname(file))
  writeFileSync(file, text)
  return folder
}

async function bounded(reply: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of reply.body ?? []) {
    size += part.length
    if (size > largestList) throw new Problem(`${reply.url} is over ${largestList >> 20} MiB`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

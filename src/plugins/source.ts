/** Where a plugin or a marketplace comes from: a folder, a git repository, GitHub, a file on the web. */
import { isAbsolute, resolve } from 'node:path'
import { isObject } from '../hooks/shape.ts'
import { pathProblem } from './manifest.ts'

/** In Claude Code's words, so that its settings and files can be read and compared. */
export type Source =
  | { readonly source: 'directory'; readonly path: string }
  | { readonly source: 'file'; readonly path: string }
  | {
      readonly source: 'git'
      readonly url: string
      readonly ref?: string
      readonly sha?: string
      readonly path?: string
    }
  | {
      readonly source: 'github'
      readonly repo: string
      readonly ref?: string
      readonly sha?: string
      readonly path?: string
    }
  | { readonly source: 'url'; readonly url: string }

type Read = { readonly source: Source } | { readonly problem: string }

const forms = 'owner/repo, a git URL such as https://host/x.git, a folder, or the https address of a marketplace.json'

/** As an operator types it; `#ref` names a branch or tag. */
export function sourceOfWord(word: string, cwd: string, isFolder: (path: string) => boolean): Read {
  const path = resolve(cwd, word.startsWith('file://') ? word : word.replace(/^~(?=\/|$)/, process.env['HOME'] ?? '~'))
  const looksLocal = /^(\.{0,2}\/|~\/|\.{1,2}$)/.test(word) || isAbsolute(word)
  if (looksLocal || (!/^[\w.-]+\/[\w.-]+([#@].*)?$/.test(word) && !word.includes(':') && isFolder(path)))
    return checkSource(path.endsWith('.json') ? { source: 'file', path } : { source: 'directory', path })
  const [, at = word, ref] = /^(.+?)#(.+)$/.exec(word) ?? []
  const also = ref === undefined ? {} : { ref }
  if (/^https:\/\/[^?]*\.json$/.test(at) || /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?\/.*\.json$/.test(at))
    return checkSource({ source: 'url', url: at })
  const [, repo, tag] = /^([\w.-]+\/[\w.-]+?)(?:@(.+))?$/.exec(at) ?? []
  if (repo) return checkSource({ source: 'github', repo, ...(tag ? { ref: tag } : also) })
  if (gitUrlProblem(at) === undefined) return checkSource({ source: 'git', url: at, ...also })
  return { problem: `"${word}" is not a source; give ${forms}` }
}

/** As settings and marketplaces write it. */
export function checkSource(value: unknown): Read {
  const problem = (why: string) => ({ problem: why })
  if (!isObject(value) || typeof value['source'] !== 'string')
    return problem('must be an object such as {"source": "github", "repo": "owner/name"}')
  const { source: kind, url, repo, path, ref, sha } = value
  if (ref !== undefined && !isRef(ref)) return problem(`.ref ${JSON.stringify(ref)} is not a branch or tag name`)
  if (sha !== undefined && !(typeof sha === 'string' && /^[0-9a-f]{40}$/.test(sha)))
    return problem(`.sha must be the 40 digits of a commit`)
  const at = { ...(typeof ref === 'string' && { ref }), ...(typeof sha === 'string' && { sha }) }
  if (kind === 'directory' || kind === 'file')
    return typeof path === 'string' && path !== '' ? { source: { source: kind, path } } : problem('.path is missing')
  if (path !== undefined && pathProblem(path)) return problem(`.path ${pathProblem(path)}`)
  const inside = typeof path === 'string' ? { path } : {}
  if (kind === 'github')
    return typeof repo === 'string' && /^[\w.-]+\/[\w.-]+$/.test(repo) && !repo.includes('..')
      ? { source: { source: 'github', repo, ...at, ...inside } }
      : problem('.repo must be "owner/name"')
  if (kind === 'git' || kind === 'git-subdir') {
    const why = gitUrlProblem(url)
    if (kind === 'git-subdir' && typeof path !== 'string') return problem('.path is missing: the folder of the plugin')
    return why ? problem(`.url ${why}`) : { source: { source: 'git', url: url as string, ...at, ...inside } }
  }
  if (kind === 'url') {
    if (typeof url !== 'string') return problem('.url is missing')
    if (!/\.json$/.test(url)) return checkSource({ ...value, source: 'git' }) // of a plugin: the address of a repository
    const ok = /^https:\/\//.test(url) || /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])[:/]/.test(url)
    return ok ? { source: { source: 'url', url } } : problem('.url must be https')
  }
  return problem(`.source is "${kind}", which ona does not fetch; there are github, git, url, directory and file`)
}

/** Transports that run a program of the URL's choosing (ext::), and words that git would read as options, are refused. */
export function gitUrlProblem(url: unknown): string | undefined {
  if (typeof url !== 'string' || url === '') return 'is missing'
  if (/[\p{Cc}\s]/u.test(url)) return 'has a blank or a control character'
  if (url.startsWith('-')) return 'starts with a hyphen'
  if (/^(https|ssh|file):\/\/[^-]/.test(url)) return undefined
  if (/^http:\/\/(127\.0\.0\.1|localhost|\[::1\])[:/]/.test(url)) return undefined
  if (/^[\w.-]+@[\w.-]+:[^:-]/.test(url)) return undefined
  return `${JSON.stringify(url)} must start with https://, ssh:// or file://, or be user@host:path`
}

const isRef = (ref: unknown): boolean =>
  typeof ref === 'string' && /^[\w][\w./+-]{0,199}$/.test(ref) && !ref.includes('..') && !ref.endsWith('.lock')

/** The address that git is given. */
export const gitUrl = (source: Extract<Source, { source: 'git' | 'github' }>): string =>
  source.source === 'git' ? source.url : `https://github.com/${source.repo}.git`

/** On one line, for a user. */
export function saySource(source: Source): string {
  const at = 'ref' in source && source.ref ? `#${source.ref}` : ''
  if (source.source === 'github') return `github.com/${source.repo}${at}`
  return 'url' in source ? `${source.url}${at}` : source.path
}

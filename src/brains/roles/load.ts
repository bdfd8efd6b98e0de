/** Roles from one file or one package. */
import { existsSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readPlainFile } from '../../files/plain-file.ts'
import { messageOf, Problem } from '../../files/problem.ts'
import { type ReadRole, type ReadRoles, readRole, readRoles } from '../read-roles.ts'
import { loadPackage, packageFolder } from '../suppliers.ts'

const endings = ['.ts', '.mts', '.js', '.mjs', '.cjs', '.yaml', '.yml', '.json']

/** The one file of that name, whatever it is written in; null when there is none. */
export function fileNamed(folder: string, name: string): string | null {
  const found = endings.map((ending) => join(folder, name + ending)).filter((path) => existsSync(path))
  if (found.length > 1)
    throw new Problem(`${found.map((path) => basename(path)).join(' and ')} both say the roles of ${folder}; keep one`)
  return found[0] ?? null
}

/** Roles of an `ona.roles.*` file. */
export const loadRolesFile = async (path: string, repo: string, runCode: boolean): Promise<ReadRoles> =>
  readRoles(await read(path, runCode), path, repo)

/** The role that a folder `.agent/repo=X/role=Y` holds itself. */
export async function loadRoleFile(path: string, repo: string, slug: string, runCode: boolean): Promise<ReadRole> {
  const value = await read(path, runCode)
  const given = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  const found = readRole({ slug, repo, ...given }, path, repo)
  const { role } = found
  if (role.slug !== slug || role.repo !== repo)
    throw new Problem(
      `${path} says slug ${role.slug} and repo ${role.repo}, its folder says ${slug} and ${repo}; make them the same`,
    )
  return found
}

/** Roles of a package named `rhachet-roles-*` or `ona-roles-*`, and the folder from which it names its own. */
export async function loadRolesPackage(
  name: string,
  from: string,
  runCode: boolean,
): Promise<ReadRoles & { folder: string }> {
  const folder = packageFolder(name, from)
  if (!folder) throw new Problem(`package.json names ${name}, which is not installed; run npm install`)
  const repo = name.replace(/^.*(rhachet|ona)-roles-/, '')
  const file = fileNamed(folder, 'ona.roles')
  if (file) return { ...(await loadRolesFile(file, repo, runCode)), folder }
  if (!runCode) throw new Problem(notRun(name))
  const loaded = (await loadPackage(name, from)) as Record<string, unknown>
  const give = loaded['getRoleRegistry'] ?? loaded['getRoleRegistries']
  if (typeof give !== 'function')
    throw new Problem(`${name} gives no roles: it exports no getRoleRegistry and has no ona.roles file`)
  const registries = [await calling(name, () => give())].flat()
  const found = registries.map((registry, index) => readRoles(registry, `${name}: registry ${index}`, repo))
  return { roles: found.flatMap(({ roles }) => roles), failed: found.flatMap(({ failed }) => failed), folder }
}

/** What a package does when it is called may fail in any way. */
async function calling<T>(name: string, work: () => T): Promise<Awaited<T>> {
  try {
    return await work()
  } catch (thrown) {
    throw new Problem(`${name} fails when its roles are loaded: ${messageOf(thrown)}`)
  }
}

const notRun = (what: string) => `${what} is a program, and this folder is not trusted to run any: ona init --trust`

async function read(path: string, runCode: boolean): Promise<unknown> {
  const ending = extname(path)
  if (/\.[mc]?[tj]s$/.test(ending)) {
    if (!runCode) throw new Problem(notRun(path))
    return fromModule(path)
  }
  const text = textOf(path)
  if (ending === '.json')
    return (await import('../../files/json-edit.ts')).parseObject(text.replace(/^\uFEFF/, ''), path).value
  const { parse, YAMLParseError } = await import('yaml')
  try {
    return parse(text, { logLevel: 'error' })
  } catch (thrown) {
    // anything else: an alias without its anchor, or so much that it would fill the memory
    if (!(thrown instanceof YAMLParseError)) throw new Problem(`${path}: ${(thrown as Error).message}`)
    const [at] = thrown.linePos ?? []
    throw new Problem(`${path}:${at?.line ?? 1}:${at?.col ?? 1}: ${thrown.message.split('\n')[0]}`)
  }
}

function textOf(path: string): string {
  try {
    return readPlainFile(path)
  } catch (thrown) {
    throw new Problem(`${path} cannot be read: ${(thrown as Error).message}`)
  }
}

async function fromModule(path: string): Promise<unknown> {
  let loaded: Record<string, unknown>
  try {
    loaded = await import(pathToFileURL(path).href)
  } catch (thrown) {
    throw new Problem(`${path} fails when it is loaded: ${messageOf(thrown)}`)
  }
  const give = loaded['getRoleRegistry']
  const value = typeof give === 'function' ? await give() : (loaded['default'] ?? loaded['roles'] ?? loaded['role'])
  if (value === undefined)
    throw new Problem(`${path} must export its roles: as default, "roles", "role" or getRoleRegistry()`)
  return value
}

/** The folder that a role's own paths start from. */
export const baseOf = (path: string): string => dirname(path)

/** Which roles a repository has: in `.agent/repo=X/role=Y`, in its own `ona.roles.*`, and in the packages it depends on. */
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { Problem, problemOf } from '../../files/problem.ts'
import type { ReadRoles } from '../read-roles.ts'
import { authorOf, type Role } from '../role.ts'
import { packagesNamed } from '../suppliers.ts'
import { baseOf, fileNamed, loadRoleFile, loadRolesFile, loadRolesPackage } from './load.ts'

export interface FoundRole {
  readonly role: Role
  readonly author: string
  /** Who declares it, in words. */
  readonly source: string
  /** The folder that the role's own paths start from. */
  readonly base: string
  /** Whether it has its folder under .agent. */
  readonly linked: boolean
  /** Whether that folder is itself the declaration. */
  readonly own: boolean
  /** What of its declaration is ignored or left out, and why. */
  readonly warnings: readonly string[]
  /** Hooks of it that are declared wrongly; those that an agent holds of it are kept. */
  readonly faults: readonly string[]
}

export interface Roles {
  readonly roles: readonly FoundRole[]
  /** Roles that are linked here and could not be loaded, with why. */
  readonly failed: readonly { readonly author: string; readonly why: string }[]
  /** Roles that are linked here and that nothing declares any more, though everything that could was read. */
  readonly gone: readonly string[]
  /** Roles that a source declares wrongly and that are not linked here. */
  readonly unusable: readonly { readonly author: string; readonly why: string }[]
  /** Sources that could not be read. */
  readonly problems: readonly string[]
}

const rolePackage = /^(@[^/]+\/)?(rhachet|ona)-roles-/

/** `runCode`: whether roles that are declared in TypeScript or JavaScript may be loaded, which runs it. */
export async function findRoles(root: string, { runCode }: { runCode: boolean }): Promise<Roles> {
  const { roles: offered, unusable, problems } = await offeredRoles(root, runCode)
  const found: FoundRole[] = [...offered]
  const failed: { author: string; why: string }[] = []
  const gone: string[] = []
  for (const folder of globSync('.agent/repo=*/role=*', { cwd: root }).sort()) {
    const [, repo, slug] = /repo=([^/\\]+)[/\\]role=([^/\\]+)$/.exec(folder)!
    const author = authorOf({ repo: repo!, slug: slug! })
    const index = found.findIndex((one) => one.author === author)
    try {
      const own = fileNamed(join(root, folder), 'role')
      if (own) {
        const read = await loadRoleFile(own, repo!, slug!, runCode)
        const source = own.slice(root.length + 1)
        found.push({ ...read, author, source, base: baseOf(own), linked: true, own: true })
      } else if (index >= 0) found[index] = { ...found[index]!, linked: true }
      else if (repo === '.this' && !unusable.some((one) => one.author === author)) {
        // briefs and skills of the repository's own, with no declaration and so with no hooks
        const role = { slug: slug!, repo }
        const base = join(root, folder)
        found.push({ role, author, source: folder, base, linked: true, own: true, warnings: [], faults: [] })
      } else if (unusable.length + problems.length === 0) gone.push(author)
      else failed.push({ author, why: whyMissing(folder, author, unusable) })
    } catch (thrown) {
      failed.push({ author, why: problemOf(thrown).message })
    }
  }
  for (const { author, source } of found) {
    const twin = found.find((one) => one.author === author && one.source !== source)
    if (twin) throw new Problem(`${source} and ${twin.source} both declare ${author}; remove one of them`)
  }
  const linked = new Set(failed.map(({ author }) => author))
  return { roles: found, failed, gone, unusable: unusable.filter(({ author }) => !linked.has(author)), problems }
}

function whyMissing(folder: string, author: string, unusable: Roles['unusable']): string {
  const whys = unusable.filter((one) => one.author === author)
  const said = (whys.length > 0 ? whys : unusable).map(({ why }) => why)
  return said.length > 0 ? said.join('; ') : `${folder} has no role file, and not every source of roles could be read`
}

/** Roles of the repository's own file and of the packages that it depends on. */
async function offeredRoles(root: string, runCode: boolean) {
  const roles: FoundRole[] = []
  const unusable: { author: string; why: string }[] = []
  const problems: string[] = []
  const offer = async (source: string, load: () => Promise<{ read: ReadRoles; base: string }>) => {
    try {
      const { read, base } = await load()
      for (const one of read.roles)
        roles.push({ ...one, author: authorOf(one.role), source, base, linked: false, own: false })
      for (const { slug = '?', repo, why } of read.failed) unusable.push({ author: authorOf({ slug, repo }), why })
    } catch (thrown) {
      problems.push(problemOf(thrown).message)
    }
  }
  const file = fileNamed(root, 'ona.roles')
  if (file)
    await offer(file.slice(root.length + 1), async () => ({
      read: await loadRolesFile(file, '.this', runCode),
      base: baseOf(file),
    }))
  for (const name of packagesNamed(rolePackage, root)) {
    await offer(name, async () => {
      const { folder, ...read } = await loadRolesPackage(name, root, runCode)
      return { read, base: folder }
    })
  }
  return { roles, unusable, problems }
}

/** Whether any role here may be declared in code; decided by names alone, without loading anything. */
export function hasCodeRoles(root: string): boolean {
  if (!existsSync(join(root, '.agent'))) return false
  const code = '{ts,mts,js,mjs,cjs}'
  return (
    globSync([`ona.roles.${code}`, `.agent/repo=*/role=*/role.${code}`], { cwd: root }).length > 0 ||
    packagesNamed(rolePackage, root).length > 0
  )
}

/** The role that a word means: "mechanic", "acme/mechanic" or "repo=acme/role=mechanic". */
export function roleNamed(word: string, { roles, failed, unusable, problems }: Roles): FoundRole {
  const [, repo, slug] = /^(?:(?:repo=)?([^/]+)\/)?(?:role=)?([^/]+)$/.exec(word) ?? []
  const fits = ({ role }: FoundRole) => role.slug === slug && (repo === undefined || role.repo === repo)
  const [first, ...others] = roles.filter(fits)
  if (first && others.length === 0) return first
  if (first) {
    const ways = [first, ...others].map(({ author, source }) => `  --roles ${author}   (${source})`)
    throw new Problem(`there is more than one role "${word}"; say which:\n${ways.join('\n')}`)
  }
  const broken = [...failed, ...unusable].find(({ author }) => author.endsWith(`/role=${slug}`))
  if (broken) throw new Problem(`the role "${word}" cannot be loaded: ${broken.why}`)
  const names = roles.map(({ role }) => role.slug).join(', ') || 'none'
  throw new Problem([`there is no role "${word}" here; the roles are: ${names}`, ...problems].join('\n'))
}

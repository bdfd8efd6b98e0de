/** Which roles a repository has: in `.agent/repo=X/role=Y`, in its own `ona.roles.*`, and in the packages it depends on. */
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { Problem, problemOf } from '../../files/problem.ts'
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
}

export interface Roles {
  readonly roles: readonly FoundRole[]
  /** Roles that are linked here and could not be loaded, with why. */
  readonly failed: readonly { readonly author: string; readonly why: string }[]
  /** Sources that could not be read. */
  readonly problems: readonly string[]
}

const rolePackage = /^(@[^/]+\/)?(rhachet|ona)-roles-/

/** `runCode`: whether roles that are declared in TypeScript or JavaScript may be loaded, which runs it. */
export async function findRoles(root: string, { runCode }: { runCode: boolean }): Promise<Roles> {
  const problems: string[] = []
  const offered: FoundRole[] = []
  const offer = async (source: string, load: () => Promise<{ roles: readonly Role[]; base: string }>) => {
    try {
      const { roles, base } = await load()
      for (const role of roles) offered.push({ role, author: authorOf(role), source, base, linked: false, own: false })
    } catch (thrown) {
      problems.push(problemOf(thrown).message)
    }
  }
  const file = fileNamed(root, 'ona.roles')
  if (file)
    await offer(file.slice(root.length + 1), async () => ({
      roles: await loadRolesFile(file, '.this', runCode),
      base: baseOf(file),
    }))
  for (const name of packagesNamed(rolePackage, root)) {
    await offer(name, async () => {
      const { roles, folder } = await loadRolesPackage(name, root, runCode)
      return { roles, base: folder }
    })
  }

  const found: FoundRole[] = [...offered]
  const failed: { author: string; why: string }[] = []
  for (const folder of globSync('.agent/repo=*/role=*', { cwd: root }).sort()) {
    const [, repo, slug] = /repo=([^/\\]+)[/\\]role=([^/\\]+)$/.exec(folder)!
    const author = authorOf({ repo: repo!, slug: slug! })
    try {
      const own = fileNamed(join(root, folder), 'role')
      const index = found.findIndex((one) => one.author === author)
      if (own) {
        const role = await loadRoleFile(own, repo!, slug!, runCode)
        found.push({ role, author, source: own.slice(root.length + 1), base: baseOf(own), linked: true, own: true })
      } else if (index >= 0) found[index] = { ...found[index]!, linked: true }
      else
        failed.push({
          author,
          why: `${folder} has no role file, and nothing that this repository depends on declares ${author}`,
        })
    } catch (thrown) {
      failed.push({ author, why: problemOf(thrown).message })
    }
  }
  for (const { author, source } of found) {
    const twin = found.find((one) => one.author === author && one.source !== source)
    if (twin) throw new Problem(`${source} and ${twin.source} both declare ${author}; take one of them out`)
  }
  return { roles: found, failed, problems }
}

/** Whether any role here may be declared in code; told by names alone, without loading anything. */
export function hasCodeRoles(root: string): boolean {
  if (!existsSync(join(root, '.agent'))) return false
  const code = '{ts,mts,js,mjs,cjs}'
  return (
    globSync([`ona.roles.${code}`, `.agent/repo=*/role=*/role.${code}`], { cwd: root }).length > 0 ||
    packagesNamed(rolePackage, root).length > 0
  )
}

/** The role that a word means: "mechanic", "acme/mechanic" or "repo=acme/role=mechanic". */
export function roleNamed(word: string, { roles, failed, problems }: Roles): FoundRole {
  const [, repo, slug] = /^(?:(?:repo=)?([^/]+)\/)?(?:role=)?([^/]+)$/.exec(word) ?? []
  const fits = ({ role }: FoundRole) => role.slug === slug && (repo === undefined || role.repo === repo)
  const [first, ...others] = roles.filter(fits)
  if (first && others.length === 0) return first
  if (first) {
    const ways = [first, ...others].map(({ author, source }) => `  --roles ${author}   (${source})`)
    throw new Problem(`there is more than one role "${word}"; say which:\n${ways.join('\n')}`)
  }
  const broken = failed.find(({ author }) => author.endsWith(`/role=${slug}`))
  if (broken) throw new Problem(`the role "${word}" cannot be loaded: ${broken.why}`)
  const names = roles.map(({ role }) => role.slug).join(', ') || 'none'
  throw new Problem([`there is no role "${word}" here; the roles are: ${names}`, ...problems].join('\n'))
}

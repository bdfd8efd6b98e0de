/** The files of linked roles, under `.agent/repo=R/role=Y/`: what `rhachet run` starts and `rhachet roles boot` prints. */
import { globSync, readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Problem } from '../../files/problem.ts'

export interface RoleFolder {
  readonly repo: string
  readonly slug: string
  /** From the root. */
  readonly folder: string
}

export interface RoleQuery {
  readonly repo?: string
  readonly role?: string
}

/** The linked roles that a query means; all of them when it says nothing. */
export function roleFolders(root: string, { repo, role }: RoleQuery): RoleFolder[] {
  return globSync('.agent/repo=*/role=*', { cwd: root })
    .sort()
    .map((folder) => {
      const [, from, slug] = /repo=([^/\\]+)[/\\]role=([^/\\]+)$/.exec(folder)!
      return { repo: from!, slug: slug!, folder }
    })
    .filter((one) => (repo === undefined || one.repo === repo) && (role === undefined || one.slug === role))
}

/** The files below a folder of a role, links followed; from the root, sorted. */
export function filesOf(root: string, folder: string, depth = 8): string[] {
  const path = join(root, folder)
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory() || depth === 0) return []
  return readdirSync(path)
    .sort()
    .flatMap((name) => {
      const stat = statSync(join(path, name), { throwIfNoEntry: false })
      if (!stat || name.startsWith('.')) return []
      const inside = join(folder, name)
      return stat.isDirectory() ? filesOf(root, inside, depth - 1) : [inside]
    })
}

/**
 * The one file that a name means among the inits or skills of the linked roles. The name may leave out the extension and use
 * "/" or "." between folders: `claude.hooks/pretooluse.check-permissions`.
 */
export function executableNamed(
  root: string,
  query: RoleQuery & { readonly kind: 'inits' | 'skills'; readonly name: string },
): string {
  const { kind, name } = query
  const wanted = dotted(name)
  const roles = roleFolders(root, query)
  const found = roles.flatMap(({ folder }) => {
    const top = join(folder, kind)
    const fits = (file: string) => {
      const own = dotted(relative(top, file))
      return own === wanted || own.replace(/\.[^.]+$/, '') === wanted
    }
    return filesOf(root, top).filter(fits)
  })
  const [first, ...more] = found
  if (first && more.length === 0) return first
  const where = query.role ? ` of ${roles.map(({ folder }) => folder).join(', ') || `the role ${query.role}`}` : ''
  if (!first) throw new Problem(`there is no ${kind.slice(0, -1)} "${name}" among the ${kind}${where}`)
  throw new Problem(
    `there is more than one ${kind.slice(0, -1)} "${name}"; use --repo and --role:\n${found.map((file) => `  ${file}`).join('\n')}`,
  )
}

const dotted = (path: string) => path.replace(/^\.\//, '').replaceAll(/[/\\]/g, '.')

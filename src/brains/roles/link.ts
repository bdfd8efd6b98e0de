/** Links a role into the repository: `.agent/repo=X/role=Y` with its briefs, skills and inits. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { Problem } from '../../files/problem.ts'
import { dirsOf } from '../role.ts'
import type { FoundRole } from './find.ts'

/** The folder, from the root, and whether anything had to be made or changed. */
export function linkRole(
  root: string,
  { role, author, source, base, own }: FoundRole,
): { folder: string; changed: boolean } {
  const folder = join('.agent', ...author.split('/'))
  if (own) return { folder, changed: false }
  const home = join(root, folder)
  let changed = !existsSync(home)
  mkdirSync(home, { recursive: true })
  for (const kind of ['briefs', 'skills', 'inits'] as const) {
    const dirs = dirsOf(role[kind]).map((dir) => resolve(base, dir))
    for (const dir of dirs)
      if (!existsSync(dir)) throw new Problem(`${source}: ${author} names the folder ${dir}, which is not there`)
    const [only, ...more] = dirs
    if (only && more.length === 0) changed = link(join(home, kind), only) || changed
    else for (const dir of dirs) changed = link(join(home, kind, basename(dir)), dir) || changed
  }
  if (role.boot !== undefined) {
    const [boot] = dirsOf({ dirs: role.boot })
    changed = link(join(home, 'boot.yml'), resolve(base, boot!)) || changed
  }
  // so that the folder is kept by git and says what it is
  const readme = join(home, 'readme.md')
  if (!existsSync(readme)) {
    writeFileSync(
      readme,
      `# ${role.slug}\n\n${role.purpose ?? `The role ${author}.`}\n\nLinked from ${source} by \`ona init --roles ${role.slug}\`.\n`,
    )
    changed = true
  }
  return { folder, changed }
}

/** Removes the folder of a role that is linked. What is in it is links and our readme; anything else is kept and named. */
export function unlinkRole(root: string, author: string): { folder: string } {
  const folder = join('.agent', ...author.split('/'))
  const home = join(root, folder)
  const kept = linkedParts(home).filter((path) => !lstatSync(path).isSymbolicLink() && basename(path) !== 'readme.md')
  if (kept.length > 0)
    throw new Problem(
      `${folder} holds files of its own (${kept.map((path) => relative(root, path)).join(', ')}); move or delete them, then unlink again`,
    )
  rmSync(home, { recursive: true })
  const repo = dirname(home)
  if (readdirSync(repo).length === 0) rmdirSync(repo)
  return { folder }
}

/** Everything in a role's folder that is not a folder; links are not followed. */
const linkedParts = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? linkedParts(join(folder, entry.name)) : [join(folder, entry.name)],
  )

function link(path: string, target: string): boolean {
  mkdirSync(dirname(path), { recursive: true })
  const to = relative(dirname(path), target)
  const there = lstatSync(path, { throwIfNoEntry: false })
  if (there && !there.isSymbolicLink())
    throw new Problem(`${path} is in the way: a link to ${target} should stand there; move it`)
  if (there && readlinkSync(path) === to) return false
  if (there) rmSync(path)
  symlinkSync(to, path, process.platform === 'win32' ? 'junction' : 'dir')
  return true
}

/** Links a role into the repository: `.agent/repo=X/role=Y` with its briefs, skills and inits. */
import { existsSync, lstatSync, mkdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
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

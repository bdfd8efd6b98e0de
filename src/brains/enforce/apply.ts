/** Installs a compiled policy on a machine, or in a folder that stands for one; reports what differs; removes it. */
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type FileEdit, locked, readText, writeAll } from '../../files/file-edits.ts'
import { leadsOut } from '../../files/leads-out.ts'
import { Problem } from '../../files/problem.ts'
import type { Compiled } from './compile.ts'

export interface AppliedFile {
  readonly host: string
  /** null: there was no such file. */
  readonly before: string | null
  /** Digest of what was written. */
  readonly after: string
  /** Digest of what an earlier policy had written, which is there until this one is. */
  readonly was?: string
  /** Nobody else writes it. */
  readonly own?: true
}

export interface Applied {
  readonly version: 1
  readonly digest: string
  readonly files: Readonly<Record<string, AppliedFile>>
  /** The agents that the policy is for, those without a file too. */
  readonly hosts?: readonly string[]
  /** Folders that were not there before, from the root. */
  readonly made?: readonly string[]
}

/** Outside `policy`, whose files it describes. */
const statePath = '/etc/ona/policy-state.json'

const digest = (text: string) => createHash('sha256').update(text).digest('hex')

export function readApplied(root: string): Applied | null {
  const text = readText(join(root, statePath))
  if (text === null) return null
  try {
    const state = JSON.parse(text) as Applied
    if (state.version === 1 && typeof state.files === 'object') return state
  } catch {
    // said below
  }
  throw new Problem(
    `${join(root, statePath)} is not what ona wrote; restore it from a backup, or remove the policy's files by hand`,
  )
}

export interface ApplyOptions {
  /** "/" or a folder that stands for it. */
  readonly root: string
  /** Takes files that were changed since they were written as if they had not been. */
  readonly force: boolean
}

/** What would be written, and the state that goes with it. */
export function planApply(
  compiled: Compiled,
  { root, force }: ApplyOptions,
  missing = missingFolders(compiled, root),
): { edits: FileEdit[]; state: Applied } {
  const state = readApplied(root)
  const edits: FileEdit[] = []
  const files: Record<string, AppliedFile> = {}
  for (const [host, list] of compiled.files)
    for (const file of list) {
      const target = join(root, file.path)
      const current = currentText(root, file.path)
      const known = state?.files[file.path]
      if (known && isForeign(known, current) && !force)
        throw new Problem(
          `${target} was changed since the policy was applied; look at it, then use --force to rewrite it from what was there before`,
        )
      const before = known ? known.before : current
      const after = file.merge(file.own ? null : before)
      if (file.own && !known && current !== null && current !== after && !force)
        throw new Problem(
          `${target} is there already and was not written by ona; move it, or use --force to replace it`,
        )
      const was = known && known.after !== digest(after) ? { was: known.after } : {}
      files[file.path] = { host, before, after: digest(after), ...was, ...(file.own && { own: true as const }) }
      edits.push({ path: target, before: current, after })
    }
  // what an earlier policy wrote and this one does not
  for (const [path, known] of Object.entries(state?.files ?? {}))
    if (!files[path]) edits.push(restoring(root, path, known, force))
  const made = [...new Set([...(state?.made ?? []), ...missing])].sort()
  const slugs = [...compiled.files.keys()].filter(Boolean)
  const next: Applied = { version: 1, digest: compiled.digest, files, hosts: slugs, made }
  edits.push({
    path: join(root, statePath),
    before: readText(join(root, statePath)),
    after: `${JSON.stringify(next, null, 2)}\n`,
  })
  return { edits: edits.filter(({ before, after }) => before !== after), state: next }
}

export async function applyPolicy(
  compiled: Compiled,
  options: ApplyOptions,
): Promise<{ changed: string[]; state: Applied }> {
  // the lock is a file beside the state, and makes its folder
  const missing = missingFolders(compiled, options.root)
  refuseLink(options.root, statePath)
  const umask = process.umask(0o022) // other users must be able to read a policy, and only root to change it
  try {
    return await locked([join(options.root, statePath)], async () => {
      const plan = planApply(compiled, options, missing)
      sweep(options.root, plan.state)
      writeStateFirst(plan.edits, join(options.root, statePath))
      return { changed: plan.edits.map(({ path }) => path), state: plan.state }
    })
  } finally {
    process.umask(umask)
  }
}

/** Restores every file byte for byte. */
export async function removePolicy({ root, force }: ApplyOptions): Promise<{ removed: string[] }> {
  const state = readApplied(root)
  if (!state) throw new Problem(`no policy is applied in ${root}`)
  const edits = Object.entries(state.files).map(([path, known]) => restoring(root, path, known, force))
  const own = join(root, statePath)
  edits.push({ path: own, before: readText(own), after: null })
  const real = edits.filter(({ before, after }) => before !== after)
  await locked([own], async () => {
    sweep(root, state)
    writeAll(real)
  })
  const folders = new Set([...Object.keys(state.files), statePath].flatMap(foldersOf))
  for (const folder of [...folders].sort().reverse()) restoreFolder(join(root, folder), state.made?.includes(folder))
  return { removed: real.map(({ path }) => path) }
}

/** Whether somebody else has changed a file: it is neither what we wrote nor, where we were interrupted, what was there. */
const isForeign = (known: AppliedFile, current: string | null): boolean =>
  !known.own &&
  current !== null &&
  current !== known.before &&
  digest(current) !== known.after &&
  digest(current) !== known.was

/** Whatever ends us between two files, the state says what was there before them, and which folders were not. */
function writeStateFirst(edits: readonly FileEdit[], path: string): void {
  const state = edits.filter((edit) => edit.path === path)
  writeAll(state)
  try {
    writeAll(edits.filter((edit) => edit.path !== path))
  } catch (thrown) {
    writeAll(state.map(({ before, after }) => ({ path, before: after, after: before })))
    throw thrown
  }
}

/** Removes what an apply that was killed had staged beside these files. */
function sweep(root: string, { files }: Applied): void {
  const names = new Set([...Object.keys(files), statePath].map((path) => join(root, path)))
  for (const folder of new Set([...names].map((path) => dirname(path))))
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const [, staged] = /^\.(.+)\.\d+-\d+\.tmp$/.exec(name) ?? []
      if (staged && names.has(join(folder, staged))) rmSync(join(folder, name))
    }
}

function restoring(root: string, path: string, known: AppliedFile, force: boolean): FileEdit {
  const current = currentText(root, path)
  if (isForeign(known, current) && !force)
    throw new Problem(
      `${join(root, path)} was changed since the policy was applied; use --force to restore what was there before it`,
    )
  return { path: join(root, path), before: current, after: known.before }
}

export interface FileStatus {
  readonly path: string
  readonly state: 'applied' | 'missing' | 'drifted'
  /** What differs, where the file is there. */
  readonly why?: string
}

/** Each host's files against what was applied. */
export function statusOf(root: string, state: Applied): Map<string, FileStatus[]> {
  const byHost = new Map<string, FileStatus[]>()
  for (const host of state.hosts ?? []) byHost.set(host, [])
  for (const [path, { host, after }] of Object.entries(state.files))
    byHost.set(host, [...(byHost.get(host) ?? []), fileStatus(root, path, after)])
  const own = Object.keys(state.files).find((path) => path.endsWith('/policy.json'))
  const extra = own ? strangers(root, dirname(own), state) : []
  if (extra.length > 0) byHost.set('', [...(byHost.get('') ?? []), ...extra])
  return byHost
}

function fileStatus(root: string, path: string, after: string): FileStatus {
  const drifted = (why: string): FileStatus => ({ path, state: 'drifted', why })
  const target = join(root, path)
  const stat = lstatSync(target, { throwIfNoEntry: false })
  if (!stat) return { path, state: 'missing' }
  if (stat.isSymbolicLink() || leadsOut(root, target)) return drifted('is, or lies behind, a symbolic link')
  if (!stat.isFile()) return drifted('is not a file')
  let text: string | null
  try {
    text = readText(target)
  } catch (thrown) {
    return drifted((thrown as Error).message)
  }
  if (text === null || digest(text) !== after) return drifted('was edited')
  const loose = [target, ...foldersOf(path).map((folder) => join(root, folder))].find((one) => whyLoose(root, one))
  return loose ? drifted(`${loose === target ? 'it' : loose} ${whyLoose(root, loose)}`) : { path, state: 'applied' }
}

/** Why somebody other than the owner of the root can change a file or folder; null where nobody can. */
function whyLoose(root: string, path: string): string | null {
  const { mode, uid } = statSync(path)
  if (uid !== statSync(root).uid) return `belongs to the user ${uid}`
  return (mode & 0o022) !== 0 && (mode & 0o1000) === 0 ? 'can be written to by others' : null
}

/** Files in the policy's own folder that are not part of it. */
function strangers(root: string, folder: string, { files }: Applied): FileStatus[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => `/${relative(root, join(entry.parentPath, entry.name))}`)
    .filter((path) => files[path] === undefined)
    .sort()
    .map((path) => ({ path, state: 'drifted', why: 'is not part of the policy' }))
}

function currentText(root: string, path: string): string | null {
  refuseLink(root, path)
  return readText(join(root, path))
}

function refuseLink(root: string, path: string): void {
  const target = join(root, path)
  if (leadsOut(root, target) || lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new Problem(`${target} is, or lies behind, a symbolic link; a policy is written to plain files only`)
}

const missingFolders = ({ files }: Compiled, root: string): string[] =>
  [...[...files.values()].flat().map(({ path }) => path), statePath]
    .flatMap(foldersOf)
    .filter((folder) => !existsSync(join(root, folder)))

/** The folders that a path lies in, the root left out. */
function foldersOf(path: string): string[] {
  const folder = dirname(path)
  return folder === '/' ? [] : [...foldersOf(folder), folder]
}

/** A folder that was there stays, though it may be empty; one that we made goes when nothing is left in it. */
function restoreFolder(folder: string, made = false): void {
  if (!made) mkdirSync(folder, { recursive: true })
  else if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder)
}

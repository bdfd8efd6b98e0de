/** Installs a compiled policy on a machine, or in a folder that stands for one; reports what differs; removes it. */
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
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
  /** Nobody else writes it. */
  readonly own?: true
}

export interface Applied {
  readonly version: 1
  readonly digest: string
  readonly files: Readonly<Record<string, AppliedFile>>
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
      const drifted = known !== undefined && !known.own && current !== null && digest(current) !== known.after
      if (drifted && !force)
        throw new Problem(
          `${target} was changed since the policy was applied; look at it, then use --force to rewrite it from what was there before`,
        )
      const before = known ? known.before : current
      const after = file.merge(file.own ? null : before)
      if (file.own && !known && current !== null && current !== after && !force)
        throw new Problem(
          `${target} is there already and was not written by ona; move it, or use --force to replace it`,
        )
      files[file.path] = { host, before, after: digest(after), ...(file.own && { own: true as const }) }
      edits.push({ path: target, before: current, after })
    }
  // what an earlier policy wrote and this one does not
  for (const [path, known] of Object.entries(state?.files ?? {}))
    if (!files[path]) edits.push(restoring(root, path, known, force))
  const made = [...new Set([...(state?.made ?? []), ...missing])].sort()
  const next: Applied = { version: 1, digest: compiled.digest, files, made }
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
  // locks are files beside those that they guard, and make their folders
  const missing = missingFolders(compiled, options.root)
  const { edits, state } = planApply(compiled, options, missing)
  if (edits.length === 0) return { changed: [], state }
  const umask = process.umask(0o022) // other users must be able to read a policy, and only root to change it
  try {
    return await locked(
      edits.map(({ path }) => path),
      async () => {
        const plan = planApply(compiled, options, missing)
        writeAll(plan.edits)
        return { changed: plan.edits.map(({ path }) => path), state: plan.state }
      },
    )
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
  await locked(
    real.map(({ path }) => path),
    async () => writeAll(real),
  )
  const folders = new Set([...Object.keys(state.files), statePath].flatMap(foldersOf))
  for (const folder of [...folders].sort().reverse()) restoreFolder(join(root, folder), state.made?.includes(folder))
  return { removed: real.map(({ path }) => path) }
}

function restoring(root: string, path: string, known: AppliedFile, force: boolean): FileEdit {
  const current = currentText(root, path)
  if (!known.own && current !== null && digest(current) !== known.after && !force)
    throw new Problem(
      `${join(root, path)} was changed since the policy was applied; use --force to restore what was there before it`,
    )
  return { path: join(root, path), before: current, after: known.before }
}

export interface FileStatus {
  readonly path: string
  readonly state: 'applied' | 'missing' | 'drifted'
}

/** Each host's files against what was applied. */
export function statusOf(root: string, state: Applied): Map<string, FileStatus[]> {
  const byHost = new Map<string, FileStatus[]>()
  for (const [path, { host, after }] of Object.entries(state.files)) {
    const text = currentText(root, path)
    const status = { path, state: text === null ? 'missing' : digest(text) === after ? 'applied' : 'drifted' } as const
    byHost.set(host, [...(byHost.get(host) ?? []), status])
  }
  return byHost
}

function currentText(root: string, path: string): string | null {
  const target = join(root, path)
  if (leadsOut(root, target) || lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new Problem(`${target} is, or lies behind, a symbolic link; a policy is written to plain files only`)
  return readText(target)
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

/** The files of a project for `@`: what git knows, or what a walk finds, and those of them that match. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { git } from '../../hooks/quiet-git.ts'

const most = 50_000
const freshMs = 5_000
const passedOver = new Set(['.git', 'node_modules', '.venv', '__pycache__', 'target', '.cache'])

/** `ignored`: what git ignores is offered too (the setting respectGitignore). */
export function fileFinder(cwd: () => string, ignored: () => boolean): (wanted: string) => Promise<string[]> {
  let list: { at: number; cwd: string; files: Promise<string[]> } | undefined
  return async (wanted) => {
    if (!list || list.cwd !== cwd() || Date.now() - list.at > freshMs)
      list = { at: Date.now(), cwd: cwd(), files: listFiles(cwd(), ignored()) }
    return best(await list.files, wanted, 15)
  }
}

async function listFiles(cwd: string, ignored: boolean): Promise<string[]> {
  const listed = await git(cwd, ['ls-files', '-co', '--exclude-standard', '-z'], { timeoutMs: 3_000 })
  const known = listed.ok ? listed.text.split('\0').filter(Boolean).slice(0, most) : undefined
  const files = ignored || !known ? await walk(cwd) : known
  const folders = new Set<string>()
  for (const file of files)
    for (let cut = file.lastIndexOf('/'); cut > 0; cut = file.lastIndexOf('/', cut - 1))
      folders.add(file.slice(0, cut + 1))
  return [...folders, ...files]
}

async function walk(root: string): Promise<string[]> {
  const found: string[] = []
  const open = ['']
  while (open.length > 0 && found.length < most) {
    const folder = open.shift()!
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []) // unreadable: nothing to offer
    for (const entry of entries) {
      if (entry.isDirectory() && !passedOver.has(entry.name)) open.push(`${folder}${entry.name}/`)
      else if (entry.isFile()) found.push(folder + entry.name)
    }
  }
  return found
}

/** Paths in which the letters come in this order; the closer together and the nearer the name, the better. */
function best(files: readonly string[], wanted: string, count: number): string[] {
  const needle = wanted.toLowerCase()
  const scored: { file: string; score: number }[] = []
  for (const file of files) {
    const score = scoreOf(file, needle)
    if (score !== undefined) scored.push({ file, score })
  }
  return scored
    .sort((a, b) => a.score - b.score || a.file.length - b.file.length || (a.file < b.file ? -1 : 1))
    .slice(0, count)
    .map(({ file }) => file)
}

function scoreOf(file: string, needle: string): number | undefined {
  if (needle === '') return file.split('/').length * 10 - (file.endsWith('/') ? 10 : 0)
  const text = file.toLowerCase()
  const name = text.slice(text.replace(/\/$/, '').lastIndexOf('/') + 1)
  if (name.startsWith(needle)) return 0
  if (text.startsWith(needle)) return 1
  if (name.includes(needle)) return 2
  if (text.includes(needle)) return 3
  let from = -1
  let gaps = 0
  for (const letter of needle) {
    const at = text.indexOf(letter, from + 1)
    if (at < 0) return undefined
    if (from >= 0) gaps += at - from - 1
    from = at
  }
  return 10 + gaps
}

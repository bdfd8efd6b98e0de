/** The files of a project for `@`: what git knows, or what a walk finds, and those of them that match. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as yielded } from 'node:timers/promises'
import { git } from '../../hooks/process/quiet-git.ts'

/** Characters of all paths together: about a million paths. */
const most = 64 << 20
const freshMs = 5_000
const shownFiles = 15
/** So many paths are looked at before the terminal gets its turn. */
const slice = 20_000
const passedOver = new Set(['.git', 'node_modules', '.venv', '__pycache__', 'target', '.cache'])

/** Paths, each followed by a NUL: one text takes a fraction of the memory that as many strings do. */
interface Paths {
  readonly text: string
  readonly lower: string
}

/** `ignored`: what git ignores is offered too (the setting respectGitignore). A newer question ends an older one. */
export function fileFinder(cwd: () => string, ignored: () => boolean): (wanted: string) => Promise<string[]> {
  let list: { at: number; cwd: string; paths: Promise<Paths> } | undefined
  let latest = 0
  return async (wanted) => {
    const question = ++latest
    if (!list || list.cwd !== cwd()) list = { at: Date.now(), cwd: cwd(), paths: listFiles(cwd(), ignored()) }
    else if (Date.now() - list.at > freshMs) {
      // the old list serves until the new one is there
      const [old, place] = [list, cwd()]
      list = { ...old, at: Date.now() }
      void listFiles(place, ignored()).then((paths) => {
        if (list?.cwd === place) list = { at: Date.now(), cwd: place, paths: Promise.resolve(paths) }
      })
    }
    return best(await list.paths, folded(wanted), () => question !== latest)
  }
}

async function listFiles(cwd: string, ignored: boolean): Promise<Paths> {
  const listed = ignored
    ? undefined
    : await git(cwd, ['ls-files', '-co', '--exclude-standard', '-z'], { timeoutMs: 10_000 })
  const text = listed?.ok ? listed.text : await walk(cwd)
  return { text, lower: folded(text) }
}

/** Of the same length, so that places agree: İ alone is longer in lower case. */
const folded = (text: string): string => text.replaceAll('İ', 'I').toLowerCase()

async function walk(root: string): Promise<string> {
  const open = ['']
  let text = ''
  for (let next = 0; next < open.length && text.length < most; next++) {
    const folder = open[next]!
    open[next] = ''
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []) // unreadable: nothing to offer
    for (const entry of entries) {
      if (entry.isDirectory() && !passedOver.has(entry.name)) open.push(`${folder}${entry.name}/`)
      else if (entry.isFile() || entry.isSymbolicLink()) text += `${folder}${entry.name}\0`
    }
  }
  return text
}

interface Match {
  readonly path: string
  readonly score: number
}

/** Paths in which the letters come in this order; the closer together and the nearer the name, the better. */
async function best({ text, lower }: Paths, needle: string, isOver: () => boolean): Promise<string[]> {
  const found: Match[] = []
  const offer = (start: number, end: number) => {
    if (!hasLetters(lower, start, end, needle)) return
    const score = scoreOf(lower.slice(start, end), needle)
    const last = found.at(-1)
    if (score === undefined || (found.length === shownFiles && score > last!.score)) return
    const match = { path: text.slice(start, end), score }
    if (found.some(({ path }) => path === match.path)) return
    const at = found.findIndex((other) => order(match, other) < 0)
    found.splice(at < 0 ? found.length : at, 0, match)
    if (found.length > shownFiles) found.pop()
  }
  let before = 0
  let cut = text.indexOf('/') // the next one, wherever it is: looked for from each path again, it would be far away each time
  for (let start = 0, count = 1; start < text.length; count++) {
    if (count % slice === 0) {
      await yielded()
      if (isOver()) return []
    }
    const end = text.indexOf('\0', start)
    // folders that the path before did not lie in
    for (; cut >= 0 && cut < end; cut = text.indexOf('/', cut + 1))
      if (start === 0 || !sharesStart(text, before, start, cut + 1 - start)) offer(start, cut + 1)
    offer(start, end)
    before = start
    start = end + 1
  }
  return found.map(({ path }) => path)
}

const order = (a: Match, b: Match): number =>
  a.score - b.score || a.path.length - b.path.length || (a.path < b.path ? -1 : 1)

function sharesStart(text: string, one: number, other: number, length: number): boolean {
  for (let at = length - 1; at >= 0; at--) if (text.charCodeAt(one + at) !== text.charCodeAt(other + at)) return false
  return true
}

/** Without making a string of every path. */
function hasLetters(text: string, start: number, end: number, needle: string): boolean {
  let wanted = 0
  for (let at = start; at < end && wanted < needle.length; at++)
    if (text.charCodeAt(at) === needle.charCodeAt(wanted)) wanted++
  return wanted === needle.length
}

function scoreOf(text: string, needle: string): number | undefined {
  if (needle === '') return text.split('/').length * 10 - (text.endsWith('/') ? 10 : 0)
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

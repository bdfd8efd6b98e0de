/** Searching with ripgrep: the one that came with us, or the one on the user's PATH. */
import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { onPath } from '../../hooks/handlers/find-program.ts'
import { withoutCredentials } from '../../hooks/secrets/secret-names.ts'
import { packageRoot } from '../../package-root.ts'
import { Bounded } from '../bounded.ts'
import { clip, type Found, type FoundFile, type FoundLine, heldBytes, type Search, searchLimits } from './search.ts'
import { versionControl } from './walk.ts'

/** Looked for once; `null` when there is none. */
let ours: string | null | undefined

/** Undefined: there is none, and the own walk does it. `ONA_RIPGREP=off` asks for that walk. */
export function findRipgrep(env: NodeJS.ProcessEnv): string | undefined {
  if (env['ONA_RIPGREP'] === 'off') return undefined
  ours ??= packaged() ?? null
  return ours ?? onPath(['rg'], env)
}

function packaged(): string | undefined {
  const name = process.platform === 'win32' ? 'rg.exe' : 'rg'
  try {
    const main = createRequire(join(packageRoot, 'package.json')).resolve('@vscode/ripgrep')
    const file = createRequire(main).resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/${name}`)
    accessSync(file, constants.X_OK)
    return file
  } catch {
    return undefined // installed without its optional package: the PATH may have one
  }
}

interface Limits {
  readonly timeLimitMs: number
  readonly signal: AbortSignal
}

export async function searchRipgrep(program: string, search: Search, limits: Limits): Promise<Found | 'timed-out'> {
  const first = await run(program, flags(search), search, limits)
  if (typeof first === 'string') return first === 'too-much' ? sorted(program, search, limits) : first
  return first
}

/** More than we can hold: then the first part by path, so that the same question has the same answer. */
async function sorted(program: string, search: Search, limits: Limits): Promise<Found | 'timed-out'> {
  const found = await run(program, ['--sort=path', ...flags(search)], search, limits, true)
  return found === 'too-much' ? { ok: true, files: [], cut: true } : found
}

function flags({
  pattern,
  globs,
  type,
  mode,
  before,
  after,
  insensitive,
  multiline,
  root,
  rootIsFile,
}: Search): string[] {
  return [
    ...['--no-config', '--no-messages', '--no-ignore-global', '--no-ignore-exclude', '--hidden', '--crlf'],
    ...['--color=never', '--no-heading', '--with-filename', '--null'],
    ...(insensitive ? ['--ignore-case'] : ['--case-sensitive']),
    ...(multiline ? ['--multiline', '--multiline-dotall'] : []),
    ...(mode === 'files_with_matches' ? ['--files-with-matches'] : []),
    ...(mode === 'count' ? ['--count'] : []),
    ...(mode === 'content' ? ['--line-number', `--before-context=${before}`, `--after-context=${after}`] : []),
    // longer than any line is shown, so that a file of one line does not take the room of all others
    ...(mode === 'content' ? [`--max-columns=${searchLimits.lineLength * 8}`, '--max-columns-preview'] : []),
    ...(type === undefined ? [] : [`--type=${type}`]),
    ...globs.map((glob) => `--glob=${glob}`),
    ...versionControl.map((folder) => `--glob=!${folder}`),
    ...['-e', pattern, '--', rootIsFile ? root : './'],
  ]
}

async function run(
  program: string,
  args: readonly string[],
  search: Search,
  { timeLimitMs, signal }: Limits,
  keepFirst = false,
): Promise<Found | 'timed-out' | 'too-much'> {
  const { spawn } = await import('node:child_process')
  if (signal.aborted) return { ok: true, files: [], cut: false } // its event came before anyone listened
  const { promise, resolve } = Promise.withResolvers<Found | 'timed-out' | 'too-much'>()
  // Globs with a slash start where ripgrep stands, so it stands at the root of the search.
  const child = spawn(program, args, {
    cwd: search.rootIsFile ? '/' : search.root,
    env: withoutCredentials(process.env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const most = heldBytes(search)
  const stdout = new Bounded(most)
  const stderr = new Bounded(65_536)
  const stop = () => child.kill('SIGKILL')
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    stop()
  }, timeLimitMs)
  signal.addEventListener('abort', stop, { once: true })
  child.stdout.on('data', (chunk: Buffer) => {
    stdout.add(chunk)
    if (stdout.seen > most) stop()
  })
  child.stderr.on('data', (chunk: Buffer) => stderr.add(chunk))
  child.on('error', (error) => resolve({ ok: false, why: `ripgrep (${program}) would not start: ${error.message}` }))
  child.on('close', (code) => {
    const cut = stdout.seen > most
    if (timedOut) resolve('timed-out')
    else if (cut && !keepFirst) resolve('too-much')
    // 2 with output: some files could not be read, the others were searched.
    else if (code === 2 && stderr.seen > 0) resolve({ ok: false, why: explain(stderr.text(), search) })
    else resolve({ ok: true, files: parse(stdout.bytes(), search, cut), cut })
  })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

function explain(stderr: string, { type, pattern }: Search): string {
  if (stderr.includes('unrecognized file type')) return `unknown type ${JSON.stringify(type)}; use glob instead`
  return `the pattern ${JSON.stringify(pattern)} cannot be searched: ${stderr.replace(/^rg: /, '').trim()}`
}

const none: readonly FoundLine[] = []

/** `./late: WARNING: stopped searching binary file after match (found "\0" byte around offset 7)` */
const ofBinary =
  /: (binary file matches|WARNING: stopped searching binary file after match) \(found "\\0" byte around offset \d+\)$/

/** Each line: path, NUL, and in content mode `12:text` or `12-text` for the lines around. */
function parse(bytes: Buffer, search: Search, cut: boolean): FoundFile[] {
  const text = bytes.toString('utf8')
  // it names a path `./a/b`, from the root where it stands
  const root = search.root === '/' ? '' : search.root
  const whole = (path: string) => (search.rootIsFile ? path : root + path.slice(1))
  if (search.mode === 'files_with_matches') {
    return text
      .split('\0')
      .filter(Boolean)
      .map((path) => ({ path: whole(path), count: 0, lines: none }))
  }
  const files = new Map<string, { path: string; count: number; lines: FoundLine[] }>()
  const lines = text.split('\n')
  // Without its line end the last line may be cut anywhere.
  lines.pop()
  /** The beginning of a path that holds line breaks. */
  let begun = ''
  for (const line of cut ? lines.slice(0, -1) : lines) {
    const end = line.indexOf('\0')
    if (end < 0) {
      // or `--` between groups, or word of a binary file
      const isPath = (begun !== '' || /^[./]/.test(line)) && !ofBinary.test(line)
      begun = isPath ? `${begun}${line}\n` : ''
      continue
    }
    const path = begun + line.slice(0, end)
    begun = ''
    const file = files.get(path) ?? { path: whole(path), count: 0, lines: [] }
    files.set(path, file)
    if (search.mode === 'count') {
      file.count = Number(line.slice(end + 1))
      continue
    }
    const match = /^(\d+)([:-])/.exec(line.slice(end + 1, end + 20))
    if (!match) continue
    const body = line.slice(end + 1 + match[0].length)
    file.lines.push({ number: Number(match[1]), text: clip(body.replace(/\r$/, '')), match: match[2] === ':' })
  }
  return [...files.values()]
}

/** Standing instructions: ONA.md, CLAUDE.md and AGENTS.md in the home, up the tree, and in folders as they are touched. */
import { existsSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { leadsOut } from '../../files/leads-out.ts'
import { readPlainFile } from '../../files/plain-file.ts'
import type { EventFields } from '../../hooks/events.ts'
import { judge } from '../../permissions/decide.ts'
import { isSecretFile } from '../../permissions/secret-files.ts'
import { readFrontmatter } from '../../tools/skills/frontmatter.ts'
import { questionOf } from '../permission-question.ts'
import type { Session } from '../session/session.ts'
import { appliesTo, type PathRule, rulesIn } from './path-rules.ts'
import { mostChars } from './window.ts'

type Loaded = EventFields['InstructionsLoaded'] & { readonly text: string }

const names = ['ONA.md', 'CLAUDE.md', 'AGENTS.md', '.ona/ONA.md', '.claude/CLAUDE.md']
const localNames = ['ONA.local.md', 'CLAUDE.local.md']
const mostHops = 5
/** A file larger than this is cut: it would crowd out the work. All that are read at the start are bounded by the window, too. */
const mostOfFile = 100_000

interface State {
  /** Rules for some paths only. */
  readonly rules: (PathRule & { readonly kind: Loaded['memory_type'] })[]
  readonly seen: Set<string>
  readonly files: Loaded[]
  text: string | undefined
}
const states = new WeakMap<Session, State>()

/** All instructions that are in force, as one section. Read once; nested ones come in as their folders are touched. */
export async function instructionsText(session: Session): Promise<string> {
  const known = states.get(session)
  if (known?.text !== undefined) return known.text
  const state: State = { rules: [], seen: new Set(), files: [], text: '' }
  states.set(session, state)
  if (!session.runtime.bare) {
    if (reads(session, 'user'))
      for (const name of ['.ona/ONA.md', '.claude/CLAUDE.md'])
        await take(session, state, join(session.runtime.home, name), 'User', 'session_start')
    for (const folder of foldersDownTo(session.projectDir)) await takeFolder(session, state, folder, 'session_start')
    if (reads(session, 'user')) await takeRules(session, state, session.runtime.home, 'User')
    if (reads(session, 'project')) await takeRules(session, state, session.projectDir, 'Project')
    await tell(session, state.files)
  }
  state.text = rendered(state.files)
  return state.text
}

/** Instructions of folders below the project that a tool has just touched for the first time; text for the model. */
export async function instructionsFor(session: Session, path: string): Promise<string | undefined> {
  const state = states.get(session)
  const inside = relative(session.projectDir, path)
  if (!state || session.runtime.bare || inside === '' || inside.startsWith('..') || isAbsolute(inside)) return undefined
  const before = state.files.length
  let folder = session.projectDir
  for (const part of inside.split('/').slice(0, -1)) {
    folder = join(folder, part)
    await takeFolder(session, state, folder, 'nested_traversal', path)
  }
  for (const rule of state.rules)
    if (appliesTo(rule, inside)) await take(session, state, rule.file, rule.kind, 'path_glob_match', path)
  const added = state.files.slice(before)
  if (added.length === 0) return undefined
  await tell(session, added)
  return rendered(added)
}

/** The files that are in force, for /memory and /context. */
export const instructionFiles = (session: Session): readonly Loaded[] => states.get(session)?.files ?? []

const reads = ({ runtime: { sources } }: Session, place: string): boolean => sources?.includes(place) ?? true

function foldersDownTo(folder: string): string[] {
  const up = dirname(folder)
  return up === folder ? [folder] : [...foldersDownTo(up), folder]
}

/** Those without paths hold at once; the others when a file that they are for is touched. */
async function takeRules(session: Session, state: State, base: string, kind: 'User' | 'Project'): Promise<void> {
  for (const name of ['.ona', '.claude'])
    for (const rule of rulesIn(join(base, name, 'rules'))) {
      if (rule.paths.length > 0) state.rules.push({ ...rule, kind })
      else await take(session, state, rule.file, kind, 'session_start')
    }
}

async function takeFolder(
  session: Session,
  state: State,
  folder: string,
  reason: Loaded['load_reason'],
  trigger?: string,
): Promise<void> {
  if (reads(session, 'project'))
    for (const name of names) await take(session, state, join(folder, name), 'Project', reason, trigger)
  if (reads(session, 'local'))
    for (const name of localNames) await take(session, state, join(folder, name), 'Local', reason, trigger)
}

async function take(
  session: Session,
  state: State,
  path: string,
  kind: Loaded['memory_type'],
  reason: Loaded['load_reason'],
  trigger?: string,
  parent?: string,
  hops = 0,
): Promise<void> {
  if (!existsSync(path)) return
  let text: string
  try {
    const real = realpathSync(path)
    if (state.seen.has(real)) return
    state.seen.add(real)
    if (kind !== 'User' && isElsewhere(session, path, real) && !mayImport(session, real)) {
      const text = `${path} is a link that leads out of the project; it is left out`
      session.emit({ type: 'notice', level: 'warning', text })
      return
    }
    const why = await unreadable(session, real)
    if (why) return session.emit({ type: 'notice', level: 'warning', text: `${path} is left out: ${why}` })
    text = bodyOf(readPlainFile(real))
  } catch (cause) {
    session.emit({ type: 'notice', level: 'warning', text: `${path} could not be read: ${(cause as Error).message}` })
    return
  }
  const most = reason === 'session_start' ? Math.min(mostOfFile, roomFor(session, state)) : mostOfFile
  if (text.length > most) {
    session.emit({
      type: 'notice',
      level: 'warning',
      text: `${path} is over the ${most} characters that there is room for; the rest is left out`,
    })
    text = text.slice(0, most)
  }
  // The same text under two names (AGENTS.md beside CLAUDE.md) is added once.
  if (state.files.some((file) => file.text === text)) return
  state.files.push({
    file_path: path,
    memory_type: kind,
    load_reason: parent ? 'include' : reason,
    ...(trigger && { trigger_file_path: trigger }),
    ...(parent && { parent_file_path: parent }),
    text,
  })
  if (hops >= mostHops) return
  for (const target of importsIn(text)) {
    const at = target.startsWith('~/') ? join(session.runtime.home, target.slice(2)) : resolve(dirname(path), target)
    if (kind !== 'User' && !mayImport(session, at)) {
      const text = `${path} imports ${target}, which lies outside the project; it is left out`
      session.emit({ type: 'notice', level: 'warning', text })
      continue
    }
    await take(session, state, at, kind, reason, trigger, path, hops + 1)
  }
}

/** They are part of every request: what they take is missing for the conversation. */
const roomFor = ({ model }: Session, { files }: State): number =>
  files.reduce((room, { text }) => Math.max(0, room - text.length), mostChars(model.window))

/** What enters a request is judged as a Read is: a denied file stays out, and so does one with secrets that no rule allows. */
async function unreadable(session: Session, path: string): Promise<string | undefined> {
  const input = { file_path: path }
  const { ruling } = await judge({ ...questionOf(session), tool: 'Read', input, hook: 'none' })
  if (ruling.decision === 'deny') return ruling.reason
  return ruling.decision === 'ask' && isSecretFile(path) ? `${path} usually holds secrets` : undefined
}

/** By a link: out of the project, or, for the folders above it, out of the folder that it lies in. */
const isElsewhere = ({ projectDir }: Session, path: string, real: string): boolean =>
  path.startsWith(`${projectDir}/`) ? leadsOut(projectDir, path) : dirname(real) !== realpathSync(dirname(path))

/** A repository must not pull files of the user's into the prompt. */
function mayImport(session: Session, path: string): boolean {
  const real = existsSync(path) ? realpathSync(path) : path
  return [session.projectDir, ...(session.permissions.additionalDirectories ?? [])].some((folder) => {
    const inside = relative(existsSync(folder) ? realpathSync(folder) : folder, real)
    return !inside.startsWith('..') && !isAbsolute(inside)
  })
}

/** The head of a rule is for us. */
function bodyOf(text: string): string {
  const read = readFrontmatter(text)
  return read.ok ? read.body : text
}

/** `@path` outside code. */
export function importsIn(text: string): string[] {
  const plain = text.replace(/```[\s\S]*?(```|$)/g, '').replace(/`[^`\n]*`/g, '')
  return [...plain.matchAll(/(?:^|\s)@((?:~\/|\.{0,2}\/)?[\w./-]+\.\w+)/g)].map((match) => match[1]!)
}

const rendered = (files: readonly Loaded[]): string =>
  files.map((file) => `# Instructions from ${file.file_path}\n${file.text.trim()}`).join('\n\n')

/** Instructions are part of every request, so they outlive a compaction; hooks hear of each once more. */
export const tellInstructionsAgain = (session: Session): Promise<void> =>
  tell(
    session,
    instructionFiles(session).map((file) => ({ ...file, load_reason: 'compact' as const })),
  )

async function tell(session: Session, files: readonly Loaded[]): Promise<void> {
  for (const { text: _text, ...fields } of files) await session.raise('InstructionsLoaded', () => fields)
}

/**
 * What a command that ran without a sandbox changed among the files that govern agents. Its line did not name them, so
 * nobody was asked: the user is now, and where nobody says yes the files are put back as they were.
 */
import { chmodSync, mkdirSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { modeInForce } from '../../permissions/modes.ts'
import { protectionOf } from '../../permissions/protected-paths.ts'
import { quarantine } from '../../sandbox/mounts/absent.ts'
import { addEvent } from '../../store/audit.ts'
import type { Call } from '../call.ts'
import { questionOf } from '../permission-question.ts'
import { changesBetween, type Kept, type Snapshot, snapshotOf, type Watched } from './snapshot.ts'

/** Looks now; the function that it returns looks again, settles what has changed and says so. */
export function watchProtected(call: Call): () => Promise<readonly string[]> {
  const { session } = call
  const { home, projectDir, cwd, origins = [], protect = [] } = questionOf(session)
  const watched: Watched = { home, roots: [...new Set([projectDir, ...origins, cwd])], protect }
  const before = snapshotOf(watched)
  return async () => {
    const after = snapshotOf(watched)
    const changed = changesBetween(before, after)
    if (changed.length === 0) return []
    const { undone, how } = await settle(call, changed)
    const problems = undo(undone, before, after, home)
    addEvent(session.db, {
      conversationId: session.conversationId,
      sessionId: session.id,
      type: 'protected_change',
      detail: { tool_use_id: call.use.id, paths: changed, undone, how },
    })
    const kept = changed.filter((path) => !undone.includes(path))
    const texts = [
      ...kept.map((path) => `the command changed ${path}, which is ${whatIs(call, path)}; the change was kept: ${how}`),
      ...undone.map(
        (path) => `the command changed ${path}, which is ${whatIs(call, path)}; the change was undone: ${how}`,
      ),
      ...problems,
    ]
    for (const text of texts) session.emit({ type: 'notice', level: 'warning', text })
    return texts
  }
}

interface Settled {
  readonly undone: readonly string[]
  /** Who decided. */
  readonly how: string
}

async function settle(call: Call, changed: readonly string[]): Promise<Settled> {
  const { session, use, tool, permission } = call
  const { home, settings, mode, protect } = questionOf(session)
  const isDenied = (path: string) => protectionOf(path, home, protect)?.edit === 'deny'
  if (modeInForce(mode, settings) === 'bypassPermissions')
    return { undone: changed.filter(isDenied), how: 'bypassPermissions keeps all but settings and trust of the user' }
  if (permission?.decision === 'allow' && permission.reason.by !== 'hook')
    return { undone: changed.filter(isDenied), how: 'the user approved the command' }
  const names = changed.map((path) => basename(path)).join(', ')
  const said = await session.runtime.user.permission(
    {
      toolUseId: use.id,
      tool: tool.name,
      input: { ...call.input, protected_changes: [...changed] },
      summary: `keep changes to ${names}: ${tool.summary(call.input)}`,
      reason: `the command changed ${changed.join(', ')}, which its line does not name; no puts them back`,
      suggestions: [],
    },
    session.signal,
  )
  if (said?.allow) return { undone: [], how: 'the user kept it' }
  return { undone: changed, how: said ? 'the user rejected it' : 'there was no user to ask' }
}

const whatIs = ({ session }: Call, path: string): string => {
  const { home, protect } = questionOf(session)
  return protectionOf(path, home, protect)?.what ?? 'protected'
}

/** Moves away what is there now, then restores what was. Returns what could not be restored. */
function undo(paths: readonly string[], before: Snapshot, after: Snapshot, home: string): string[] {
  const problems: string[] = []
  const made: string[] = []
  for (const path of paths) {
    const [was, is] = [before.get(path), after.get(path)]
    try {
      if (is && is.kind !== 'folder') problems.push(...moved(quarantine(path, home)))
      else if (is && was && was.kind !== 'folder') problems.push(...moved(quarantine(path, home)))
      if (was) restore(path, was)
      else made.push(dirname(path))
    } catch (error) {
      problems.push(`${path} could not be put back: ${(error as Error).message}`)
    }
  }
  for (const folder of made.sort().reverse()) if (!before.has(folder)) removeEmpty(folder)
  return problems
}

/** Only a failure is worth a line of its own. */
const moved = (said: string): string[] => (said.includes('could not be moved') ? [said] : [])

function restore(path: string, was: Kept): void {
  mkdirSync(was.kind === 'folder' ? path : dirname(path), { recursive: true })
  if (was.kind === 'link') symlinkSync(was.to, path)
  if (was.kind !== 'file') return
  if (was.content === undefined) throw new Error('it is too large to be kept')
  writeFileSync(path, was.content, { mode: was.mode, flag: 'wx' })
  chmodSync(path, was.mode)
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // it holds other files
  }
}

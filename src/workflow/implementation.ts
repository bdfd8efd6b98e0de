/** What the implement phase made: every file of the tree that changed since the plan was approved, by whatever tool. */
import { type BigIntStats, lstatSync, readdirSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'
import { readPlainFile } from '../files/plain-file.ts'
import type { Db } from '../store/open.ts'
import { hashOf, type Plan } from '../store/plans.ts'

export interface Implementation {
  /** By path, relative to the project: the content's hash; '' where there is no such file any more. */
  readonly files: ReadonlyMap<string, string>
  /** Of all of it. */
  readonly hash: string
}

/** Not the project's own: what git and package managers keep, and ona's worktrees and copies of cases. */
const notOurs = new Set(['.git', 'node_modules', '.ona'])
const mostFiles = 200_000

export function implementationOf(db: Db, conversationId: string, projectDir: string, plan: Plan): Implementation {
  const paths = new Set([...changedSince(projectDir, approvedAt(db, plan)), ...written(db, conversationId, projectDir)])
  const files = [...paths].sort().map((path): [string, string] => {
    const text = textOf(join(projectDir, path))
    return [path, text === undefined ? '' : hashOf(text)]
  })
  return { files: new Map(files), hash: hashOf(JSON.stringify(files)) }
}

export function textOf(file: string): string | undefined {
  try {
    return readPlainFile(file)
  } catch {
    return undefined // gone, or no file that could be read
  }
}

/** To the millisecond where the event says so; a plan that was approved in the database has the second. */
function approvedAt(db: Db, { id, approvedAt }: Plan): number {
  const event = db.get<{ at: number | null }>(
    `SELECT json_extract(detail, '$.at') AS at FROM events
     WHERE event_type = 'plan_approved' AND json_valid(detail) AND json_extract(detail, '$.plan') = ? ORDER BY id DESC LIMIT 1`,
    id,
  )
  return event?.at ?? (approvedAt ? Date.parse(`${approvedAt.replace(' ', 'T')}Z`) : 0)
}

/** By the time of the last change of content, name or mode, which no program can set back. */
function changedSince(projectDir: string, since: number): string[] {
  const found: string[] = []
  const folders = ['']
  let seen = 0
  for (let folder = folders.pop(); folder !== undefined && seen < mostFiles; folder = folders.pop()) {
    for (const name of namesIn(join(projectDir, folder))) {
      if (notOurs.has(name)) continue
      const path = join(folder, name)
      const stat = statOf(join(projectDir, path))
      seen++
      if (stat?.isDirectory()) folders.push(path)
      else if (stat && Number(stat.ctimeNs / 1_000_000n) >= since) found.push(path)
    }
  }
  return found
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // no folder, or none that we may read
  }
}

const statOf = (path: string): BigIntStats | undefined => lstatSync(path, { bigint: true, throwIfNoEntry: false })

/** Files that the record says were written, whatever became of them. */
function written(db: Db, conversationId: string, projectDir: string): string[] {
  const rows = db.all<{ path: string | null }>(
    `SELECT DISTINCT coalesce(json_extract(e.payload_json, '$.snapshot.path'),
                              json_extract(e.payload_json, '$.input.file_path'),
                              json_extract(e.payload_json, '$.input.notebook_path')) AS path
     FROM transcript_entries e JOIN sessions s ON s.session_id = e.session_id
     WHERE s.conversation_id = ?1
       AND (e.entry_type = 'file_history_snapshot'
            OR (e.entry_type = 'tool_use' AND json_extract(e.payload_json, '$.name') IN ('Write', 'Edit', 'NotebookEdit')))
     UNION
     SELECT DISTINCT coalesce(json_extract(b.value, '$.input.file_path'), json_extract(b.value, '$.input.notebook_path'))
     FROM transcript_entries e JOIN sessions s ON s.session_id = e.session_id, json_each(e.payload_json, '$.content') b
     WHERE s.conversation_id = ?1 AND e.entry_type = 'assistant'
       AND json_extract(b.value, '$.name') IN ('Write', 'Edit', 'NotebookEdit')`,
    conversationId,
  )
  return rows
    .flatMap(({ path }) => (path === null ? [] : [isAbsolute(path) ? relative(projectDir, path) : path]))
    .filter((path) => path !== '' && !path.startsWith('..') && !path.startsWith('.ona/'))
}

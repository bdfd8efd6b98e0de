/**
 * A session's transcript as a file in the form of Claude Code's, for hooks that read `transcript_path`. The database is the
 * record: of the file, only its end is read back, to add to a file that an earlier process has written.
 */
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { redact } from '../../hooks/secrets/redact.ts'
import type { JsonObject } from '../../hooks/shape.ts'
import type { Db } from '../../store/open.ts'
import { type Entry, type Row, readEntries } from '../../store/session/transcript.ts'

export interface MirrorOf {
  readonly sessionId: string
  /** The name that the lines carry: the main session's, also for a sub-agent. */
  readonly sessionName: string
  readonly agentId?: string
  readonly cwd: string
  readonly model: string
  readonly version: string
}

interface Written {
  sequence: number
  lastUuid: string | null
}

/** A line that is longer is not searched for: the file is rewritten. */
const longestLine = 4 * 1_048_576
/** Lines are written so many characters at a time: a session may be longer than a string can be. */
const batchChars = 1_048_576

/** Claude Code keeps its own for as long. */
const keepForMs = 30 * 24 * 3_600_000

export class TranscriptMirror {
  readonly #db: Db
  readonly #folder: string
  /** What this process has written, and how long the file was then. */
  readonly #written = new Map<string, { readonly at: Written; readonly size: number }>()

  constructor(db: Db, home: string) {
    this.#db = db
    this.#folder = join(home, '.ona/transcripts')
  }

  /** Where the file lies: by project and session, as Claude Code lays it out. */
  fileOf(projectDir: string, sessionName: string, agentId?: string): string {
    const folder = join(this.#folder, projectDir.replaceAll(/[^a-zA-Z0-9]/g, '-'))
    if (agentId !== undefined) return join(folder, sessionName, 'subagents', `agent-${agentId}.jsonl`)
    return join(folder, `${sessionName}.jsonl`)
  }

  /** Adds what has been said since. A file that does not end as the record says is rewritten. */
  sync(file: string, of: MirrorOf): void {
    const known = this.#written.get(file)
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
    const at = known?.size === size ? known.at : endOf(file, size, this.#db, of)
    if (at) this.#written.set(file, { at, size: size + this.#append(file, of, at) })
    else this.#writeAnew(file, of)
  }

  #writeAnew(file: string, of: MirrorOf): void {
    const folder = dirname(file)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    removeOld(folder)
    const beside = `${file}.${process.pid}.tmp`
    const at = { sequence: -1, lastUuid: null }
    writeFileSync(beside, '', { mode: 0o600 })
    const size = this.#append(beside, of, at)
    renameSync(beside, file)
    this.#written.set(file, { at, size })
  }

  /** Moves `at` forward. Gives the number of bytes. */
  #append(file: string, of: MirrorOf, at: Written): number {
    let bytes = 0
    let batch = ''
    const write = () => {
      const text = Buffer.from(batch)
      appendFileSync(file, text)
      bytes += text.length
      batch = ''
    }
    for (const row of readEntries(this.#db, of.sessionId, { after: at.sequence, types: mirrored })) {
      for (const line of linesOf(row, of, at)) batch += `${textOf(line)}\n`
      at.sequence = row.sequence
      if (batch.length >= batchChars) write()
    }
    if (batch !== '') write()
    return bytes
  }
}

/** Where a file ends, by its last line; undefined where that is not what would be written today. */
function endOf(file: string, size: number, db: Db, of: MirrorOf): Written | undefined {
  const text = lastLine(file, size)
  const { uuid, parentUuid } = partsOf(text)
  const sql = 'SELECT sequence FROM transcript_entries WHERE id = ? AND session_id = ?'
  const found = db.get<{ sequence: number }>(sql, Number.parseInt(String(uuid).slice(-12), 16), of.sessionId)
  if (!found) return undefined
  const { sequence } = found
  const at: Written = { sequence, lastUuid: parentUuid }
  const [row] = readEntries(db, of.sessionId, { after: sequence - 1, before: sequence + 1 })
  const last = row && [...linesOf(row, of, at)].at(-1)
  return last && textOf(last) === text ? at : undefined
}

function partsOf(line = ''): { uuid?: unknown; parentUuid: string | null } {
  try {
    return Object(JSON.parse(line))
  } catch {
    return { parentUuid: null } // of another program
  }
}

/** Undefined where the file does not end with a whole line of a size to be expected. */
function lastLine(file: string, size: number): string | undefined {
  if (size === 0) return undefined
  const end = Buffer.alloc(Math.min(size, longestLine))
  const open = openSync(file, 'r')
  try {
    readSync(open, end, 0, end.length, size - end.length)
  } finally {
    closeSync(open)
  }
  const begin = end.lastIndexOf('\n', end.length - 2) + 1
  return end.at(-1) === 10 && (begin > 0 || end.length === size)
    ? end.toString('utf8', begin, end.length - 1)
    : undefined
}

function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age > keepForMs) rmSync(path, { recursive: true, force: true })
  }
}

const textOf = (line: JsonObject): string => redact(JSON.stringify(line), 'json')

const mirrored = ['user', 'assistant', 'tool_result', 'system'] as const

/** One line for each block of the assistant's, as Claude Code has them. */
function* linesOf({ id, createdAt, entry }: Row, of: MirrorOf, at: Written): Generator<JsonObject> {
  for (const [index, own] of messagesOf(entry, of.model, id).entries()) {
    const uuid = uuidOf(id, index)
    yield {
      parentUuid: at.lastUuid,
      isSidechain: of.agentId !== undefined,
      ...(of.agentId !== undefined && { agentId: of.agentId }),
      userType: 'external',
      cwd: of.cwd,
      sessionId: of.sessionName,
      version: of.version,
      gitBranch: '',
      ...own,
      uuid,
      timestamp: new Date(`${createdAt.replace(' ', 'T')}Z`).toISOString(),
    }
    at.lastUuid = uuid
  }
}

function messagesOf(entry: Entry, model: string, id: number): JsonObject[] {
  const usage = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 }
  switch (entry._t) {
    case 'user': {
      const content = entry.content as readonly JsonObject[]
      const [only] = content
      const said = content.length === 1 && only?.['type'] === 'text' ? only['text'] : content
      return content.length === 0 ? [] : [{ type: 'user', message: { role: 'user', content: said } }]
    }
    case 'assistant': {
      const content = entry.content as readonly JsonObject[]
      const stop = content.some((block) => block['type'] === 'tool_use') ? 'tool_use' : 'end_turn'
      const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model }
      return content.map((block) => ({
        type: 'assistant',
        message: { ...message, content: [block], stop_reason: stop, stop_sequence: null, usage },
      }))
    }
    case 'tool_result': {
      const { tool_use_id, content, is_error } = entry
      const block = { tool_use_id, type: 'tool_result', content, is_error }
      return [{ type: 'user', message: { role: 'user', content: [block] }, toolUseResult: content }]
    }
    case 'system':
      return [{ type: 'system', subtype: entry.subtype, content: String(entry['content'] ?? '') }]
    default:
      return []
  }
}

/** The same row has the same name each time the file is written. */
const uuidOf = (row: number, index: number): string =>
  `00000000-0000-4000-8${String(index).padStart(3, '0')}-${row.toString(16).padStart(12, '0')}`

/**
 * A session's transcript as a file in the form of Claude Code's, for hooks that read `transcript_path`. The database is the
 * record: nothing is read back from the file.
 */
import { appendFileSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { redact } from '../../hooks/redact.ts'
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

/** Claude Code keeps its own for as long. */
const keepForMs = 30 * 24 * 3_600_000

export class TranscriptMirror {
  readonly #db: Db
  readonly #folder: string
  readonly #written = new Map<string, Written>()

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

  /** Adds what has been said since the last call. The first call of a process rewrites the file. */
  sync(file: string, of: MirrorOf): void {
    const known = this.#written.get(file)
    const at = known ?? { sequence: -1, lastUuid: null }
    const lines: string[] = []
    for (const row of readEntries(this.#db, of.sessionId, { after: at.sequence, types: mirrored })) {
      for (const line of linesOf(row, of, at)) lines.push(redact(JSON.stringify(line), 'json'))
      at.sequence = row.sequence
    }
    const text = lines.map((line) => `${line}\n`).join('')
    if (!known) startFile(file, text)
    else if (text !== '') appendFileSync(file, text)
    this.#written.set(file, at)
  }
}

function startFile(file: string, text: string): void {
  const folder = dirname(file)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  removeOld(folder)
  const beside = `${file}.${process.pid}.tmp`
  writeFileSync(beside, text, { mode: 0o600 })
  renameSync(beside, file)
}

function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age > keepForMs) rmSync(path, { recursive: true, force: true })
  }
}

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

/** The agent's side of Claude Code's hook contract: the transcript file, variables for Bash, and late answers. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ClaudeHost, ClaudeSession } from '../../hooks/claude/contract.ts'
import type { Scope } from '../../hooks/plane.ts'
import { textBlock } from '../../hooks/step/blocks.ts'
import { version } from '../../package-root.ts'
import type { Db } from '../../store/open.ts'
import type { Session } from '../session/session.ts'
import { TranscriptMirror } from './transcript-mirror.ts'

/** A script that sets variables is small; what is longer is no such script. */
const longestScript = 65_536

export class ClaudeHooks {
  readonly #db: Db
  readonly #folder: string
  readonly #mirror: TranscriptMirror
  /** The main session of a sub-agent's. */
  readonly #parents = new Map<string, string>()
  /** Sessions whose hooks may have set variables. */
  readonly #withEnv = new Set<string>()

  constructor({ db, home }: { db: Db; home: string }) {
    this.#db = db
    this.#folder = join(home, '.ona/session-env')
    this.#mirror = new TranscriptMirror(db, home)
  }

  /** For the hooks of one session and its sub-agents. */
  forSession(session: () => Session | undefined): ClaudeHost {
    return {
      sessionOf: (scope) => this.#sessionOf(scope, session()?.model.wireModel ?? ''),
      envFile: (scope, name) => this.#envFile(scope, name),
      deliver(_, { context, messages }) {
        session()?.carry(context.map(textBlock))
        for (const text of messages) session()?.emit({ type: 'notice', level: 'info', text })
      },
    }
  }

  #sessionOf({ sessionId, agentId, cwd, projectDir = cwd }: Scope, model: string): ClaudeSession {
    const main = this.#mainOf(sessionId)
    const of = { sessionName: main, cwd, version: version(), model }
    const transcriptPath = this.#mirror.fileOf(projectDir, main)
    const own = agentId === undefined ? undefined : this.#mirror.fileOf(projectDir, main, agentId)
    const named = { sessionId: main, transcriptPath, ...(own && { agentTranscriptPath: own }) }
    try {
      this.#mirror.sync(transcriptPath, { ...of, sessionId: main })
      if (own && agentId !== undefined) this.#mirror.sync(own, { ...of, sessionId, agentId })
      return named
    } catch (cause) {
      return { ...named, problem: `the transcript for hooks is not up to date: ${(cause as Error).message}` }
    }
  }

  #envFile({ sessionId }: Scope, name: string): string {
    const main = this.#mainOf(sessionId)
    const folder = join(this.#folder, main)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#withEnv.add(main)
    return join(folder, name)
  }

  /** What hooks have exported, as shell text that goes before a Bash command. */
  prelude(sessionId: string): string {
    const main = this.#mainOf(sessionId)
    if (!this.#withEnv.has(main)) return ''
    const folder = join(this.#folder, main)
    const scripts = readdirSync(folder)
      .sort()
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .filter((text) => text.trim() !== '' && text.length <= longestScript && !text.includes('\0'))
    // by eval, so that a fault in a script does not keep the command from running
    return scripts.map((text) => `eval '${text.replaceAll("'", `'\\''`)}'\n`).join('')
  }

  close(): void {
    for (const session of this.#withEnv) rmSync(join(this.#folder, session), { recursive: true, force: true })
  }

  #mainOf(sessionId: string): string {
    const known = this.#parents.get(sessionId)
    if (known !== undefined) return known
    const row = this.#db.get<{ parent: string }>(
      'SELECT parent_session_id AS parent FROM ona_subagents WHERE session_id = ?',
      sessionId,
    )
    this.#parents.set(sessionId, row?.parent ?? sessionId)
    return row?.parent ?? sessionId
  }
}

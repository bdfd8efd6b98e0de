/** /doctor: `ona doctor` for this folder and this database, beside the conversation. */
import { glyph } from '../render/glyphs.ts'
import { paint } from '../render/style.ts'
import type { Ui } from '../session/command-context.ts'
import { ownProgram } from '../session/own-program.ts'

interface Finding {
  readonly level: 'ok' | 'warning' | 'problem'
  readonly about: string
  readonly text: string
}

export async function run(_args: string, { front, session }: Ui): Promise<void> {
  const { program, words } = ownProgram('doctor', '--json', '--cwd', session.cwd)
  const { execFile } = process.getBuiltinModule('node:child_process')
  const env = { ...session.runtime.env, AGENT_SDLC_DB: session.db.path }
  const [stdout, stderr] = await new Promise<[string, string]>((resolve) => {
    execFile(program, words, { cwd: session.cwd, env, signal: session.signal, timeout: 60_000 }, (_, ...said) =>
      resolve(said),
    )
  })
  const findings = read(stdout)
  if (!findings) return front.notice('error', `ona doctor could not be run: ${stderr.trim() || 'it said nothing'}`)
  const marks = { ok: paint('good', glyph.done), warning: paint('warn', '!'), problem: paint('bad', 'x') }
  for (const { level, about, text } of findings) front.print(`${marks[level]} ${about}: ${text}`)
  const bad = findings.filter(({ level }) => level !== 'ok').length
  front.print(bad === 0 ? 'All is well.' : `${bad} to look at.`)
}

function read(text: string): Finding[] | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // it was interrupted, or failed before it could say anything
  }
}

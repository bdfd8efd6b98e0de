/** /doctor: the checks of `ona doctor` for this folder and this database. */
import { glyph } from '../../render/glyphs.ts'
import { paint } from '../../render/style.ts'
import type { Ui } from '../../session/command-context.ts'

export async function run(_args: string, { front, session }: Ui): Promise<void> {
  const { examine } = await import('../../../doctor/doctor.ts')
  const findings = await examine(session.cwd, { ...session.runtime.env, AGENT_SDLC_DB: session.db.path })
  const marks = { ok: paint('good', glyph.done), warning: paint('warn', '!'), problem: paint('bad', 'x') }
  for (const { level, about, text } of findings) front.print(`${marks[level]} ${about}: ${text}`)
  const faults = findings.filter(({ level }) => level !== 'ok').length
  front.print(faults === 0 ? 'No problems found.' : `${faults} to look at.`)
}

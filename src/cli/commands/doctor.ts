/** `ona doctor`: looks over the installation, this person's settings and this folder. */
import { resolve } from 'node:path'
import { examine, type Finding } from '../../doctor/doctor.ts'
import { counted } from '../../tools/bounded.ts'
import { command } from '../command.ts'
import { paint, said, saidJson } from '../print.ts'

const help = `ona doctor looks over what a session here would stand on: the program, the database, settings, trust, rules, hooks, model
and credential, MCP servers, and the files that roles and the dispatcher have put here. It mends nothing: each line that is not ok says what to do.

  ona doctor
  ona doctor --cwd ../service
  ona doctor --full              also read every page of a large database
  ona doctor --json              [{"level":"ok","about":"database","text":"…"}, …]

Exit code: 0 no problem (there may be warnings), 1 a problem, 2 wrong usage.
`

export const run = command(
  'ona doctor',
  { help, flags: { json: 'flag', cwd: 'value', full: 'flag' } },
  async ({ json, cwd = '.', full = false }) => {
    const findings = await examine(resolve(cwd), process.env, { full })
    const count = (level: Finding['level']) => findings.filter((each) => each.level === level).length
    if (json) saidJson(findings)
    else {
      for (const { level, about, text } of findings)
        said(
          `${paint(colours[level], level.padEnd(8))} ${about.padEnd(12)} ${text.trimEnd().replaceAll('\n', '\n                      ')}`,
        )
      said(`${counted(count('problem'), 'problem')}, ${counted(count('warning'), 'warning')}`)
    }
    return count('problem') > 0 ? 1 : 0
  },
)

const colours = { ok: 'green', warning: 'yellow', problem: 'red' } as const

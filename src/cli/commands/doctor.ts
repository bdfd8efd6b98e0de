/** `ona doctor`: checks the installation, the user's settings and this folder. */

import { resolve } from 'node:path'
import { examine, type Finding } from '../../doctor/doctor.ts'
import { counted } from '../../hooks/text/counted.ts'
import { command } from '../command.ts'
import { paint, said, saidJson } from '../print.ts'

const help = `ona doctor checks what a session here depends on: the program, the database, settings and keys in them that have no effect,
trust, rules, hooks, plugins, model and credential, MCP servers, roles and the dispatcher. It changes nothing: each line that is not ok says what
to do.

  ona doctor
  ona doctor --cwd ../service
  ona doctor --full              also read every page of a large database
  ona doctor --json              [{"level":"ok","about":"database","text":"…"}, …]; "keys" lists settings keys

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

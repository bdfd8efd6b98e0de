/** `ona policy new`: a policy from the library, as files to adapt. */

import { existsSync, mkdirSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import {
  type Starter,
  starterFor,
  starterRehearsal,
  starterSettings,
  starters,
} from '../../../audit/policy/starters.ts'
import { recordedCalls } from '../../../audit/replay/recorded-calls.ts'
import { replay } from '../../../audit/replay/replay.ts'
import { writeAtomic } from '../../../files/atomic-write.ts'
import { counted } from '../../../hooks/text/counted.ts'
import type { Behavior } from '../../../permissions/rule.ts'
import { readDb, StoreError } from '../../../store/open.ts'
import { command } from '../../command.ts'
import { policyOf } from '../../policy.ts'
import { failed, said, saidJson, table, wrong } from '../../print.ts'

const name = 'ona policy new'

const help = `ona policy new writes a policy to start from: settings with its rules or hook, and a rehearsal that proves it. It then
replays the policy over the record, so that you see its effect here. Nothing is in force until you add the settings.

  ona policy new "no force pushes to main"
  ona policy new lock-files --out policies/lock-files
  ona policy list

  --out DIR   where to write it (default: .ona/policies/<name>)
  --json      print what was written and the effect as JSON
`

export const run = command(name, { help, flags: { out: 'value', json: 'flag' }, words: 20 }, async (given, words) => {
  if (words.length === 0) return wrong(name, 'say what it should do, such as "no force pushes"')
  const starter = starterFor(words.join(' '))
  if (!starter)
    return failed(`no policy in the library matches "${words.join(' ')}"; ona policy list shows all of them`)
  const folder = resolve(given.out ?? join('.ona', 'policies', starter.id))
  if (existsSync(folder)) return failed(`${folder} exists; name another folder with --out`)
  const written = writeStarter(starter, folder)
  const effect = await effectOf(starter)
  if (given.json) return saidJson({ policy: starter.id, about: starter.about, files: written, effect })
  const shown = written.map((file) => `  ${relative('.', file)}`)
  said(
    `${starter.id}: ${starter.about}\n${shown.join('\n')}\n${effect ?? 'Nothing is on record here yet to replay it on.'}`,
  )
  return said(`Try it:      ona rehearse ${relative('.', join(folder, 'rehearsal.yaml'))}
Put it in force: add ${relative('.', join(folder, 'settings.json'))} to .ona/settings.json, or carry it in a role (ona role new)`)
})

export const list = command('ona policy list', { help, flags: { json: 'flag' } }, ({ json }) => {
  const rows = starters.map(({ id, about, hook }) => ({ id, kind: hook ? 'hook' : 'rules', about }))
  return json
    ? saidJson(rows)
    : said(
        table(
          ['policy', 'kind', 'about'],
          rows.map((row) => Object.values(row)),
        ),
      )
})

function writeStarter(starter: Starter, folder: string): string[] {
  mkdirSync(folder, { recursive: true })
  const script = join(folder, `${starter.id}.sh`)
  const files: [string, string, number][] = [
    [
      join(folder, 'settings.json'),
      `${JSON.stringify(starterSettings(starter, `sh ${relative('.', script)}`), null, 2)}\n`,
      0o644,
    ],
    [join(folder, 'rehearsal.yaml'), starterRehearsal(starter), 0o644],
    ...(starter.hook ? ([[script, starter.hook.script, 0o755]] as [string, string, number][]) : []),
  ]
  for (const [file, text, mode] of files) writeAtomic(file, text, { mode })
  return files.map(([file]) => file)
}

/** What its rules would have changed on the record; a hook is a program, and is not run on the past. */
async function effectOf({ permissions, hook }: Starter): Promise<string | undefined> {
  const rules: Record<Behavior, string[]> = {
    allow: [],
    ask: [...(permissions?.ask ?? [])],
    deny: [...(permissions?.deny ?? [])],
  }
  const [policy, baseline] = [await policyOf({}, rules), await policyOf({}, { allow: [], ask: [], deny: [] })]
  if ('why' in policy || 'why' in baseline) return undefined
  try {
    const db = readDb(policy.dbPath)
    try {
      const { calls: judged, newlyDenied, newlyAsked } = await replay(recordedCalls(db), policy, () => {}, { baseline })
      if (hook)
        return `${counted(judged, 'call')} on record; a hook is a program: ona hooks replay --run-commands asks it about them.`
      return `On the ${counted(judged, 'call')} on record it would have denied ${newlyDenied} and asked about ${newlyAsked} more than the settings do.`
    } finally {
      db.close()
    }
  } catch (cause) {
    if (cause instanceof StoreError && cause.kind === 'not-there') return undefined
    throw cause
  }
}

/** `ona policy new`: a policy from the library, as files to adapt. */

import { existsSync, mkdirSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { type Check, type Effect, effectOf } from '../../../audit/policy/starters/effect.ts'
import { starterFor, starters } from '../../../audit/policy/starters/library.ts'
import { type Starter, scriptOf, starterRehearsal, starterSettings } from '../../../audit/policy/starters/starter.ts'
import { recordedCalls } from '../../../audit/replay/recorded-calls.ts'
import { writeAtomic } from '../../../files/atomic-write.ts'
import { counted } from '../../../hooks/text/counted.ts'
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
  const effect = await effectHere(starter, folder)
  const { id, about, limits } = starter
  if (given.json) return saidJson({ policy: id, about, limits, files: written, effect: effect ?? null })
  const shown = written.map((file) => `  ${relative('.', file)}`)
  const [settings, rehearsal] = ['settings.json', 'rehearsal.yaml'].map((file) => relative('.', join(folder, file)))
  return said(`${id}: ${about}
${shown.join('\n')}
${effectWords(starter, effect)}
Not covered:     ${limits}
Try it:          ona rehearse ${rehearsal}
Put it in force: add ${settings} to .ona/settings.json${starter.hook ? '' : `; in other agents: a role's hook that runs ona policy guard ${settings}`}`)
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
  const script = join(folder, scriptOf(starter))
  const files: [string, string, number][] = [
    [
      join(folder, 'settings.json'),
      `${JSON.stringify(starterSettings(starter, relative('.', script)), null, 2)}\n`,
      0o644,
    ],
    [join(folder, 'rehearsal.yaml'), starterRehearsal(starter), 0o644],
    ...(starter.hook ? ([[script, starter.hook.script, 0o755]] as [string, string, number][]) : []),
  ]
  for (const [file, text, mode] of files) writeAtomic(file, text, { mode })
  return files.map(([file]) => file)
}

/** Undefined: nothing is on record, or the policy acts at the end of a turn. */
async function effectHere(starter: Starter, folder: string): Promise<Effect | undefined> {
  const baseline = await policyOf({}, { allow: [], ask: [], deny: [] })
  if ('why' in baseline) return undefined
  const check = starter.hook && ((await import(join(folder, scriptOf(starter)))).default as Check)
  try {
    const db = readDb(baseline.dbPath)
    try {
      return await effectOf(starter, recordedCalls(db), { baseline, check })
    } finally {
      db.close()
    }
  } catch (cause) {
    if (cause instanceof StoreError && cause.kind === 'not-there') return undefined
    throw cause
  }
}

function effectWords({ hook }: Starter, effect: Effect | undefined): string {
  if (hook?.event === 'Stop') return 'It acts at the end of a turn: a replay of calls shows nothing of it.'
  if (effect === undefined) return 'Nothing is on record here yet to replay it on.'
  const { calls, newly_denied: denied, newly_asked: asked, examples } = effect
  const lines = [
    `Of ${counted(calls, 'call')} on record it would have denied ${denied} and prompted for ${asked} more than the settings do.`,
  ]
  return [...lines, ...examples.map((example) => `  e.g. ${example}`)].join('\n')
}

/** `ona migrate`: what you have from other agents, what ona does with it, and how to carry over the rest. */
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { fates, type Item, type Survey } from '../../migrate/survey.ts'
import { migrateHosts, surveyAll } from '../../migrate/survey-all.ts'
import { command } from '../command.ts'
import { noted, paint, said, saidJson } from '../print.ts'

const help = `ona migrate shows what you have from Claude Code, Codex, Gemini CLI and opencode, and what ona does with it.
Nothing is run, and without --apply nothing is written.

  ona migrate
  ona migrate --from codex --diff      what would be written
  ona migrate --from codex --apply     write it to ~/.ona and .ona; nothing that is there is replaced
  ona migrate --undo                   take the last --apply back

  --from HOST…   claude, codex, gemini, opencode; all by default
  --all          each item, not only those that need a look
  --cwd DIR      the project
  --json         everything as one line of JSON

not honoured: does not work in ona. no effect: read by the other agent alone. converted: written by --apply. used: read in place.
`

const flags = {
  from: { kind: 'list', oneOf: migrateHosts },
  apply: 'flag',
  diff: 'flag',
  undo: 'flag',
  all: 'flag',
  cwd: 'value',
  json: 'flag',
} as const

export const run = command(
  'ona migrate',
  { help, flags },
  async ({ from, apply, diff, undo, all, cwd = '.', json }) => {
    const { applyPlan, planOf, undoLast } = await import('../../migrate/apply.ts')
    const home = process.env['HOME'] || homedir()
    if (undo) {
      const files = undoLast(home)
      return json ? saidJson({ undone: files }) : said(`put back ${files.join(', ')}`)
    }
    const places = { cwd: resolve(cwd), home, env: process.env }
    const surveys = surveyAll(places, from)
    const plan = await planOf(surveys, places)
    const record = apply && plan.writes.length > 0 ? applyPlan(plan, home, new Date()) : undefined
    if (json) {
      const hosts = surveys.map(({ host, title, items }) => ({ host, title, items: sorted(items) }))
      return saidJson({ hosts, ...plan, applied: record ?? null })
    }
    if (surveys.length === 0)
      return said('nothing of Claude Code, Codex, Gemini CLI or opencode was found here or in your home folder')
    for (const survey of surveys) said(screen(survey, all === true))
    for (const text of plan.kept) noted(`${text}; it stays`)
    if (diff || apply) for (const text of plan.tookOver) noted(text)
    if (diff || apply) for (const write of plan.writes) said(await changesOf(write))
    if (record)
      return said(`written: ${plan.writes.map(({ file }) => file).join(', ')}; ona migrate --undo takes it back`)
    if (plan.writes.length > 0)
      said(`ona migrate --apply writes ${plan.writes.map(({ file }) => file).join(', ')}; --diff shows what`)
    return said('ona audit import brings the histories of these agents into the record')
  },
)

const labels = {
  'not-honoured': 'not honoured',
  'no-effect': 'no effect',
  converted: 'converted',
  used: 'used',
} as const
const colours = { 'not-honoured': 'red', 'no-effect': 'yellow', converted: 'cyan', used: 'green' } as const

/** What guards first, then the worst fate. */
const sorted = (items: readonly Item[]): Item[] =>
  items.toSorted((a, b) => Number(b.security) - Number(a.security) || fates.indexOf(a.fate) - fates.indexOf(b.fate))

/** One line an item for what needs a look, one line a kind for the rest. */
function screen({ title, items }: Survey, all: boolean): string {
  const lines = [paint('bold', title)]
  const single = (item: Item) => all || item.fate === 'not-honoured' || (item.fate === 'no-effect' && item.security)
  const line = (fate: Item['fate'], text: string) =>
    lines.push(`  ${paint(colours[fate], labels[fate].padEnd(12))}  ${text}`)
  for (const { fate, what, name, file, note } of sorted(items).filter(single))
    line(fate, `${what}: ${name}  ${paint('dim', `${file}${note ? `; ${note}` : ''}`)}`)
  for (const fate of fates) {
    const rest = items.filter((item) => item.fate === fate && !single(item))
    const kinds = Map.groupBy(rest, ({ what }) => what)
    for (const [what, of] of kinds) line(fate, `${what}: ${of.map(({ name }) => name).join(', ')}`)
  }
  return `${lines.join('\n')}\n`
}

async function changesOf({
  file,
  before,
  after,
}: {
  file: string
  before: string | null
  after: string
}): Promise<string> {
  const { createTwoFilesPatch } = await import('diff')
  const patch = createTwoFilesPatch(before === null ? '/dev/null' : file, file, before ?? '', after, '', '', {
    context: 2,
  })
  return patch.split('\n').slice(1).join('\n')
}

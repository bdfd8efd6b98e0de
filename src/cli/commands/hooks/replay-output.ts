/** How `ona hooks replay` prints what it finds. */

import type { PartResult, Wanted } from '../../../audit/replay/part-result.ts'
import type { Change, Summary } from '../../../audit/replay/replay.ts'
import { redact } from '../../../hooks/secrets/redact.ts'
import { counted, grouped } from '../../../hooks/text/counted.ts'
import { visible } from '../../../hooks/text/visible.ts'
import { builtInTool } from '../../../tools/all.ts'
import { paint, said, table, write } from '../../print.ts'

/** Replays, and reports what was found part by part. */
export type Run = (wanted: Wanted, onPart: (result: PartResult) => void) => Promise<Summary>

/** `last`: so many changes of each part are needed besides, for reports. */
export async function inJson(run: Run, last: number, seen: (result: PartResult) => void): Promise<Summary> {
  let isFirst = true
  write('{"changes":[')
  const summary = await run({ json: true, last }, (result) => {
    seen(result)
    if (result.json === '') return
    write(isFirst ? result.json : `,${result.json}`)
    isFirst = false
  })
  const { calls: judged, same, newlyDenied, newlyAsked, newlyAllowed, notAsked, failed, byAgent } = summary
  const counts = {
    calls: judged,
    same,
    newly_denied: newlyDenied,
    newly_asked: newlyAsked,
    newly_allowed: newlyAllowed,
    not_replayed: summary.notReplayed,
    not_judged: summary.notJudged,
  }
  write(`],${JSON.stringify({ ...counts, not_asked: notAsked, failed, by_agent: byAgent }).slice(1)}\n`)
  return summary
}

export async function inWords(
  run: Run,
  limit: number,
  last: number,
  seen: (result: PartResult) => void,
): Promise<Summary> {
  const newest: Change[] = []
  const summary = await run({ json: false, last: Math.max(limit, last) }, (result) => {
    seen(result)
    newest.push(...result.changes)
    newest.splice(0, Math.max(0, newest.length - limit))
  })
  const changes = summary.newlyDenied + summary.newlyAsked + summary.newlyAllowed
  said(summed(summary))
  if (newest.length > 0) said(`\n${table(['when', 'tool', 'input', 'was → would be', 'because'], rowsOf(newest))}`)
  if (changes > newest.length)
    said(`The newest ${newest.length} of ${counted(changes, 'change')}; --limit N shows more, --json all.`)
  return summary
}

function summed(summary: Summary): string {
  const { calls, same, newlyDenied, newlyAsked, newlyAllowed, notJudged, notAsked, failed, byAgent } = summary
  const counts = [
    ...[
      [calls === 1 ? 'call' : 'calls', calls] as const,
      ['the same', same] as const,
      ['newly denied', newlyDenied] as const,
    ],
    ...[['newly asked', newlyAsked] as const, ['newly allowed', newlyAllowed] as const],
    ...(summary.notReplayed > 0 ? [['not replayed', summary.notReplayed] as const] : []),
  ]
  const width = grouped(calls).length
  const lines = counts.map(([what, count]) => {
    const line = `${grouped(count).padStart(width)} ${what}`
    return what.startsWith('newly') && count > 0 ? paint('yellow', line) : line
  })
  const agents = Object.entries(byAgent)
  if (agents.length > 1)
    lines.push(`by agent: ${agents.map(([name, { calls: n, changed }]) => `${name} ${changed} of ${n}`).join(', ')}`)
  if (notJudged > 0) lines.push(`left out, because they were never judged: ${counted(notJudged, 'call')}`)
  if (summary.notReplayed > 0 && notAsked.length === 0)
    lines.push('not replayed: commands that a sandbox allows without a prompt, where there is one')
  for (const { hook, calls: count } of notAsked)
    lines.push(`not asked about ${counted(count, 'call')}: ${visible(hook)} (${whyNot(hook)})`)
  for (const { hook, calls: count, why } of failed)
    lines.push(paint('red', `failed on ${counted(count, 'call')}: ${visible(hook)}: ${visible(why)}`))
  return `${lines.join('\n')}\n`
}

const whyNot = (hook: string): string =>
  hook.startsWith('prompt:') ? 'it asks a model, and a replay does not' : 'it is a program; --run-commands runs it'

function rowsOf(changes: readonly Change[]): string[][] {
  const tools = changes.map(({ call: { tool } }) => cut(visible(tool), 20))
  // What is left of a line after times, names and words: most of it for why, the rest for what was called.
  const room = Math.max((process.stdout.columns ?? 160) - 38 - Math.max(...tools.map(({ length }) => length)), 24)
  return changes.map(({ call: { at, tool, input }, was, would, because: { by, name: who, reason } }, index) => {
    const about = redact(builtInTool(tool)?.summary(input) ?? JSON.stringify(input))
    const why = by === 'mode' ? reason : by === 'rule' ? who : `${who}: ${reason}`
    const called = cut(visible(about), Math.floor(room * 0.45))
    return [at.slice(0, 16), tools[index]!, called, `${was} → ${would}`, cut(visible(why), Math.floor(room * 0.55))]
  })
}

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text)

/** How `ona hooks replay` prints what it finds. */

import type { Change, Summary } from '../../../audit/replay/replay.ts'
import { redact } from '../../../hooks/redact.ts'
import { counted } from '../../../hooks/text/counted.ts'
import { visible } from '../../../hooks/text/visible.ts'
import { builtInTool } from '../../../tools/all.ts'
import { paint, said, table, write } from '../../print.ts'

/** Replays, and reports every change as it is found. */
export type Run = (onChange: (change: Change) => void) => Promise<Summary>

export async function inJson(run: Run, seen: (change: Change) => void): Promise<Summary> {
  let changes = 0
  write('{"changes":[')
  const summary = await run((change) => {
    seen(change)
    const { call, was, would, because } = change
    const { at, source, conversationId, sessionId, toolUseId, tool, input } = call
    const shown = JSON.parse(redact(JSON.stringify(input), 'json'))
    const ids = { conversation: conversationId, session: sessionId, tool_use_id: toolUseId }
    const about = { at, agent: source, ...ids, tool, input: shown }
    write(`${changes++ === 0 ? '' : ','}${JSON.stringify({ ...about, was, would_be: would, because })}`)
  })
  const { calls: judged, same, newlyDenied, newlyAsked, newlyAllowed, notJudged, notAsked, failed, byAgent } = summary
  const counts = {
    calls: judged,
    same,
    newly_denied: newlyDenied,
    newly_asked: newlyAsked,
    newly_allowed: newlyAllowed,
  }
  write(
    `],${JSON.stringify({ ...counts, not_judged: notJudged, not_asked: notAsked, failed, by_agent: byAgent }).slice(1)}\n`,
  )
  return summary
}

export async function inWords(run: Run, limit: number, seen: (change: Change) => void): Promise<Summary> {
  let changes = 0
  const newest: Change[] = []
  const summary = await run((change) => {
    seen(change)
    changes++
    newest.push(change)
    if (newest.length > 2 * limit) newest.splice(0, newest.length - limit)
  })
  const shown = newest.slice(-limit)
  said(summed(summary))
  if (shown.length > 0) said(`\n${table(['when', 'tool', 'input', 'was → would be', 'because'], rowsOf(shown))}`)
  if (changes > shown.length)
    said(`The newest ${shown.length} of ${counted(changes, 'change')}; --limit N shows more, --json all.`)
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
  ]
  const width = calls.toLocaleString('en').length
  const lines = counts.map(([what, count]) => {
    const line = `${count.toLocaleString('en').padStart(width)} ${what}`
    return what.startsWith('newly') && count > 0 ? paint('yellow', line) : line
  })
  const agents = Object.entries(byAgent)
  if (agents.length > 1)
    lines.push(`by agent: ${agents.map(([name, { calls: n, changed }]) => `${name} ${changed} of ${n}`).join(', ')}`)
  if (notJudged > 0) lines.push(`left out, because they were never judged: ${counted(notJudged, 'call')}`)
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

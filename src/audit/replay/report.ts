/** A replay as a file: JUnit for CI, a page for people. */

import { redact } from '../../hooks/secrets/redact.ts'
import { counted, grouped } from '../../hooks/text/counted.ts'
import { html, page } from '../../page.ts'
import { sarif } from '../evidence/sarif.ts'
import type { Change, Summary } from './replay.ts'

/** One test case per change; those that `isFatal` names failed. */
export function junitReport(
  summary: Summary,
  changes: readonly Change[],
  isFatal: (change: Change) => boolean,
): string {
  const cases = changes.map((change) => {
    const { call, was, would, because } = change
    const attributes = `classname="${xml(`${call.source}.${call.tool}`)}" name="${xml(`${call.at} ${inputOf(change)}`)}"`
    const text = `${was} → ${would} because of ${because.name}: ${because.reason}`
    const body = isFatal(change)
      ? `<failure message="${xml(`${was} -> ${would}`)}">${xml(text)}</failure>`
      : `<system-out>${xml(text)}</system-out>`
    return `<testcase ${attributes}>${body}</testcase>`
  })
  const failures = changes.filter(isFatal).length
  const same = `<testcase classname="ona.replay" name="${summary.same} of ${counted(summary.calls, 'call')} come out the same"/>`
  const open =
    summary.notReplayed > 0
      ? [
          `<testcase classname="ona.replay" name="${counted(summary.notReplayed, 'call')} not replayed"><skipped/></testcase>`,
        ]
      : []
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="${cases.length + open.length + 1}" failures="${failures}">
<testsuite name="ona hooks replay" tests="${cases.length + open.length + 1}" failures="${failures}" errors="0"${open.length > 0 ? ' skipped="1"' : ''}>
${[same, ...open, ...cases].join('\n')}
</testsuite>
</testsuites>
`
}

/** The same as SARIF, at the file that holds the policy. */
export const sarifReport = (
  changes: readonly Change[],
  isFatal: (change: Change) => boolean,
  policyFile: string,
): string =>
  sarif(
    'ona hooks replay',
    changes.map((change) => ({
      rule: `${change.was}-to-${change.would}`,
      level: isFatal(change) ? 'error' : 'note',
      message: `${change.call.at} ${change.call.source} ${change.call.tool} ${inputOf(change)}: ${change.was} → ${change.would} because of ${change.because.name}: ${change.because.reason}`,
      file: policyFile,
    })),
  )

/** `baseline`: what `was` was decided by, in words. */
export function htmlReport(summary: Summary, changes: readonly Change[], baseline: string): string {
  const { calls, same, newlyDenied, newlyAsked, newlyAllowed, byAgent } = summary
  const boxes: [number, string][] = [
    ...([
      [calls, calls === 1 ? 'call' : 'calls'],
      [same, 'the same'],
    ] as [number, string][]),
    ...([
      [newlyDenied, 'newly denied'],
      [newlyAsked, 'newly asked'],
      [newlyAllowed, 'newly allowed'],
    ] as [number, string][]),
    ...(summary.notReplayed > 0 ? [[summary.notReplayed, 'not replayed'] as [number, string]] : []),
  ]
  const agents = Object.entries(byAgent).map(
    ([name, row]) => `<tr><td>${html(name)}</td><td>${grouped(row.calls)}</td><td>${grouped(row.changed)}</td></tr>`,
  )
  const rows = changes.map((change) => {
    const { call, was, would, because } = change
    const ink = would === 'deny' ? 'bad' : would === 'ask' ? 'wait' : 'good'
    return `<tr><td>${html(call.at)}</td><td>${html(call.source)}</td><td><b>${html(call.tool)}</b><pre>${html(inputOf(change))}</pre></td><td><span class="badge ${ink}-ink">${was} → ${would}</span></td><td>${html(because.name)}<div class="facts">${html(because.reason)}</div></td></tr>`
  })
  const left = newlyDenied + newlyAsked + newlyAllowed - changes.length
  return page({
    title: 'Replay',
    kicker: 'ona hooks replay',
    style: 'td{overflow-wrap:anywhere}td:nth-child(2){overflow-wrap:normal}td pre{max-width:420px}',
    body: `<h1>${grouped(newlyDenied + newlyAsked + newlyAllowed)} of ${counted(calls, 'call')} would have come out differently</h1>
<p class="facts">Compared with ${html(baseline)}.</p>
<section class="sum ${newlyAllowed + newlyDenied > 0 ? 'bad' : 'good'}">${boxes.map(([count, what]) => `<div><b>${grouped(count)}</b><span>${what}</span></div>`).join('')}</section>
<h2>Agents</h2><table><thead><tr><th>Agent</th><th>Calls</th><th>Changed</th></tr></thead><tbody>${agents.join('')}</tbody></table>
<h2>Changes</h2>${rows.length === 0 ? '<p>None.</p>' : `<table class="stack"><thead><tr><th>When, UTC</th><th>Agent</th><th>Call</th><th>Change</th><th>Because</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>`}
${left > 0 ? `<p class="facts">${grouped(left)} more changes are not shown; --json prints all.</p>` : ''}`,
  })
}

/** What the rule looked at, in one short line. */
function inputOf({ call: { input } }: Change): string {
  const { command, file_path, path, url, pattern } = input
  const main = [command, file_path, url, pattern, path].find((each) => typeof each === 'string') as string | undefined
  return redact(main ?? JSON.stringify(input)).slice(0, 300)
}

/** Characters that XML 1.0 cannot hold are dropped. */
const xml = (text: string): string =>
  text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** The verify report as one self-contained page: to read, to print, to attach to a pull request. */
import { html, page } from '../page.ts'
import { killLine, type Report, type ReportedCase, ratingLine, unfencedLine } from './report.ts'

export function reportHtml(report: Report): string {
  const rate = report.total === 0 ? 0 : Math.round((100 * report.passed) / report.total)
  const title = `Coverage of plan ${report.plan?.id ?? '(none)'}`
  const body = `<header><h1>${html(title)}</h1>
<p class="facts">Conversation <code>${html(report.conversation)}</code> · phase <b>${html(report.phase)}</b>${report.plan ? ` · plan hash <code>${html(report.plan.hash.slice(0, 12))}</code>${report.plan.approved_at ? ` · approved ${html(report.plan.approved_at)} UTC` : ''}` : ''}</p></header>
<section class="sum ${report.ready ? 'good' : 'bad'}"><div><b>${report.passed} of ${report.total}</b><span>traced ${report.total === 1 ? 'case' : 'cases'} passed</span></div><div><b>${rate} %</b><span>pass rate</span></div><div><b>${report.uncovered.length}</b><span>${report.uncovered.length === 1 ? 'criterion' : 'criteria'} not covered</span></div>${killBox(report)}${signBox(report)}</section>
${report.sandbox?.sandboxed === false ? `<p class="missing">${html(unfencedLine(report.sandbox.why))}</p>` : ''}
${report.rating ? `<p class="facts">${html(ratingLine(report.rating))}</p>` : ''}
${report.missing ? `<pre class="missing">${html(report.missing)}</pre>` : ''}
<h2>Coverage</h2><table class="stack"><thead><tr><th>Criterion</th><th>What was asked for</th><th>Evidence</th></tr></thead><tbody>
${report.coverage.map(row).join('\n')}
</tbody></table>
<h2>Not covered</h2>${report.uncovered.length === 0 ? '<p>None.</p>' : `<ul>${report.uncovered.map(({ criterion, text }) => `<li><b>${criterion}</b> ${prose(text)}</li>`).join('')}</ul>`}
<h2>What each case printed</h2>
${[...report.coverage.flatMap(({ cases }) => cases), ...report.untraced].map(details).join('\n')}`
  return page({ title, kicker: 'ona verify', body, style })
}

/** A criterion's words, with its code set as code. */
const prose = (text: string): string => html(text).replaceAll(/&#96;(.+?)&#96;/g, '<code>$1</code>')

/** All mutants that were tried, over the criteria. */
function killBox({ coverage }: Report): string {
  const scores = coverage.flatMap(({ kill_score }) => kill_score ?? [])
  const sum = (of: 'killed' | 'mutants') => scores.reduce((all, score) => all + score[of], 0)
  return scores.length === 0 ? '' : `<div><b>${sum('killed')} of ${sum('mutants')}</b><span>mutants killed</span></div>`
}

const signBox = ({ ready, signed_off }: Report): string =>
  signed_off
    ? `<div><b>Signed off</b><span>by ${html(signed_off.by)}, ${html(signed_off.at)} UTC</span></div>`
    : `<div><b>${ready ? 'Ready' : 'Not ready'}</b><span>for sign-off</span></div>`

const row = ({ criterion, text, cases, kill_score }: Report['coverage'][number]): string =>
  `<tr><td><b>${criterion}</b></td><td>${prose(text)}${kill_score ? `<br><small>${html(killLine(kill_score))}${kill_score.survived.length > 0 ? `; survived: ${html(kill_score.survived.join(', '))}` : ''}</small>` : ''}</td><td>${cases.length === 0 ? '<span class="badge failed">no case</span>' : cases.map((each) => `<a href="#${anchor(each)}"><span class="badge ${each.state.replaceAll(' ', '-')}">${each.state}</span> ${html(each.name)}</a>${each.started_at ? `<div class="facts">exit ${each.exit_code ?? 'none'} · ${html(utc(each.started_at))}</div>` : ''}`).join('')}</td></tr>`

const details = (each: ReportedCase): string =>
  `<details id="${anchor(each)}"${each.state === 'passed' ? '' : ' open'}><summary><span class="badge ${each.state.replaceAll(' ', '-')}">${each.state}</span> ${html(each.name)}<span class="time">${each.duration_ms === null ? '' : `exit ${each.exit_code ?? 'none'}${each.timed_out ? ', timed out' : ''} · ${each.duration_ms} ms · ${html(utc(each.started_at ?? ''))}`}</span></summary>
<h3>stdout</h3><pre>${html(each.stdout) || '<i>nothing</i>'}</pre><h3>stderr</h3><pre>${html(each.stderr) || '<i>nothing</i>'}</pre><h3>The case</h3><pre>${html(each.script)}</pre></details>`

/** `2026-11-15T08:23:00.123Z` as the other times of the page are written. */
const utc = (time: string): string => time.replace(/^(\S+)T([\d:]+)(?:\.\d+)?Z$/, '$1 $2 UTC')

const anchor = ({ name }: ReportedCase): string => `case-${encodeURIComponent(name)}`

const style = `
.passed{color:var(--good)}.failed,.proves-nothing{color:var(--bad)}.not-run,.stale{color:var(--wait)}
td .facts{font-size:13px}.missing{border-left:4px solid var(--bad);margin-top:16px}`

/** The verify report as one page that needs nothing beside it: to read, to print, to attach to a pull request. */
import type { Report, ReportedCase } from './report.ts'

export function reportHtml(report: Report): string {
  const rate = report.total === 0 ? 0 : Math.round((100 * report.passed) / report.total)
  const title = `Coverage of plan ${report.plan?.id ?? '(none)'}`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html(title)}</title><style>${style}</style></head><body><main>
<header><p class="kicker">ona verify</p><h1>${html(title)}</h1>
<p class="facts">Conversation <code>${html(report.conversation)}</code> · phase <b>${html(report.phase)}</b>${report.plan ? ` · plan hash <code>${html(report.plan.hash.slice(0, 12))}</code> · approved ${html(report.plan.approved_at ?? '')} UTC` : ''}</p></header>
<section class="sum ${report.ready ? 'good' : 'bad'}"><div><b>${report.passed} of ${report.total}</b><span>traced cases passed</span></div><div><b>${rate} %</b><span>pass rate</span></div><div><b>${report.uncovered.length}</b><span>criteria not covered</span></div><div><b>${report.ready ? 'Ready' : 'Not ready'}</b><span>for sign-off</span></div></section>
${report.missing ? `<pre class="missing">${html(report.missing)}</pre>` : ''}
<h2>Coverage</h2><table><thead><tr><th>Criterion</th><th>What was asked for</th><th>Cases</th></tr></thead><tbody>
${report.coverage.map(row).join('\n')}
</tbody></table>
<h2>Not covered</h2>${report.uncovered.length === 0 ? '<p>None.</p>' : `<ul>${report.uncovered.map(({ criterion, text }) => `<li><b>${criterion}</b> ${html(text)}</li>`).join('')}</ul>`}
<h2>What each case printed</h2>
${[...report.coverage.flatMap(({ cases }) => cases), ...report.untraced].map(details).join('\n')}
</main></body></html>
`
}

const row = ({ criterion, text, cases }: Report['coverage'][number]): string =>
  `<tr><td><b>${criterion}</b></td><td>${html(text)}</td><td>${cases.length === 0 ? '<span class="badge failed">no case</span>' : cases.map((each) => `<a href="#${anchor(each)}"><span class="badge ${each.state.replace(' ', '-')}">${each.state}</span> ${html(each.name)}</a>`).join('<br>')}</td></tr>`

const details = (each: ReportedCase): string =>
  `<details id="${anchor(each)}"${each.state === 'passed' ? '' : ' open'}><summary><span class="badge ${each.state.replace(' ', '-')}">${each.state}</span> ${html(each.name)}<span class="time">${each.duration_ms === null ? '' : `exit ${each.exit_code ?? 'none'}${each.timed_out ? ', timed out' : ''} · ${each.duration_ms} ms · ${html(each.started_at ?? '')}`}</span></summary>
<h3>stdout</h3><pre>${html(each.stdout) || '<i>nothing</i>'}</pre><h3>stderr</h3><pre>${html(each.stderr) || '<i>nothing</i>'}</pre><h3>The case</h3><pre>${html(each.script)}</pre></details>`

const anchor = ({ name }: ReportedCase): string => `case-${encodeURIComponent(name)}`
const html = (text: string): string => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`)

const style = `
:root{color-scheme:light dark;--ink:#1c2024;--soft:#60646c;--line:#d9dce1;--paper:#fff;--field:#f6f7f9;--good:#18794e;--bad:#c62a2f;--wait:#946800}
@media(prefers-color-scheme:dark){:root{--ink:#edeef0;--soft:#b0b4ba;--line:#363a3f;--paper:#16181a;--field:#212427;--good:#3dd68c;--bad:#ff9592;--wait:#ffca16}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.55 system-ui,sans-serif}
main{max-width:960px;margin:0 auto;padding:40px 24px 80px}.kicker{margin:0;color:var(--soft);letter-spacing:.04em}
h1{margin:.1em 0;font-size:28px}h2{margin:36px 0 10px;font-size:18px}h3{margin:12px 0 4px;font-size:12px;color:var(--soft);text-transform:uppercase;letter-spacing:.06em}
.facts{color:var(--soft)}code,pre{font:13px/1.5 ui-monospace,monospace}
.sum{display:flex;flex-wrap:wrap;border:1px solid var(--line);border-left-width:5px;border-radius:8px;overflow:hidden}
.sum.good{border-left-color:var(--good)}.sum.bad{border-left-color:var(--bad)}.sum div{flex:1 1 160px;padding:14px 18px}.sum b{display:block;font-size:20px}.sum span{color:var(--soft);font-size:13px}
table{width:100%;border-collapse:collapse}th{text-align:left;color:var(--soft);font-weight:500;font-size:13px}th,td{padding:9px 10px 9px 0;border-bottom:1px solid var(--line);vertical-align:top}
a{color:inherit;text-decoration:none}a:hover{text-decoration:underline}
.badge{display:inline-block;padding:0 8px;border-radius:10px;font-size:12px;border:1px solid currentColor}.passed{color:var(--good)}.failed{color:var(--bad)}.not-run,.stale{color:var(--wait)}
details{border:1px solid var(--line);border-radius:8px;margin:8px 0;padding:10px 14px}summary{cursor:pointer}.time{float:right;color:var(--soft);font-size:12px}
pre{background:var(--field);padding:10px 12px;border-radius:6px;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;margin:0}.missing{border-left:4px solid var(--bad);margin-top:16px}
@media print{details{break-inside:avoid}}`

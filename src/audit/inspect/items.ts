/** The items of a timeline as HTML. Whatever comes from the database passes `html`. */

import { structuredPatch } from 'diff'
import type { JsonObject } from '../../hooks/shape.ts'
import { counted } from '../../hooks/text/counted.ts'
import { html } from '../../page.ts'
import type { HookAnswer } from './hook-answer.ts'
import type { AgentItem, CallItem, Item, Permission } from './timeline-items.ts'

/** A list of items, with a line where a day begins. */
export function line(items: Iterable<Item>, day = '', asker = 'User'): string {
  let now = day
  let out = ''
  for (const item of items) {
    const date = item.at.slice(0, 10)
    if (date !== now) out += `<li class="day">${html(date)}</li>`
    now = date
    out += itemHtml(item, asker)
  }
  return `<ol class="line">${out}</ol>`
}

function itemHtml(item: Item, asker: string): string {
  switch (item.kind) {
    case 'prompt':
      return li(
        'prompt',
        `${who(typed.includes(item.source) ? asker : 'Added by ona', item.at)}<div class="text">${prose(item.text)}</div>`,
      )
    case 'reply':
      return li('reply', `${who('Agent', item.at)}<div class="text">${prose(item.text)}</div>`)
    case 'call':
      return callHtml(item)
    case 'hook':
      return li('hook', hookLine(item, item.tool === null ? '' : ` about ${item.tool}`))
    case 'phase':
      return li(
        'phase',
        `<b>${html(item.from)} → ${html(item.to)}</b> by ${html(item.by)} <time>${clock(item.at)}</time>`,
      )
    case 'plan':
      return li('plan', planHtml(item))
    case 'agent':
      return li('agent', agentHtml(item))
    case 'note':
      return li('note', `${html(item.about)}${item.text && `: ${html(cut(item.text, 400).text)}`}`)
  }
}

/** What ona itself adds has a source of its own. */
const typed = ['prompt', 'user', '']
const li = (kind: string, body: string) => `<li class="item ${kind}">${body}</li>\n`
const clock = (at: string) => html(at.slice(11, 19))
const time = (at: string) =>
  `<time datetime="${html(at.replace(' ', 'T'))}Z" title="${html(at)} UTC">${clock(at)}</time>`
const who = (name: string, at: string) => `<div class="who"><b>${name}</b>${time(at)}</div>`

function callHtml(call: CallItem): string {
  const { tool, at, output, is_error, permission, hooks, agents } = call
  const refused = permission?.decision === 'deny'
  const [ink, word] = refused
    ? ['bad', 'denied']
    : output === null
      ? ['wait', 'no result']
      : is_error
        ? ['bad', 'error']
        : ['good', 'done']
  const body = [
    inputHtml(call.input),
    output
      ? `<details><summary>Output <span class="soft-ink">${size(output)}</span></summary>${pre(output)}</details>`
      : '',
  ].join('')
  const said = [...hooks.map((hook) => hookLine(hook)), permission ? rulingLine(permission, hooks) : '']
  const nested = agents.length === 0 ? '' : `<div class="agents">${agents.map(agentHtml).join('')}</div>`
  return li(
    refused ? 'call refused' : 'call',
    `<details><summary><b>${html(tool)}</b><code>${html(gist(call.input))}</code>${badge(ink!, word!)}${time(at)}</summary><div class="in">${body}</div></details>${said.join('')}${nested}`,
  )
}

const badge = (ink: string, word: string) => `<span class="badge ${ink}-ink">${html(word)}</span>`

const inks: Record<HookAnswer['says'], string> = {
  ...{ allow: 'good', ask: 'wait', deny: 'bad', changed: 'wait', failed: 'bad' },
  ...{ answered: 'soft', 'no opinion': 'soft', 'not asked': 'soft' },
}

function hookLine({ event, hook, says, why, ms }: HookAnswer, about = ''): string {
  const took = !ms ? '' : ` · ${ms} ms`
  const words = why === '' ? '' : `: ${html(cut(why, 600).text)}`
  const name = cut(hook, 120).text
  return `<div class="say">${badge(inks[says], says)}<div>hook <code>${html(name)}</code> at ${html(event)}${html(about)}${took}${words}</div></div>`
}

const deciders: Record<string, string> = {
  ...{ hook: 'a hook', gate: 'the planning gate', rule: 'a rule', person: 'the user', operator: 'the operator' },
  nobody: 'there was no user to ask',
}

/** A reason that a hook gave just above is not said twice. */
function rulingLine({ decision, by, reason, rule }: Permission, hooks: readonly HookAnswer[]): string {
  const fresh = hooks.some(({ why }) => why !== '' && reason.includes(why)) ? '' : reason
  if (fresh === '' && rule === null && hooks.some(({ says }) => says === decision)) return ''
  const ink = decision === 'allow' ? 'good' : decision === 'deny' ? 'bad' : 'wait'
  const words = [rule === null ? '' : `<code>${html(rule)}</code>`, html(cut(fresh, 600).text)].filter(
    (each) => each !== '',
  )
  return `<div class="say">${badge(ink, decision)}<div>${html(deciders[by] ?? by)}${words.length > 0 ? `: ${words.join(' · ')}` : ''}</div></div>`
}

const planHtml = ({ at, what, plan, by, content }: Item & { kind: 'plan' }): string => {
  const title = `Plan ${plan ?? ''} ${what}${by && ` by ${by}`}`
  if (content === '') return `<div class="who"><b>${html(title)}</b>${time(at)}</div>`
  return `<details><summary><b>${html(title)}</b><span class="time">${clock(at)}</span></summary><div class="text">${prose(content)}</div></details>`
}

function agentHtml({ type, at, items, left_out }: AgentItem): string {
  const left =
    left_out === 0 ? '' : `<p class="left">${counted(left_out, 'more row')} of this sub-agent are in the database.</p>`
  return `<details><summary><b>${html(type)}</b> sub-agent, ${counted(items.length, 'step')}<span class="time">${clock(at)}</span></summary>${line(items, at.slice(0, 10), 'Task')}${left}</details>`
}

/** The one thing that tells most of a call. */
function gist(input: JsonObject): string {
  const keys = ['command', 'file_path', 'notebook_path', 'pattern', 'url', 'query', 'description', 'skill', 'name']
  const key = keys.find((each) => typeof input[each] === 'string')
  const value = key === undefined ? Object.values(input).find((each) => typeof each === 'string') : input[key]
  return typeof value === 'string' ? value.split('\n', 1)[0]!.slice(0, 300) : ''
}

/** All of it, and what people look for in a form that they know. */
function inputHtml(input: JsonObject): string {
  const { old_string: old, new_string: fresh, content, command } = input
  const parts: string[] = []
  const shown: string[] = []
  if (typeof command === 'string') {
    parts.push(pre(`$ ${command}`))
    shown.push('command')
  }
  if (typeof old === 'string' && typeof fresh === 'string') {
    parts.push(diffHtml(old, fresh))
    shown.push('old_string', 'new_string')
  }
  if (typeof content === 'string') {
    parts.push(diffHtml('', content))
    shown.push('content')
  }
  const facts = Object.entries(input)
    .filter(([key]) => !shown.includes(key))
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value, null, 1)}`)
  return (facts.length > 0 ? pre(facts.join('\n')) : '') + parts.join('')
}

function diffHtml(before: string, after: string): string {
  const [old, fresh] = [cut(before), cut(after)]
  const patch = structuredPatch('', '', `${old.text}\n`, `${fresh.text}\n`, '', '', { context: 3, maxEditLength: 400 })
  if (!patch) return pre(`${before}\n→\n${after}`)
  const rows = patch.hunks.flatMap(({ lines }) => lines).filter((row) => row !== '-' || before !== '')
  const kinds: Record<string, string> = { '+': 'add', '-': 'del' }
  const shown = rows.map((row) => `<span class="${kinds[row[0]!] ?? 'ctx'}">${html(row)}</span>`).join('')
  return `<h3>Change</h3><pre class="diff">${shown}</pre>${old.note || fresh.note}`
}

/** More than this of one text makes a page that nobody reads. */
const mostChars = 20_000

function cut(text: string, most = mostChars): { text: string; note: string } {
  if (text.length <= most) return { text, note: '' }
  const left = (text.length - most).toLocaleString('en')
  if (most < mostChars) return { text: `${text.slice(0, most)}…`, note: '' }
  return {
    text: text.slice(0, most),
    note: `<p class="left">${left} more characters; ona inspect --json has all of them.</p>`,
  }
}

function pre(text: string): string {
  const shown = cut(text)
  return `<pre>${html(shown.text)}</pre>${shown.note}`
}

const size = (text: string): string =>
  text.includes('\n') ? counted(text.split('\n').length, 'line') : counted(text.length, 'character')

/** Words of people and models: code stands out, and nothing else of Markdown is read. */
function prose(text: string): string {
  const { text: shown, note } = cut(text)
  const parts: string[][] = [[]]
  for (const row of shown.split('\n')) {
    if (row.startsWith('```')) parts.push([])
    else parts.at(-1)!.push(row)
  }
  const words = (part: string) => html(part.trim()).replaceAll(/&#96;([^\n]+?)&#96;/g, '<code>$1</code>')
  const isCode = (at: number) => at % 2 === 1
  return parts.map((rows, at) => (isCode(at) ? pre(rows.join('\n')) : words(rows.join('\n')))).join('') + note
}

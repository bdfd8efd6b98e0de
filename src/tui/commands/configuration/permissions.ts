import { readFileSync } from 'node:fs'
import { saveUpdates } from '../../../agent/permission-updates.ts'
import type { PermissionUpdate } from '../../../hooks/plane.ts'
import { isBuiltinRule } from '../../../permissions/rules/builtin-rules.ts'
import { readRule } from '../../../permissions/rules/rule.ts'
import { addEvent } from '../../../store/audit.ts'
import { recentDenials } from '../../../store/reports.ts'
import { parseSettings, settingsFile } from '../../../store/settings/settings-files.ts'
import { places } from '../../dialogs/permission.ts'
import { cleanLine } from '../../render/clean.ts'
import { bold, paint } from '../../render/style.ts'
import { pad, width } from '../../render/width.ts'
import type { Ui } from '../../session/command-context.ts'
import { placesOf } from '../../session/save-setting.ts'

const behaviors = ['allow', 'ask', 'deny'] as const
type Behavior = (typeof behaviors)[number]
type Destination = 'localSettings' | 'projectSettings' | 'userSettings' | 'session'
const levels = { user: 'userSettings', project: 'projectSettings', local: 'localSettings', session: 'session' } as const

const usage = 'usage: /permissions [suggest|allow|ask|deny|remove RULE] [--local|--project|--user|--session]'

export async function run(args: string, ui: Ui): Promise<void> {
  const flag = /(?:^|\s)--(local|project|user|session)\s*$/.exec(args)
  const [verb = '', ...rest] = args
    .replace(flag?.[0] ?? '', '')
    .trim()
    .split(/\s+/)
  const rule = rest.join(' ')
  const destination: Destination = levels[(flag?.[1] ?? 'local') as keyof typeof levels]
  if (verb === '') return ui.front.interactive ? edit(ui) : show(ui)
  if (verb === 'suggest' && !rule) return suggest(ui)
  if (verb === 'remove' && rule) return remove(rule, ui)
  if (!behaviors.includes(verb as Behavior) || !rule) return ui.front.notice('error', usage)
  await add(verb as Behavior, rule, destination, ui)
}

function show(ui: Ui): void {
  const { session, front } = ui
  front.print(`Mode: ${session.mode}`)
  for (const behavior of behaviors) {
    front.print(bold(`${behavior}:`))
    const rules = session.permissions[behavior] ?? []
    const wide = Math.min(40, Math.max(...rules.map((rule) => width(cleanLine(rule)))))
    for (const rule of rules)
      front.print(`  ${pad(cleanLine(rule), wide)}  ${paint('dim', whereFrom(rule, behavior, ui))}`)
    if (rules.length === 0) front.print(paint('dim', '  none'))
  }
  const folders = [session.projectDir, ...(session.permissions.additionalDirectories ?? [])]
  front.print(bold('folders:'), ...folders.map((folder) => `  ${folder}`))
}

async function edit(ui: Ui): Promise<void> {
  for (;;) {
    const { session, front } = ui
    type Act =
      | { kind: 'rule'; behavior: Behavior; rule: string }
      | { kind: 'add'; behavior: Behavior }
      | { kind: 'denied' }
      | { kind: 'suggest' }
    const rules = behaviors.flatMap((behavior) =>
      (session.permissions[behavior] ?? []).map((rule) => ({
        label: `${behavior.padEnd(5)} ${cleanLine(rule)}`,
        value: { kind: 'rule', behavior, rule } as Act,
        hint: whereFrom(rule, behavior, ui),
      })),
    )
    const chosen = await front.choose<Act>({
      title: `Permissions (mode ${session.mode})`,
      filter: true,
      choices: [
        ...behaviors.map((behavior) => ({ label: `Add a rule: ${behavior}`, value: { kind: 'add', behavior } as Act })),
        { label: 'What was denied last', value: { kind: 'denied' } },
        { label: 'Rules that your answers suggest', value: { kind: 'suggest' } },
        ...rules.toSorted((a, b) => Number(a.hint === builtIn) - Number(b.hint === builtIn)),
      ],
    })
    if (!chosen) return
    const act = chosen.value
    if (act.kind === 'denied') recentlyDenied(ui)
    else if (act.kind === 'suggest') await suggest(ui)
    else if (act.kind === 'add') await addByHand(act.behavior, ui)
    else {
      const sure = await front.choose({
        title: `Remove ${act.behavior} ${cleanLine(act.rule)}?`,
        question: whereFrom(act.rule, act.behavior, ui),
        choices: [
          { label: 'No', value: false, key: 'n' },
          { label: 'Yes, remove it', value: true, key: 'y' },
        ],
      })
      if (sure?.value) await remove(act.rule, ui, act.behavior)
    }
  }
}

async function addByHand(behavior: Behavior, ui: Ui): Promise<void> {
  const rule = await ui.front.ask({
    title: `Which calls should be ${behavior === 'ask' ? 'asked about' : behavior === 'allow' ? 'allowed' : 'denied'}?`,
    body: ['Bash(npm test:*)  Edit(src/**)  WebFetch(domain:example.org)  mcp__server__tool'],
    check: (text) => {
      const read = readRule(text, behavior)
      return read.ok ? undefined : read.why
    },
  })
  if (rule) await addWhere(behavior, rule, ui)
}

async function addWhere(behavior: Behavior, rule: string, ui: Ui): Promise<void> {
  const where = await ui.front.choose<Destination>({
    title: `Where is ${behavior} ${rule} kept?`,
    choices: [
      { label: 'This project, for me', value: 'localSettings', hint: '.ona/settings.local.json' },
      { label: 'This project, for everyone', value: 'projectSettings', hint: '.ona/settings.json' },
      { label: 'All my projects', value: 'userSettings', hint: '~/.ona/settings.json' },
      { label: 'This session only', value: 'session' },
    ],
  })
  if (where) await add(behavior, rule, where.value, ui)
}

/** Rules from what was approved and denied here, each with its effect on the record; a chosen one is added. */
async function suggest(ui: Ui): Promise<void> {
  const { session, front } = ui
  const { effectOf, suggestionsFor } = await import('./permission-suggestions.ts')
  for (;;) {
    const found = await suggestionsFor(session)
    if (found.length === 0)
      return front.notice(
        'info',
        'no rule to suggest from the last 30 days in this project; ona policy suggest reads all',
      )
    if (!front.interactive) {
      for (const each of found)
        front.print(`${each.behavior} ${cleanLine(each.rule)}`, paint('dim', `  ${effectOf(each)}`))
      return
    }
    const chosen = await front.choose({
      title: 'Rules that the last 30 days in this project suggest',
      choices: found.map((each) => ({
        label: `${each.behavior.padEnd(5)} ${cleanLine(each.rule)}`,
        hint: effectOf(each),
        value: each,
      })),
    })
    if (!chosen) return
    await addWhere(chosen.value.behavior, chosen.value.rule, ui)
  }
}

async function add(behavior: Behavior, text: string, destination: Destination, ui: Ui): Promise<void> {
  const read = readRule(text, behavior)
  if (!read.ok) return ui.front.notice('error', `${text}: ${read.why}`)
  await save({ type: 'addRules', rules: [ruleValue(text)], behavior, destination }, ui)
  ui.front.notice('info', `${behavior} ${text}: in force now, ${places[destination]}`)
}

/** From every file that holds it, and from this session. */
async function remove(text: string, ui: Ui, only?: Behavior): Promise<void> {
  const { session, front } = ui
  const held = behaviors.filter(
    (behavior) => (!only || only === behavior) && (session.permissions[behavior] ?? []).includes(text),
  )
  if (held.length === 0) return front.notice('error', `there is no rule ${text}; /permissions lists them`)
  for (const behavior of held) {
    const from = fileLevels.filter((level) => inFile(text, behavior, level, ui))
    for (const level of from)
      await save({ type: 'removeRules', rules: [ruleValue(text)], behavior, destination: levels[level] }, ui)
    if (from.length === 0)
      await save({ type: 'removeRules', rules: [ruleValue(text)], behavior, destination: 'session' }, ui)
    front.notice(
      'info',
      `${behavior} ${text} is gone${from.length > 0 ? ` from ${from.join(', ')} settings` : ' for this session; no file of yours holds it'}`,
    )
  }
}

async function save(update: PermissionUpdate, { session }: Ui): Promise<void> {
  await saveUpdates(session, [update])
  addEvent(session.db, {
    conversationId: session.conversationId,
    sessionId: session.id,
    type: 'permission_rules',
    detail: update,
  })
}

const fileLevels = ['local', 'project', 'user'] as const

function inFile(rule: string, behavior: Behavior, level: (typeof fileLevels)[number], ui: Ui): boolean {
  const file = settingsFile(level, placesOf(ui))
  if (!file) return false
  const read = parseSettings(readFileSync(file, 'utf8'))
  const permissions = read.ok ? (read.settings['permissions'] as Record<string, unknown> | undefined) : undefined
  const rules = permissions?.[behavior]
  return Array.isArray(rules) && rules.includes(rule)
}

const builtIn = 'built-in'

function whereFrom(rule: string, behavior: Behavior, ui: Ui): string {
  const { session } = ui
  const files = fileLevels.filter((level) => inFile(rule, behavior, level, ui))
  if (files.length === 0)
    return behavior === 'allow' && isBuiltinRule(rule) ? builtIn : 'managed, the command line or this session'
  return files
    .map((level) => settingsFile(level, placesOf(ui))!)
    .map((file) => file.replace(`${session.projectDir}/`, '').replace(session.runtime.home, '~'))
    .join(', ')
}

const ruleValue = (text: string) => {
  const match = /^([^(]+)\(([\s\S]*)\)$/.exec(text)
  return match ? { toolName: match[1]!, ruleContent: match[2]! } : { toolName: text }
}

function recentlyDenied({ session, front }: Ui): void {
  const rows = recentDenials(session.db, session.id)
  if (rows.length === 0) front.notice('info', 'Nothing was denied in this session.')
  for (const { tool, at, reason } of rows) front.print(`  ${at}  ${tool}  ${paint('dim', cleanLine(reason ?? ''))}`)
}

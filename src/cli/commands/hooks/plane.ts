/** `ona hooks list|fire`: which hooks are in force, and how they answer an event. */

import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { readFault } from '../../../files/read-fault.ts'
import { createPlane } from '../../../hooks/dispatch.ts'
import { type EventName, eventNames, eventShape, isEventName } from '../../../hooks/events.ts'
import { labelOf, type Source } from '../../../hooks/handler.ts'
import { type Ordered, orderHandlers } from '../../../hooks/order.ts'
import type { Answer, Invocation, PermissionMode, Scope } from '../../../hooks/plane.ts'
import { type HookProblem, readHooks, sayHookProblem } from '../../../hooks/settings.ts'
import { isObject, type JsonObject, say } from '../../../hooks/shape.ts'
import { readEnvelope } from '../../../hooks/step/apply.ts'
import { type StepName, type Steps, stepNames } from '../../../hooks/steps.ts'
import { type Read, readJson } from '../../../hooks/text/json-text.ts'
import { notKnown } from '../../../hooks/text/nearest.ts'
import { visible } from '../../../hooks/text/visible.ts'
import { eventInput } from '../../../hooks/wire/messages.ts'
import type { PermissionSettings } from '../../../permissions/question.ts'
import type { LoadedSettings } from '../../../store/settings/settings.ts'
import { command } from '../../command.ts'
import { noted, paint, said, saidJson, table, wrong } from '../../print.ts'
import { untilEndingSignal } from '../../signals.ts'

const help = `ona hooks list shows the hooks in force, ona hooks fire runs them on an event that you supply.

  ona hooks list                                  every hook in the order it runs, and where it comes from
  ona hooks fire PreToolUse --input call.json     runs the hooks on this event; nothing is recorded
  ona hooks fire Stop --input '{"stop_hook_active":false}' --settings .ona/settings.json

list and fire:
  --cwd DIR          the folder whose settings count
  --settings FILE    the hooks of this file alone
  --trust            as if the folder were trusted
list:
  --event NAME       an event or a step
fire:
  --input FILE       the fields of the event, or the envelope of the step; - for stdin, or the JSON itself

  --json             one line of JSON
`

const names = [...eventNames, ...stepNames]
const event = { kind: 'value', oneOf: names } as const
const common = { json: 'flag', cwd: 'value', settings: 'value', trust: 'flag' } as const

export const list = command('ona hooks list', { help, flags: { ...common, event } }, async (values) => {
  const found = await inForce(values)
  if ('why' in found) return wrong('ona hooks list', found.why)
  const { handlers, problems } = found
  const shown = handlers.filter(({ event }) => values.event === undefined || event === values.event)
  if (values.json) saidJson({ hooks: shown.map(described), problems })
  else if (shown.length === 0) said('no hook is in force; docs/hooks.md shows how to write one')
  else said(table(['', 'event', 'matcher', 'from', 'hook'], shown.map(row)))
  tell(problems)
  return isBroken(problems) ? 1 : 0
})

function described(handler: Ordered) {
  const { ordinal, event, matcher, ifCondition, kind, source, timeoutMs, onFailure, parallel, withheld } = handler
  return {
    ordinal,
    event,
    matcher,
    if: ifCondition,
    type: kind,
    command: labelOf(handler),
    source: from(source),
    timeout_ms: timeoutMs ?? null,
    on_failure: onFailure ?? null,
    parallel: parallel === true,
    persistent: isPersistent(handler),
    once: handler.once === true,
    withheld: withheld ?? null,
  }
}

const reasonsNot: Record<string, string> = {
  untrusted_workspace: 'untrusted_workspace; trust this folder with ona --trust',
  untrusted_plugin: 'untrusted_plugin; trust the plugin with ona plugin trust NAME',
}

function row(handler: Ordered): string[] {
  const { ordinal, event, matcher, ifCondition, source, withheld } = handler
  const condition = ifCondition === '' ? '' : ` if ${ifCondition}`
  const why = withheld === undefined ? '' : paint('yellow', ` (does not run: ${reasonsNot[withheld] ?? withheld})`)
  const traits = traitsOf(handler).join(', ')
  const hook = visible(labelOf(handler).trim()) + (traits && paint('dim', ` (${traits})`)) + why
  return [`${ordinal}`, event, (matcher || '*') + condition, from(source), hook]
}

/** What its author asked for beyond the matcher. */
function traitsOf(handler: Ordered): string[] {
  const { parallel, once, timeoutMs, onFailure } = handler
  return [
    ...(isPersistent(handler) ? ['persistent'] : []),
    ...(parallel ? ['parallel'] : []),
    ...(once ? ['once'] : []),
    ...(timeoutMs === undefined ? [] : [`timeout ${timeoutMs / 1000} s`]),
    ...(onFailure ? [`onFailure ${onFailure}`] : []),
  ]
}

const isPersistent = (handler: Ordered): boolean => handler.kind === 'command' && handler.persistent === true

const from = (source: Source): string =>
  source.kind === 'plugin'
    ? `plugin ${source.pluginId}`
    : source.kind === 'settings'
      ? (source.layer ?? 'settings')
      : source.kind

const fireFlags = { ...common, input: 'value' } as const

export const fire = command('ona hooks fire', { help, flags: fireFlags, words: 1 }, async (values, [name]) => {
  const wrongly = (why: string) => wrong('ona hooks fire', why)
  if (name === undefined) return wrongly('name the event or step, as in: ona hooks fire PreToolUse --input call.json')
  if (!isName(name)) return wrongly(`the event ${notKnown(name, names)}`)
  const input = readInput(values.input)
  if (!input.ok) return wrongly(input.why)
  const found = await inForce(values)
  if ('why' in found) return wrongly(found.why)
  const { handlers, problems, permissions } = found
  tell(problems)
  const cwd = resolve(values.cwd ?? '.')
  const { dbPath } = await import('../../../store/open.ts')
  const rows: Invocation[] = []
  const stopped = untilEndingSignal()
  const scope: Scope = {
    sessionId: 'fired-by-hand',
    conversationId: 'fired-by-hand',
    dbPath: dbPath(),
    cwd,
    projectDir: cwd,
    permissionMode: permissions.defaultMode ?? 'default',
    signal: stopped.signal,
    record: (invocation) => rows.push(invocation),
  }
  const { withOwnPath } = await import('../../../auth/child-env.ts')
  const plane = createPlane(handlers, {
    env: withOwnPath(process.env),
    matchesRule: (...call) => matchesRule(permissions, ...call),
  })
  const done = await fired(plane, name, input.value as JsonObject, scope)
  stopped.release()
  if ('why' in done)
    return wrongly(
      `the input is not ${/^[aeiou]/i.test(name) ? 'an' : 'a'} ${name} ${isEventName(name) ? 'event' : 'step'}: ${done.why}`,
    )
  const { answer, step } = done
  if (values.json) saidJson({ invocations: rows, answer, ...(step && { step }) })
  else said(rendered(rows, answer, step))
  return stopped.signal.aborted || isBroken(problems) ? 1 : 0
})

async function fired(
  plane: ReturnType<typeof createPlane>,
  name: EventName | StepName,
  input: JsonObject,
  scope: Scope,
): Promise<{ answer: Answer; step?: Steps[StepName] } | { why: string }> {
  if (isEventName(name)) {
    const fields = { ...('tool_use_id' in eventFieldsOf(name) && { tool_use_id: 'fired-by-hand' }), ...input }
    const problem = eventShape(name).check(eventInput(name, fields, scope), '')
    if (problem) return { why: say(problem) }
    return { answer: await plane.raise(name, fields as never, scope) }
  }
  const read = readEnvelope(name, { ...(name === 'after_session_enter' && { cwd: scope.cwd }), ...input })
  if (!read.ok) return { why: say(read.problem) }
  const answer = await plane.ask(name, read.value as never, scope)
  return { answer, step: read.value }
}

const eventFieldsOf = (name: EventName): object =>
  (eventShape(name).schema() as { properties: Record<string, unknown> }).properties

function rendered(rows: readonly Invocation[], answer: Answer, step: Steps[StepName] | undefined): string {
  if (rows.length === 0) return 'no hook in force applies\n'
  const lines: string[] = []
  for (const { ordinal, command, exitCode, stdout, stderr, skippedReason, startedAt, completedAt } of rows) {
    const took = completedAt === null ? '' : ` in ${Date.parse(completedAt) - Date.parse(startedAt)} ms`
    const end = skippedReason
      ? `not asked: ${skippedReason}`
      : exitCode === null
        ? `${stderr ? 'failed' : 'answered'}${took}`
        : `exit ${exitCode}${took}`
    lines.push(`[${ordinal}] ${visible(command)}  ${paint(exitCode === 2 || skippedReason ? 'yellow' : 'green', end)}`)
    for (const [name, text] of Object.entries({ stdout, stderr })) {
      for (const line of text?.trim() ? text.trim().split('\n') : []) lines.push(`    ${name} ${visible(line)}`)
    }
  }
  const { notes, ...merged } = answer
  for (const { effect, hook, reason } of notes)
    lines.push(`${effect} by ${visible(hook)}${reason && `: ${visible(reason)}`}`)
  const verdict = Object.entries({ ...merged, ...(step && { step }) }).filter(([, value]) => !isEmpty(value))
  const width = Math.max(...verdict.map(([key]) => key.length))
  return `${[...lines, 'verdict', ...verdict.map(([key, value]) => `  ${key.padEnd(width)}  ${shown(value)}`)].join('\n')}\n`
}

const isEmpty = (value: unknown) =>
  value === '' ||
  value === null ||
  value === undefined ||
  value === false ||
  (Array.isArray(value) && value.length === 0)
const shown = (value: unknown) => (typeof value === 'string' ? visible(value) : JSON.stringify(value))

interface InForce {
  readonly handlers: readonly Ordered[]
  readonly problems: readonly HookProblem[]
  readonly permissions: PermissionSettings
}

/** The hooks of this folder, or those of one file alone. */
async function inForce({
  cwd: folder = '.',
  settings: file,
  trust,
}: {
  cwd?: string
  settings?: string
  trust?: boolean
}): Promise<InForce | { readonly why: string }> {
  if (file !== undefined) {
    const read = jsonFile(file)
    if (!read.ok) return read
    const { hookFiles } = await import('../../../store/settings/hook-file.ts')
    const load = hookFiles('flag', { cwd: resolve(folder), home: homedir() })
    const { handlers, problems } = readHooks(read.value, { source: { kind: 'settings', layer: file }, load })
    const ordered = orderHandlers(handlers)
    return { handlers: ordered, problems: [...problems, ...(await unreadConditions(ordered))], permissions: {} }
  }
  const { settingsHere } = await import('../../../agent/session/folder-settings.ts')
  const { hooksOf } = await import('../../../store/settings/settings.ts')
  const loaded = settingsHere({ cwd: resolve(folder), flags: { trust } })
  const { handlers, problems } = hooksOf(loaded)
  const plugins = await pluginHooks(loaded)
  const files = loaded.problems.map(({ file, why }) => ({ path: `${file}:`, why, level: 'error' as const }))
  const { strayHookFiles } = await import('../../stray-hooks.ts')
  const stray = strayHookFiles(resolve(folder), process.env['HOME'] || homedir())
  const ordered = orderHandlers([...handlers, ...plugins.handlers])
  return {
    handlers: ordered,
    problems: [...files, ...problems, ...plugins.problems, ...stray, ...(await unreadConditions(ordered))],
    permissions: (loaded.settings.permissions ?? {}) as PermissionSettings,
  }
}

/** Such a hook is asked about every call: it may be a guard. */
async function unreadConditions(handlers: readonly Ordered[]): Promise<HookProblem[]> {
  const conditional = handlers.filter(({ ifCondition }) => ifCondition !== '')
  if (conditional.length === 0) return []
  const { ruleProblem } = await import('../../../permissions/rules/rule.ts')
  return conditional.flatMap(({ ordinal, ifCondition }) => {
    const fault = ruleProblem(ifCondition, 'ask')
    const why = `if ${JSON.stringify(ifCondition)} is not a rule, so the hook runs for every call: ${fault}`
    return fault === undefined ? [] : [{ path: `hook ${ordinal}:`, why, level: 'warning' as const }]
  })
}

async function pluginHooks(loaded: LoadedSettings) {
  const { enabledPlugins, hooksInForce } = await import('../../../plugins/enabled.ts')
  const { plugins, problems } = enabledPlugins({ ...loaded, ...loaded.place, env: process.env })
  return {
    handlers: plugins.flatMap((plugin) => hooksInForce(plugin, loaded)),
    problems: problems.map((why) => ({ path: 'enabledPlugins', why, level: 'error' as const })),
  }
}

async function matchesRule(
  settings: PermissionSettings,
  rule: string,
  tool: string,
  input: JsonObject,
  { cwd }: Scope,
) {
  const { matchesRule } = await import('../../../permissions/rules/rule-applies.ts')
  const mode: PermissionMode = settings.defaultMode ?? 'default'
  return matchesRule(rule, { settings, mode, tool, input, hook: 'none', cwd, projectDir: cwd, home: homedir() })
}

/** A file, `-` for stdin, or the JSON itself. */
function readInput(source = '{}'): Read {
  const read = source.trimStart().startsWith('{') ? parsed(source, '--input') : jsonFile(source === '-' ? 0 : source)
  return read.ok && !isObject(read.value) ? { ok: false, why: 'the input must be a JSON object' } : read
}

function jsonFile(file: string | 0): Read {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    return { ok: false, why: `cannot read ${file || 'stdin'}: ${readFault(error)}` }
  }
  return parsed(text, file || 'stdin')
}

function parsed(text: string, name: string): Read {
  const read = readJson(text)
  return read.ok ? read : { ok: false, why: `${name} is not JSON: ${read.why}` }
}

const isName = (name: string): name is EventName | StepName => (names as readonly string[]).includes(name)

/** A session does not begin beside such hooks. */
const isBroken = (problems: readonly HookProblem[]): boolean => problems.some(({ level }) => level === 'error')

function tell(problems: readonly HookProblem[]): void {
  for (const problem of problems) noted(`${problem.level}: ${sayHookProblem(problem)}`)
}

/** memory-activation: followup-rules.json, reminders that fire when a call looks like one that needs something after it. */

import { namesTool } from '../host/tools.ts'
import { matchesAny } from '../rules/glob.ts'
import { patternMatches } from '../rules/pattern.ts'
import { linesWith, readFrom } from '../session/files.ts'
import { isObject } from '../session/paths.ts'
import { readRules } from '../setup/rules-file.ts'
import type { Context, ContextItem, EventName, EventRecord, HookAction, HookModule, Json } from '../types.ts'

export const hook: HookModule = {
  name: 'memory-activation',
  supports: new Set<EventName>(['PreToolUse', 'PostToolUse']),
  priority: 60,
  hotPathSafe: true,
  critical: false,
  handle(eventName, ctx) {
    const file = readRules(ctx.paths.followupRulesFile, ctx.state.memory?.['rulesStamp'])
    if (file.kind === 'absent') return undefined
    const rules = file.kind === 'rules' ? file.rules['rules'] : undefined
    if (file.kind === 'broken' || !Array.isArray(rules)) {
      if (!file.isNews) return undefined
      const reason = `followup-rules.json: ${file.kind === 'broken' ? file.why : 'rules must be a list'}; no follow-up is given`
      return {
        warnings: [reason],
        statePatch: { memory: { rulesStamp: file.stamp } },
        emitEvents: [{ kind: 'RULES_INVALID', reason, data: { file: 'followup-rules.json' } }],
      }
    }
    return fire(eventName, ctx, rules.filter(isObject))
  },
}

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
const ranks: ReadonlyMap<unknown, number> = new Map([
  ['high', 0],
  ['low', 2],
])
const rankOf = (followup: Json): number => ranks.get(followup['priority']) ?? 1

interface Gathered {
  readonly items: { rank: number; item: ContextItem }[]
  readonly warnings: string[]
  readonly events: EventRecord[]
  readonly pending: Json
  ask?: string
}

function fire(eventName: EventName, ctx: Context, rules: Json[]): HookAction | undefined {
  const gathered: Gathered = { items: [], warnings: [], events: [], pending: {} }
  if (eventName === 'PreToolUse') remind(ctx, rules, gathered)
  for (const rule of rules) {
    const matched = matchRule(eventName, ctx, rule)
    if (matched === undefined || isCooling(ctx, rule)) continue
    apply(eventName, ctx, rule, matched, gathered)
    if (rule['multiMatch'] !== true) break
  }
  const { items, warnings, events, pending, ask } = gathered
  if (events.length === 0 && items.length === 0 && Object.keys(pending).length === 0) return undefined
  return {
    ...(ask !== undefined && { decision: 'ask', denyReason: ask }),
    additionalContext: items.sort((a, b) => a.rank - b.rank).map(({ item }) => item),
    warnings,
    emitEvents: events,
    ...(Object.keys(pending).length > 0 && { statePatch: { memory: { pendingFollowups: pending } } }),
  }
}

/** The path that made a rule match ('' when it looks at none), or undefined. */
function matchRule(eventName: EventName, ctx: Context, rule: Json): string | undefined {
  const trigger = rule['trigger']
  const { event } = ctx
  if (rule['enabled'] === false || typeof rule['id'] !== 'string' || !isObject(trigger) || !isObject(rule['followup']))
    return undefined
  if (trigger['event'] !== eventName) return undefined
  if (typeof trigger['toolName'] === 'string' && !namesTool(trigger['toolName'], event)) return undefined
  const pattern = trigger['toolNamePattern']
  if (
    typeof pattern === 'string' &&
    ![event.toolName, event.tool].some((name) => patternMatches(pattern, name ?? '', 'name'))
  )
    return undefined
  const excluded = texts(trigger['excludePathPatterns'])
  const paths = event.paths.filter((path) => !matchesAny(excluded, path))
  if (excluded.length > 0 && event.paths.length > 0 && paths.length === 0) return undefined
  const wanted = texts(trigger['pathPatterns'])
  const matched = wanted.length > 0 ? paths.find((path) => matchesAny(wanted, path)) : (paths[0] ?? '')
  if (matched === undefined) return undefined
  const conditions = Array.isArray(trigger['conditions']) ? trigger['conditions'] : []
  return conditions.every((condition) => isObject(condition) && holds(condition, ctx)) ? matched : undefined
}

const operators: Record<string, (value: unknown, wanted: unknown) => boolean> = {
  eq: (value, wanted) => value === wanted,
  neq: (value, wanted) => value !== wanted,
  contains: (value, wanted) => typeof value === 'string' && typeof wanted === 'string' && value.includes(wanted),
  matches: (value, wanted) =>
    typeof value === 'string' && typeof wanted === 'string' && patternMatches(wanted, value, 'text'),
  exists: (value) => value !== undefined && value !== null,
  notExists: (value) => value === undefined || value === null,
}

function holds(condition: Json, { state, event }: Context): boolean {
  const field = String(condition['field'] ?? '')
  const [first, ...rest] = field.split('.')
  const roots: Record<string, unknown> = { state, event, toolInput: event.toolInput }
  const named = Object.hasOwn(roots, first!)
  let value: unknown = named ? roots[first!] : event
  for (const key of named ? rest : [first!, ...rest])
    value = typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Json)[key] : undefined
  const operator = operators[String(condition['op'])]
  return operator?.(value, condition['value']) === true
}

/** Firings are counted from the log, not kept as a number that two processes could both raise. */
function isCooling(ctx: Context, rule: Json): boolean {
  const { state } = ctx
  const cooldown = rule['cooldown']
  if (!isObject(cooldown)) return false
  const { perSession, perWorkId, intervalMs } = cooldown
  const pending = state.memory?.['pendingFollowups']
  const entry = isObject(pending) ? pending[String(rule['id'])] : undefined
  const last = isObject(entry) && typeof entry['lastFiredTs'] === 'number' ? entry['lastFiredTs'] : 0
  if (typeof intervalMs === 'number' && Date.now() - last < intervalMs) return true
  if (typeof perSession !== 'number' && typeof perWorkId !== 'number') return false
  const fired = countEvents(ctx, 'MEMORY_FOLLOWUP_TRIGGER', rule['id'])
  return (
    (typeof perSession === 'number' && fired.session >= perSession) ||
    (typeof perWorkId === 'number' && fired.work >= perWorkId)
  )
}

/** How often a rule's event of this kind stands in the last mebibyte of the log and in this run. */
function countEvents({ paths, ids, pendingEvents }: Context, kind: string, ruleId: unknown, since?: unknown) {
  const counts = { session: 0, work: 0 }
  const logged = linesWith(readFrom(paths.eventsFile, 0, 1024 * 1024).bytes, `"${kind}"`)
  for (const record of [...logged, ...(pendingEvents as unknown as Json[])]) {
    if (record['kind'] !== kind || !isObject(record['data']) || record['data']['ruleId'] !== ruleId) continue
    if (typeof record['ts'] !== 'number' || (typeof since === 'number' && record['ts'] < since)) continue
    counts.session++
    if (record['workId'] === ids.workId) counts.work++
  }
  return counts
}

function apply(eventName: EventName, ctx: Context, rule: Json, matchedPath: string, gathered: Gathered): void {
  const followup = rule['followup'] as Json
  const id = String(rule['id'])
  const action = String(followup['action'])
  const fill = (value: unknown) => (typeof value === 'string' ? template(value, ctx, matchedPath) : '')
  const message = fill(followup['message']) || fill(rule['description']) || `follow-up ${id}`
  const rank = rankOf(followup)
  const now = Date.now()
  const status = action === 'enqueue_tool' && eventName === 'PostToolUse' ? 'pending' : 'fired'
  gathered.pending[id] = { rule: id, triggeredAt: now, lastFiredTs: now, status }
  gathered.events.push({
    kind: 'MEMORY_FOLLOWUP_TRIGGER',
    toolName: ctx.event.toolName,
    data: { ruleId: id, action, matchedPath },
  })
  if (action === 'inject_context')
    gathered.items.push({
      rank,
      item: { key: String(followup['contextKey'] ?? id), value: fill(followup['contextValue']) || message },
    })
  else if (action === 'enqueue_tool') gathered.items.push({ rank, item: { key: `followup-${id}`, value: message } })
  else if (action === 'ask' && eventName === 'PreToolUse') gathered.ask ??= message
  else gathered.warnings.push(message)
}

const template = (text: string, { event, ids }: Context, matchedPath: string): string => {
  const values: Record<string, string> = { matchedPath, toolName: event.toolName ?? '', workId: ids.workId }
  return text.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) => (Object.hasOwn(values, name) ? values[name]! : ''))
}

const maxReminders = 3

/** A tool that was asked for ends its follow-up; any other call is reminded of it, a few times. */
function remind(ctx: Context, rules: Json[], gathered: Gathered): void {
  const pending = ctx.state.memory?.['pendingFollowups']
  if (!isObject(pending)) return
  for (const [id, entry] of Object.entries(pending)) {
    const rule = rules.find((candidate) => candidate['id'] === id)
    const followup = rule?.['followup']
    if (!isObject(entry) || entry['status'] !== 'pending' || !rule || !isObject(followup)) continue
    if (isHinted(ctx, followup['toolHint'])) {
      gathered.pending[id] = { status: 'completed' }
      gathered.events.push({ kind: 'MEMORY_FOLLOWUP_COMPLETE', toolName: ctx.event.toolName, data: { ruleId: id } })
      continue
    }
    if (countEvents(ctx, 'MEMORY_FOLLOWUP_REMIND', id, entry['triggeredAt']).session >= maxReminders) {
      gathered.pending[id] = { status: 'skipped' }
      continue
    }
    gathered.events.push({ kind: 'MEMORY_FOLLOWUP_REMIND', data: { ruleId: id } })
    const value = template(String(followup['message'] ?? rule['description'] ?? id), ctx, '')
    gathered.items.push({
      rank: rankOf(followup),
      item: { key: `followup-${id}`, value },
    })
  }
}

function isHinted({ event }: Context, hint: unknown): boolean {
  if (!isObject(hint) || typeof hint['toolName'] !== 'string' || !namesTool(hint['toolName'], event)) return false
  const inputs = isObject(hint['inputTemplate']) ? Object.entries(hint['inputTemplate']) : []
  return inputs.every(
    ([key, wanted]) => (typeof wanted === 'string' && wanted.includes('{{')) || event.toolInput?.[key] === wanted,
  )
}

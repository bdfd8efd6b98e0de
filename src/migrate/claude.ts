/** Claude Code: nearly all of it is read in place. */

import { join } from 'node:path'
import { parseJsonc } from '../files/jsonc.ts'
import { isHookName } from '../hooks/settings.ts'
import { isObject, type JsonObject } from '../hooks/shape.ts'
import { counted } from '../hooks/text/counted.ts'
import { claudeServers } from '../mcp/config.ts'
import { ruleProblem } from '../permissions/rules/rule.ts'
import { installedPlugins } from '../plugins/registry.ts'
import { isSecurityKey } from '../store/settings/security-keys.ts'
import { settingsFile } from '../store/settings/settings-files.ts'
import { flatHooks } from '../store/settings/settings-merge.ts'
import { notFromClaude, settingsShape } from '../store/settings/settings-shape.ts'
import { filesIn, Gathering, type Places, type Survey, skillsIn, textOf } from './survey.ts'

export function surveyClaude(places: Places): Survey {
  const { cwd, home, env } = places
  const found = new Gathering()
  const folder = env['CLAUDE_CONFIG_DIR'] || join(home, '.claude')
  const files = [
    { level: 'user', file: join(folder, 'settings.json') },
    { level: 'project', file: join(cwd, '.claude', 'settings.json') },
    { level: 'local', file: join(cwd, '.claude', 'settings.local.json') },
  ] as const
  for (const { level, file } of files) {
    const text = textOf(file)
    if (text === undefined || (level !== 'user' && cwd === home)) continue
    const inForce = settingsFile(level, places)
    if (inForce !== file) {
      found.add('not-honoured', 'settings', level, file, {
        security: true,
        note: `${inForce} is read in its place; copy what you need`,
      })
      continue
    }
    const read = parseJsonc(text)
    if (!read.ok || !isObject(read.value))
      found.add('not-honoured', 'settings', level, file, { security: true, note: 'it is not a JSON object' })
    else surveySettings(read.value, file, found)
  }
  for (const { servers, from } of claudeServers(home, cwd, env))
    for (const name of isObject(servers) ? Object.keys(servers) : []) found.add('used', 'MCP server', name, from)
  for (const base of cwd === home ? [folder] : [folder, join(cwd, '.claude')]) {
    for (const { name, path } of filesIn(join(base, 'agents'), '.md')) found.add('used', 'agent', name, path)
    for (const { name, path } of filesIn(join(base, 'commands'), '.md')) found.add('used', 'command', name, path)
    for (const { name, path } of skillsIn(join(base, 'skills'))) found.add('used', 'skill', name, path)
    for (const { name, path } of filesIn(join(base, 'output-styles'), '.md'))
      found.add('used', 'output style', name, path)
    for (const { name, path } of filesIn(join(base, 'rules'), '.md')) found.add('used', 'instructions', name, path)
  }
  for (const file of [join(folder, 'CLAUDE.md'), join(cwd, 'CLAUDE.md'), join(cwd, 'CLAUDE.local.md')])
    if (textOf(file) !== undefined) found.add('used', 'instructions', 'CLAUDE.md', file)
  for (const { id, root, by } of installedPlugins(places, cwd))
    if (by === 'claude') found.add('used', 'plugin', id, root, { note: 'once you trust it' })
  return { host: 'claude', title: 'Claude Code', items: found.items, changes: found.changes }
}

function surveySettings(settings: JsonObject, file: string, found: Gathering): void {
  for (const [key, value] of Object.entries(settings)) {
    if (key === 'permissions' && isObject(value)) surveyRules(value, file, found)
    else if (key === 'hooks') surveyHooks(value, file, found)
    else if (key === 'env' && isObject(value))
      for (const name of Object.keys(value)) found.add('used', 'env', name, file)
    else if (key === 'mcpServers' && isObject(value))
      for (const name of Object.keys(value)) found.add('used', 'MCP server', name, file)
    else if (Object.hasOwn(settingsShape.fields, key) && !notFromClaude.includes(key))
      found.add('used', 'settings', key, file, { security: isSecurityKey(key) })
    else found.add('no-effect', 'settings', key, file, { security: isSecurityKey(key) })
  }
}

function surveyRules(permissions: JsonObject, file: string, found: Gathering): void {
  for (const [key, value] of Object.entries(permissions)) {
    if (key !== 'allow' && key !== 'ask' && key !== 'deny') {
      found.add('used', 'permissions', key, file)
      continue
    }
    const rules = Array.isArray(value) ? value : []
    const bad = rules.filter((rule) => typeof rule !== 'string' || ruleProblem(rule, key) !== undefined)
    if (rules.length > bad.length)
      found.add('used', 'permissions', counted(rules.length - bad.length, `${key} rule`), file)
    for (const rule of bad)
      found.add('not-honoured', 'permissions', `${key} ${JSON.stringify(rule)}`, file, {
        note: typeof rule === 'string' ? ruleProblem(rule, key) : 'it is not a text',
      })
  }
}

function surveyHooks(hooks: unknown, file: string, found: Gathering): void {
  const all = flatHooks(hooks, 'user')
  const count = new Map<string, number>()
  for (const { hook_event_name: event } of all) count.set(event, (count.get(event) ?? 0) + 1)
  for (const [event, times] of count)
    if (isHookName(event)) found.add('used', 'hooks', `${times} of ${event}`, file)
    else found.add('not-honoured', 'hooks', `${times} of ${event}`, file, { note: 'ona has no such event' })
}

/** Codex: `config.toml`, `hooks.json`, rules, prompts, skills and AGENTS.md. */

import { join } from 'node:path'
import { parse } from 'smol-toml'
import { isHookName } from '../hooks/settings.ts'
import { isObject, type JsonObject } from '../hooks/shape.ts'
import { counted } from '../hooks/text/counted.ts'
import { readJson } from '../hooks/text/json-text.ts'
import { isSecurityKey } from '../store/settings/security-keys.ts'
import { rulesFile } from './codex-rules.ts'
import { filesIn, Gathering, type Places, type Scope, type Survey, skillsIn, textOf } from './survey.ts'

export function surveyCodex({ cwd, home, env }: Places): Survey {
  const found = new Gathering()
  const own = env['CODEX_HOME'] || join(home, '.codex')
  const folders: [Scope, string][] = [
    ['user', own],
    ...(cwd === home ? [] : [['project', join(cwd, '.codex')] as [Scope, string]]),
  ]
  for (const [scope, folder] of folders) {
    surveyConfig(join(folder, 'config.toml'), scope, found)
    const file = join(folder, 'hooks.json')
    const read = readJson(textOf(file) ?? '{}')
    if (read.ok && isObject(read.value)) surveyHooks(read.value['hooks'], file, scope, found)
    else found.add('not-honoured', 'hooks', 'hooks.json', file, { note: 'it is not JSON' })
    for (const { path } of filesIn(join(folder, 'rules'), '.rules')) surveyRules(path, scope, found)
  }
  for (const { name, path } of filesIn(join(own, 'prompts'), '.md')) {
    found.add('converted', 'command', name, path)
    found.change({ file: join(home, '.ona', 'commands', `${name}.md`), text: textOf(path) ?? '' })
  }
  for (const { name, path } of skillsIn(join(own, 'skills'))) {
    found.add('converted', 'skill', name, path, { note: 'its SKILL.md; files beside it stay where they are' })
    found.change({ file: join(home, '.ona', 'skills', name, 'SKILL.md'), text: textOf(path) ?? '' })
  }
  const instructions = join(own, 'AGENTS.md')
  if (textOf(instructions)?.trim()) {
    found.add('converted', 'instructions', 'AGENTS.md', instructions, { note: 'copied to ~/.ona/ONA.md' })
    found.change({ file: join(home, '.ona', 'ONA.md'), text: textOf(instructions)! })
  }
  if (textOf(join(cwd, 'AGENTS.md')) !== undefined)
    found.add('used', 'instructions', 'AGENTS.md', join(cwd, 'AGENTS.md'))
  return { host: 'codex', title: 'Codex', items: found.items, changes: found.changes }
}

function surveyConfig(file: string, scope: Scope, found: Gathering): void {
  const text = textOf(file)
  if (text === undefined) return
  let config: JsonObject
  try {
    config = parse(text) as JsonObject
  } catch (cause) {
    return void found.add('not-honoured', 'settings', 'config.toml', file, {
      security: true,
      note: `it is not TOML: ${(cause as Error).message.split('\n')[0]}`,
    })
  }
  for (const [key, value] of Object.entries(config)) {
    if (key === 'mcp_servers' && isObject(value)) surveyServers(value, file, scope, found)
    else if (key === 'hooks') surveyHooks(value, file, scope, found)
    else if (key === 'sandbox_mode' && value === 'workspace-write') {
      found.add('converted', 'sandbox', `sandbox_mode = "${value}"`, file, { note: 'sandbox.enabled' })
      found.change({ scope, path: ['sandbox', 'enabled'], value: true })
    } else if (key === 'approval_policy' && value !== 'never') {
      found.add('converted', 'permissions', `approval_policy = "${value}"`, file, {
        note: 'permissions.defaultMode default',
      })
      found.change({ scope, path: ['permissions', 'defaultMode'], value: 'default' })
    } else if (key === 'shell_environment_policy' && isObject(value) && isObject(value['set'])) {
      for (const [name, each] of Object.entries(value['set'])) {
        found.add('converted', 'env', name, file)
        found.change({ scope, path: ['env', name], value: String(each) })
      }
    } else {
      const loose = key === 'sandbox_mode' || key === 'approval_policy'
      const note = loose ? 'it would allow more than ona does by default; see docs/permissions.md' : modelNote(key)
      found.add(
        loose ? 'not-honoured' : 'no-effect',
        loose ? 'permissions' : 'settings',
        loose ? `${key} = ${JSON.stringify(value)}` : key,
        file,
        { security: loose || isSecurityKey(key), ...(note && { note }) },
      )
    }
  }
}

const modelNote = (key: string): string | undefined =>
  /^model/.test(key) ? 'choose a model with ona login, --model or /model' : undefined

function surveyServers(servers: JsonObject, file: string, scope: Scope, found: Gathering): void {
  for (const [name, entry] of Object.entries(servers)) {
    const server = isObject(entry) ? serverOf(entry) : undefined
    if (!server) found.add('not-honoured', 'MCP server', name, file, { note: 'it has neither command nor url' })
    else {
      const limits = isObject(entry) ? ['enabled_tools', 'disabled_tools'].filter((key) => key in entry) : []
      found.add('converted', 'MCP server', name, file)
      for (const key of limits)
        found.add('not-honoured', 'permissions', `${name}: ${key}`, file, {
          note: `write deny rules such as mcp__${name}__TOOL`,
        })
      found.change({ scope, path: ['mcpServers', name], value: server })
    }
  }
}

function serverOf(entry: JsonObject): JsonObject | undefined {
  const { command, args, env, url, bearer_token_env_var: token, http_headers: headers } = entry
  if (typeof command === 'string')
    return { command, ...(Array.isArray(args) && { args }), ...(isObject(env) && { env }) }
  if (typeof url !== 'string') return undefined
  const all = {
    ...(isObject(headers) && headers),
    ...(typeof token === 'string' && { Authorization: `Bearer \${${token}}` }),
  }
  return { type: 'http', url, ...(Object.keys(all).length > 0 && { headers: all }) }
}

/** Codex writes hooks as Claude Code does, and gives them much the same input. */
function surveyHooks(hooks: unknown, file: string, scope: Scope, found: Gathering): void {
  if (!isObject(hooks)) return
  for (const [event, groups] of Object.entries(hooks)) {
    if (!Array.isArray(groups)) continue
    const name = `${groups.length} of ${event}`
    if (!isHookName(event)) {
      found.add('not-honoured', 'hooks', name, file, { note: 'ona has no such event' })
      continue
    }
    found.add('converted', 'hooks', name, file, { note: "with Claude Code's contract" })
    const marked = groups.filter(isObject).map((group) => ({
      ...group,
      hooks: (Array.isArray(group['hooks']) ? group['hooks'] : [])
        .filter(isObject)
        .map((hook) => ({ ...hook, profile: 'claude' })),
    }))
    found.change({ scope, path: ['hooks', event], add: marked })
  }
}

function surveyRules(file: string, scope: Scope, found: Gathering): void {
  const { rules, unread } = rulesFile(textOf(file) ?? '')
  for (const list of ['deny', 'ask', 'allow'] as const) {
    const add = rules.filter((rule) => rule.list === list).map(({ text }) => text)
    if (add.length === 0) continue
    found.add('converted', 'permissions', counted(add.length, `${list} rule`), file)
    found.change({ scope, path: ['permissions', list], add })
  }
  for (const text of unread)
    found.add('not-honoured', 'permissions', text, file, {
      note: 'it is no plain prefix_rule; write a rule of your own',
    })
}

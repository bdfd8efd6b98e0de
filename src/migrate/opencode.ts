/** opencode: `opencode.json`, agents, commands and plugins. */
import { join } from 'node:path'
import { parseJsonc } from '../files/jsonc.ts'
import { isObject, type JsonObject } from '../hooks/shape.ts'
import { opencodeTools } from '../hosts/opencode/tools.ts'
import { isSecurityKey } from '../store/settings/security-keys.ts'
import { readFrontmatter } from '../tools/skills/frontmatter.ts'
import { filesIn, Gathering, markdown, type Places, type Scope, type Survey, textOf } from './survey.ts'
import { toolOf } from './tool-names.ts'

export function surveyOpencode({ cwd, home, env }: Places): Survey {
  const found = new Gathering()
  const own = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'opencode')
  const bases: [Scope, string, string[]][] = [
    ['user', home, [own]],
    ...(cwd === home ? [] : [['project', cwd, [cwd, join(cwd, '.opencode')]] as [Scope, string, string[]]]),
  ]
  for (const [scope, base, folders] of bases)
    for (const folder of folders) {
      for (const name of ['opencode.json', 'opencode.jsonc']) surveyConfig(join(folder, name), scope, base, found)
      if (folder === cwd) continue
      for (const part of ['agent', 'agents'])
        for (const { name, path } of filesIn(join(folder, part), '.md')) surveyAgentFile(name, path, base, found)
      for (const part of ['command', 'commands'])
        for (const { name, path } of filesIn(join(folder, part), '.md')) {
          found.add('converted', 'command', name, path)
          found.change({ file: join(base, '.ona', 'commands', `${name}.md`), text: textOf(path) ?? '' })
        }
      for (const part of ['plugin', 'plugins'])
        for (const ending of ['.ts', '.js'])
          for (const { name, path } of filesIn(join(folder, part), ending))
            found.add('not-honoured', 'hooks', name, path, {
              note: 'a plugin is a program for opencode; write what it guards as a hook or a rule',
            })
    }
  const instructions = join(own, 'AGENTS.md')
  if (textOf(instructions)?.trim()) {
    found.add('converted', 'instructions', 'AGENTS.md', instructions, { note: 'copied to ~/.ona/ONA.md' })
    found.change({ file: join(home, '.ona', 'ONA.md'), text: textOf(instructions)! })
  }
  return { host: 'opencode', title: 'opencode', items: found.items, changes: found.changes }
}

function surveyConfig(file: string, scope: Scope, base: string, found: Gathering): void {
  const text = textOf(file)
  if (text === undefined) return
  const read = parseJsonc(text)
  if (!read.ok || !isObject(read.value))
    return void found.add('not-honoured', 'settings', 'opencode.json', file, {
      security: true,
      note: 'it is not a JSON object',
    })
  for (const [key, value] of Object.entries(read.value)) {
    if (key === '$schema') continue
    if (key === 'mcp' && isObject(value)) surveyServers(value, file, scope, found)
    else if (key === 'permission') surveyPermission(value, file, scope, found)
    else if (key === 'command' && isObject(value)) surveyCommands(value, file, base, found)
    else if (key === 'agent' && isObject(value))
      for (const [name, each] of Object.entries(value)) surveyAgent(name, isObject(each) ? each : {}, file, base, found)
    else if (key === 'plugin')
      for (const name of [value].flat())
        found.add('not-honoured', 'hooks', String(name), file, { note: 'a plugin is a program for opencode' })
    else
      found.add('no-effect', 'settings', key, file, {
        security: isSecurityKey(key),
        ...(/model/.test(key) && { note: 'choose a model with ona login, --model or /model' }),
      })
  }
}

function surveyServers(servers: JsonObject, file: string, scope: Scope, found: Gathering): void {
  for (const [name, entry] of Object.entries(servers)) {
    const { type, command, environment, url, headers, enabled } = isObject(entry) ? entry : {}
    if (enabled === false) {
      found.add('no-effect', 'MCP server', name, file, { note: 'it is disabled' })
      continue
    }
    const [program, ...args] = Array.isArray(command) ? command : []
    const value =
      type === 'remote' && typeof url === 'string'
        ? { type: 'http', url, ...(isObject(headers) && { headers }) }
        : typeof program === 'string'
          ? { command: program, args, ...(isObject(environment) && { env: environment }) }
          : undefined
    if (!value) found.add('not-honoured', 'MCP server', name, file, { note: 'it has neither command nor url' })
    else {
      found.add('converted', 'MCP server', name, file)
      found.change({ scope, path: ['mcpServers', name], value })
    }
  }
}

const decisions = ['allow', 'ask', 'deny']

/** `{"bash": {"git push *": "ask", "*": "allow"}, "edit": "deny"}`; in opencode the last match wins, in ona deny, then ask. */
function surveyPermission(permission: unknown, file: string, scope: Scope, found: Gathering): void {
  const entries =
    typeof permission === 'string'
      ? [['*', permission] as const]
      : isObject(permission)
        ? Object.entries(permission)
        : []
  for (const [name, value] of entries) {
    const tool = toolOf(name, opencodeTools)
    const cases = typeof value === 'string' ? [['*', value] as const] : isObject(value) ? Object.entries(value) : []
    for (const [pattern, decision] of cases) {
      const list = String(decision)
      const said = `${name}${pattern === '*' ? '' : `(${pattern})`}: ${list}`
      const broadAllow = list === 'allow' && pattern === '*' && (tool === 'Bash' || !tool)
      if (
        !tool ||
        !decisions.includes(list) ||
        broadAllow ||
        (pattern !== '*' && !['Bash', 'Read', 'Edit', 'WebFetch'].includes(tool))
      )
        found.add('not-honoured', 'permissions', said, file, {
          note: broadAllow
            ? 'it would allow everything; allow what you need by rule'
            : 'it cannot be written as a rule',
        })
      else {
        const rule = pattern === '*' ? tool : `${tool}(${pattern})`
        found.add('converted', 'permissions', `${list} ${rule}`, file)
        found.change({ scope, path: ['permissions', list], add: [rule] })
      }
    }
  }
}

function surveyCommands(commands: JsonObject, file: string, base: string, found: Gathering): void {
  for (const [name, entry] of Object.entries(commands)) {
    const { template, description, agent } = isObject(entry) ? entry : {}
    if (typeof template !== 'string' || !/^[\w-]+$/.test(name)) {
      found.add('not-honoured', 'command', name, file, { note: 'it has no template' })
      continue
    }
    found.add('converted', 'command', name, file)
    const word = (value: unknown) => (typeof value === 'string' ? value : undefined)
    found.change({
      file: join(base, '.ona', 'commands', `${name}.md`),
      text: markdown({ description: word(description), agent: word(agent) }, template),
    })
  }
}

function surveyAgentFile(name: string, path: string, base: string, found: Gathering): void {
  const read = readFrontmatter(textOf(path) ?? '')
  if (read.ok) surveyAgent(name, { ...read.fields, prompt: read.body }, path, base, found)
  else found.add('not-honoured', 'agent', name, path, { note: read.why })
}

function surveyAgent(name: string, agent: JsonObject, file: string, base: string, found: Gathering): void {
  const { description, prompt, tools, permission } = agent
  if (typeof description !== 'string' || typeof prompt !== 'string' || !/^[a-z][a-z0-9-]*$/.test(name))
    return void found.add('not-honoured', 'agent', name, file, {
      note: 'it needs a description and a prompt, and a name of small letters',
    })
  const off = isObject(tools)
    ? Object.entries(tools).flatMap(([tool, on]) => (on === false ? (toolOf(tool, opencodeTools) ?? []) : []))
    : []
  found.add('converted', 'agent', name, file)
  if (permission !== undefined)
    found.add('not-honoured', 'permissions', `agent ${name}: permission`, file, {
      note: 'rules hold for the whole session; write them there',
    })
  found.change({
    file: join(base, '.ona', 'agents', `${name}.md`),
    text: markdown({ name, description, disallowedTools: off.length > 0 ? off.join(', ') : undefined }, prompt),
  })
}

/** Gemini CLI: `settings.json`, policies, commands, extensions and GEMINI.md. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { parseJsonc } from '../files/jsonc.ts'
import { isObject, type JsonObject } from '../hooks/shape.ts'
import { geminiTools } from '../hosts/gemini/tools.ts'
import { isSecurityKey } from '../store/settings/security-keys.ts'
import { filesIn, Gathering, markdown, type Places, type Scope, type Survey, textOf } from './survey.ts'
import { toolOf } from './tool-names.ts'

export function surveyGemini({ cwd, home, env }: Places): Survey {
  const found = new Gathering()
  const own = join(env['GEMINI_CLI_HOME'] || home, '.gemini')
  const folders: [Scope, string][] = [
    ['user', own],
    ...(cwd === home ? [] : [['project', join(cwd, '.gemini')] as [Scope, string]]),
  ]
  for (const [scope, folder] of folders) {
    surveySettings(join(folder, 'settings.json'), scope, found)
    for (const { path } of filesIn(join(folder, 'policies'), '.toml')) surveyPolicy(path, scope, found)
    for (const { name, path } of filesIn(join(folder, 'commands'), '.toml'))
      surveyCommand(name, path, scope === 'user' ? home : cwd, found)
    const instructions = scope === 'user' ? join(folder, 'GEMINI.md') : join(cwd, 'GEMINI.md')
    if (!textOf(instructions)?.trim()) continue
    const target = scope === 'user' ? join(home, '.ona', 'ONA.md') : join(cwd, 'ONA.md')
    found.add('converted', 'instructions', 'GEMINI.md', instructions, {
      note: scope === 'user' ? 'copied to ~/.ona/ONA.md' : 'imported by ONA.md',
    })
    found.change({ file: target, text: scope === 'user' ? textOf(instructions)! : '@./GEMINI.md\n' })
  }
  for (const { name, path } of extensionsIn(join(own, 'extensions')))
    found.add('not-honoured', 'plugin', name, path, {
      security: true,
      note: 'an extension of Gemini CLI; look for the same as a plugin of Claude Code',
    })
  return { host: 'gemini', title: 'Gemini CLI', items: found.items, changes: found.changes }
}

const extensionsIn = (folder: string) =>
  foldersIn(folder).flatMap((name) =>
    textOf(join(folder, name, 'gemini-extension.json')) === undefined ? [] : [{ name, path: join(folder, name) }],
  )

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

function surveySettings(file: string, scope: Scope, found: Gathering): void {
  const text = textOf(file)
  if (text === undefined) return
  const read = parseJsonc(text)
  if (!read.ok || !isObject(read.value))
    return void found.add('not-honoured', 'settings', 'settings.json', file, {
      security: true,
      note: 'it is not a JSON object',
    })
  for (const [key, value] of Object.entries(read.value)) {
    if (key === 'mcpServers' && isObject(value)) surveyServers(value, file, scope, found)
    else if (key === 'hooks' && isObject(value))
      for (const event of Object.keys(value))
        found.add('not-honoured', 'hooks', event, file, {
          note: 'written for the tools of Gemini CLI; ona hooks import gemini makes a role of them',
        })
    else if (key === 'tools' && isObject(value)) surveyTools(value, file, scope, found)
    else found.add('no-effect', 'settings', key, file, { security: isSecurityKey(key) })
  }
}

function surveyTools(tools: JsonObject, file: string, scope: Scope, found: Gathering): void {
  const lists = { allowed: 'allow', exclude: 'deny', confirmationRequired: 'ask' } as const
  for (const [key, value] of Object.entries(tools)) {
    if (key === 'sandbox' && value) {
      found.add('converted', 'sandbox', 'tools.sandbox', file, { note: 'sandbox.enabled' })
      found.change({ scope, path: ['sandbox', 'enabled'], value: true })
      continue
    }
    const list = Object.hasOwn(lists, key) ? lists[key as keyof typeof lists] : undefined
    if (!list || !Array.isArray(value)) {
      found.add('no-effect', 'settings', `tools.${key}`, file, { security: isSecurityKey(key) })
      continue
    }
    for (const each of value) {
      const rule = typeof each === 'string' ? ruleOf(each) : undefined
      if (!rule)
        found.add('not-honoured', 'permissions', `tools.${key} ${JSON.stringify(each)}`, file, {
          note: 'ona has no such tool',
        })
      else {
        found.add('converted', 'permissions', `${list} ${rule}`, file)
        found.change({ scope, path: ['permissions', list], add: [rule] })
      }
    }
  }
}

/** `run_shell_command(git status)` is a prefix. */
function ruleOf(text: string): string | undefined {
  const [, name = '', content] = /^(?:\w+\.)?(\w+)(?:\((.*)\))?$/.exec(text) ?? []
  const tool = toolOf(name.replace(/^ShellTool$/, 'run_shell_command'), geminiTools)
  if (!tool) return undefined
  return content === undefined || tool !== 'Bash' ? tool : `Bash(${content} *)`
}

function surveyServers(servers: JsonObject, file: string, scope: Scope, found: Gathering): void {
  for (const [name, entry] of Object.entries(servers)) {
    if (!isObject(entry)) continue
    const { command, args, env, cwd, httpUrl, url, headers, includeTools, excludeTools, trust } = entry
    const remote =
      typeof httpUrl === 'string'
        ? { type: 'http', url: httpUrl }
        : typeof url === 'string'
          ? { type: 'sse', url }
          : undefined
    if (typeof command !== 'string' && !remote) {
      found.add('not-honoured', 'MCP server', name, file, { note: 'it has neither command nor url' })
      continue
    }
    const value = remote
      ? { ...remote, ...(isObject(headers) && { headers }) }
      : {
          command,
          ...(Array.isArray(args) && { args }),
          ...(isObject(env) && { env }),
          ...(typeof cwd === 'string' && { cwd }),
        }
    found.add('converted', 'MCP server', name, file)
    found.change({ scope, path: ['mcpServers', name], value })
    const denied = Array.isArray(excludeTools) ? excludeTools.filter((each) => typeof each === 'string') : []
    if (denied.length > 0) {
      found.add('converted', 'permissions', `${name}: excludeTools`, file)
      found.change({ scope, path: ['permissions', 'deny'], add: denied.map((tool) => `mcp__${name}__${tool}`) })
    }
    if (includeTools !== undefined)
      found.add('not-honoured', 'permissions', `${name}: includeTools`, file, {
        note: `write deny rules such as mcp__${name}__TOOL`,
      })
    if (trust === true)
      found.add('not-honoured', 'permissions', `${name}: trust`, file, {
        note: `ona prompts for its tools; allow them by rule: mcp__${name}`,
      })
  }
}

const decisions: Readonly<Record<string, 'allow' | 'ask' | 'deny'>> = { allow: 'allow', ask_user: 'ask', deny: 'deny' }

function surveyPolicy(file: string, scope: Scope, found: Gathering): void {
  let rules: unknown
  try {
    rules = (parse(textOf(file) ?? '') as JsonObject)['rule']
  } catch (cause) {
    return void found.add('not-honoured', 'permissions', 'policy', file, {
      note: `it is not TOML: ${(cause as Error).message.split('\n')[0]}`,
    })
  }
  for (const rule of Array.isArray(rules) ? rules.filter(isObject) : []) {
    const { toolName, mcpName, commandPrefix, decision, argsPattern, commandRegex } = rule
    const list = decisions[String(decision)]
    const names = [toolName].flat().filter((each) => typeof each === 'string')
    const said = [...names, mcpName, commandPrefix].filter(Boolean).join(' ')
    const texts = names.flatMap((name) => {
      const tool = typeof mcpName === 'string' ? `mcp__${mcpName}__${name}` : toolOf(name, geminiTools)
      if (!tool || argsPattern !== undefined || commandRegex !== undefined) return []
      return commandPrefix === undefined ? [tool] : [commandPrefix].flat().map((prefix) => `${tool}(${prefix} *)`)
    })
    if (!list || texts.length === 0)
      found.add('not-honoured', 'permissions', `${decision} ${said}`, file, {
        note: 'it cannot be written as a rule; write a hook',
      })
    else {
      found.add('converted', 'permissions', `${list} ${texts.join(', ')}`, file)
      found.change({ scope, path: ['permissions', list], add: texts })
    }
  }
}

function surveyCommand(name: string, file: string, base: string, found: Gathering): void {
  try {
    const { prompt, description } = parse(textOf(file) ?? '') as JsonObject
    if (typeof prompt !== 'string')
      return void found.add('not-honoured', 'command', name, file, { note: 'it has no prompt' })
    const body = prompt
      .replaceAll('{{args}}', '$ARGUMENTS')
      .replace(/!\{([^{}`\n]+)\}/g, '!`$1`')
      .replace(/@\{([^{}]+)\}/g, '@$1')
    found.add('converted', 'command', name, file)
    found.change({
      file: join(base, '.ona', 'commands', `${name}.md`),
      text: markdown({ description: typeof description === 'string' ? description : undefined }, body),
    })
  } catch {
    found.add('not-honoured', 'command', name, file, { note: 'it is not TOML' })
  }
}

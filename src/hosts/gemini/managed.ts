/**
 * Gemini CLI: hooks in the system settings, which its user can switch off, and admin policy files, which they cannot
 * (Gemini CLI's policy engine reference). The policies folder must belong to root.
 */
import { managedHooks } from '../config/managed-hooks.ts'
import {
  appendTo,
  jsonFile,
  looseJson,
  type Managed,
  notOwned,
  ownFile,
  type PolicyRule,
  type RuleSupport,
  tomlText,
  variables,
} from '../managed.ts'
import { geminiEvents } from './events.ts'
import { geminiTools } from './tools.ts'

const folder = { linux: '/etc/gemini-cli', darwin: '/Library/Application Support/GeminiCli' }
const decisions = { deny: 'deny', ask: 'ask_user', allow: 'allow' }
/** Inside the admin's tier: a refusal goes before a prompt, a prompt before an allowance. */
const priorities = { deny: 900, ask: 800, allow: 700 }

export const geminiManaged: Managed = {
  holds: 'rules hold where they are native (admin policies); hooks are advice: hooksConfig of its user disables them',
  files({ rules, hooks }, place) {
    const settings = `${folder[place.platform]}/settings.json`
    const lists = managedHooks({ events: geminiEvents, unitMs: 1, groups: true }, hooks, place, 'gemini')
    const policies = rules.flatMap((rule) => policyOf(rule) ?? [])
    return [
      jsonFile(settings, (edit, value) => {
        edit.set(['hooksConfig', 'enabled'], true)
        for (const [event, groups] of Object.entries(lists)) appendTo(edit, value, ['hooks', event], groups, settings)
      }),
      ...(policies.length > 0
        ? [ownFile(`${folder[place.platform]}/policies/50-ona.toml`, `${policies.join('\n')}\n`)]
        : []),
    ]
  },
  support(rule): RuleSupport {
    if (policyOf(rule)) {
      const shell = rule.tool === 'Read' ? { why: 'for its own tools; the shell is covered by the hook' } : {}
      return { how: 'native', ...shell }
    }
    if (rule.behavior === 'allow') return { how: 'cannot', why: 'its policies cannot express this' }
    return { how: 'hook', why: 'its policies cannot express this, and its user can disable hooks' }
  },
  overrides(seen) {
    const policies = `${folder[seen.platform]}/policies`
    const settings = [
      ['~/.gemini/settings.json', seen.home('.gemini/settings.json')],
      ['.gemini/settings.json', seen.repo('.gemini/settings.json')],
    ] as const
    return [
      ...variables(seen, {
        GEMINI_CLI_SYSTEM_SETTINGS_PATH: 'names other system settings: the hooks there do not run',
      }),
      ...settings.flatMap(([name, text]) => {
        const { enabled, disabled } = (looseJson(text)['hooksConfig'] ?? {}) as {
          enabled?: unknown
          disabled?: unknown
        }
        const off = enabled === false || (Array.isArray(disabled) && disabled.length > 0)
        return off ? [`${name} disables hooks (hooksConfig)`] : []
      }),
      ...seen.list(policies).flatMap((name) => {
        const path = `${policies}/${name}`
        const above = name !== '50-ona.toml' && allowsAbove(seen.machine(path) ?? '')
        return above ? [`${path} allows with priority ${above}, above this policy's ${priorities.deny}`] : []
      }),
      ...notOwned(seen, [policies, `${policies}/50-ona.toml`]),
    ]
  },
}

/** The highest priority above ours that allows something in a policy file; 0 where there is none. */
function allowsAbove(text: string): number {
  const allowing = text.split(/^\s*\[\[/m).filter((rule) => /decision\s*=\s*["']allow/.test(rule))
  const found = allowing.map((rule) => Number(/^\s*priority\s*=\s*(\d+)/m.exec(rule)?.[1] ?? 0))
  return Math.max(0, ...found.filter((priority) => priority > priorities.deny))
}

function policyOf(rule: PolicyRule): string | null {
  const match = matchOf(rule)
  if (!match) return null
  const { behavior, text } = rule
  const message = behavior === 'deny' ? `denyMessage = ${tomlText(`denied by policy: ${text}`)}\n` : ''
  return `[[rule]]\n${match}decision = "${decisions[behavior]}"\npriority = ${priorities[behavior]}\n${message}`
}

function matchOf({ tool, content, prefix, mcp }: PolicyRule): string | null {
  if (mcp) return `mcpName = ${tomlText(mcp.server)}\n${mcp.tool ? `toolName = ${tomlText(mcp.tool)}\n` : ''}`
  const names = (geminiTools as Readonly<Record<string, readonly string[]>>)[tool]
  if (!names) return null
  if (content === undefined) return `toolName = ${JSON.stringify(names)}\n`
  if (tool === 'Bash' && prefix)
    return `toolName = "run_shell_command"\ncommandPrefix = ${tomlText(prefix.join(' '))}\n`
  // a name at any depth; its own tools only
  const name = /^(?:\*\*\/)?([\w.-]+)$/.exec(content)?.[1]
  if (tool === 'Read' && name)
    return `toolName = ${JSON.stringify(names)}\nargsPattern = ${tomlText(`"([^"]*/)?${name.replaceAll('.', '\\.')}"`)}\n`
  return null
}

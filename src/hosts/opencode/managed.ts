/** opencode's managed config (opencode.ai/docs/config). It is no boundary: agents' own permissions and variables go after it. */
import { isFields } from '../../files/json-edit.ts'
import {
  appendTo,
  jsonFile,
  looseJson,
  type Managed,
  type PolicyRule,
  type RuleSupport,
  variables,
} from '../managed.ts'
import { opencodeTools } from './tools.ts'

const file = { linux: '/etc/opencode/opencode.json', darwin: '/Library/Application Support/opencode/opencode.json' }
/** The last match wins, so what refuses stands last. */
const order = ['allow', 'ask', 'deny'] as const

export const opencodeManaged: Managed = {
  holds: 'nothing holds against its user (--pure, OPENCODE_PERMISSION, agent.*.permission); it keeps accidents out',
  files({ rules }, place) {
    const path = file[place.platform]
    return [
      jsonFile(path, (edit, value) => {
        edit.set(['permission'], permissionsOf(value['permission'], rules))
        appendTo(edit, value, ['plugin'], [`file://${place.dir}/opencode-policy.ts`], path)
      }),
    ]
  },
  support: (rule): RuleSupport =>
    entryOf(rule)
      ? {
          how: 'native',
          why: `its user can loosen it${rule.behavior === 'ask' ? '; the hook refuses: it cannot prompt there' : ''}`,
        }
      : { how: 'hook', why: 'its user can start it with --pure' },
  overrides(seen) {
    const config = seen.env['XDG_CONFIG_HOME']
      ? []
      : ['.config/opencode/opencode.json', '.config/opencode/opencode.jsonc']
    const files = [
      ...config.map((path) => [`~/${path}`, seen.home(path)] as const),
      ...['opencode.json', 'opencode.jsonc'].map((path) => [path, seen.repo(path)] as const),
    ]
    return [
      ...variables(seen, {
        OPENCODE_PERMISSION: 'replaces permissions',
        OPENCODE_CONFIG_CONTENT: 'is a config that goes after this one',
        OPENCODE_PURE: 'drops plugins, the policy’s too',
        OPENCODE_TEST_MANAGED_CONFIG_DIR: 'moves the managed config',
      }),
      ...files.flatMap(([name, text]) =>
        Object.entries(looseJson(text)['agent'] ?? {}).flatMap(([agent, settings]) =>
          isFields(settings) && settings['permission'] !== undefined
            ? [`${name} gives the agent ${agent} permissions of its own`]
            : [],
        ),
      ),
    ]
  },
}

type Permissions = Record<string, string | Record<string, string>>

/** What is there, with the rules behind it. */
function permissionsOf(before: unknown, rules: readonly PolicyRule[]): Permissions {
  const all: Permissions = typeof before === 'string' ? { '*': before } : { ...(before as Permissions | undefined) }
  for (const behavior of order)
    for (const rule of rules.filter((one) => one.behavior === behavior)) {
      const entry = entryOf(rule)
      if (!entry) continue
      const { [entry.key]: there, ...rest } = all
      const patterns: Record<string, string> = typeof there === 'string' ? { '*': there } : { ...there }
      delete patterns[entry.pattern]
      Object.assign(patterns, { [entry.pattern]: behavior })
      for (const key of Object.keys(all)) delete all[key]
      // tools without patterns of their own take a single word only
      const isWhole = Object.keys(patterns).length === 1 && patterns['*'] !== undefined
      Object.assign(all, rest, { [entry.key]: isWhole ? behavior : patterns })
    }
  return all
}

function entryOf({ tool, content, mcp }: PolicyRule): { key: string; pattern: string } | null {
  if (mcp) return { key: mcp.tool ? `${mcp.server}_${mcp.tool}` : `${mcp.server}_*`, pattern: '*' }
  const [key] = (opencodeTools as Readonly<Record<string, readonly string[]>>)[tool] ?? []
  if (!key) return null
  const named = tool === 'Edit' || tool === 'Write' ? 'edit' : key
  if (content === undefined) return { key: named, pattern: '*' }
  if (tool === 'Bash') return { key: named, pattern: content.replace(/:\*$/, ' *') }
  const name = /^(?:\*\*\/)?([\w.*-]+)$/.exec(content)?.[1]
  return (tool === 'Read' || tool === 'Edit') && name ? { key: named, pattern: `*${name}` } : null
}

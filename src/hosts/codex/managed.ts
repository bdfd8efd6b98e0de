/**
 * Codex's requirements (developers.openai.com/codex/enterprise/managed-configuration): one TOML file without drop-ins. Managed
 * hooks need no trust; `features.hooks` is pinned, since a user's `features.hooks = false` would silence them.
 */
import { claudeEvents } from '../claudecode/events.ts'
import { managedHooks } from '../config/managed-hooks.ts'
import { type Managed, type PolicyRule, type RuleSupport, tomlFile, tomlText } from '../managed.ts'

const file = { linux: '/etc/codex/requirements.toml', darwin: '/etc/codex/requirements.toml' }

/** Its rules are prefixes of a command, forbidden or prompted for; one that allows stops the program. */
const nativePrefix = ({ behavior, prefix }: PolicyRule) => (behavior === 'allow' ? undefined : prefix)

export const codexManaged: Managed = {
  holds: 'hooks and rules hold; what is typed into a running program (write_stdin) reaches no hook',
  files({ rules, hooks, managedHooksOnly }, place) {
    const lists = managedHooks({ events: claudeEvents, unitMs: 1000, groups: true }, hooks, place, 'codex')
    const prefixes = rules.flatMap((rule) => {
      const words = nativePrefix(rule)
      if (!words) return []
      const pattern = words.map((word) => `{ token = ${tomlText(word)} }`).join(', ')
      const decision = rule.behavior === 'deny' ? 'forbidden' : 'prompt'
      return [
        `  { pattern = [${pattern}], decision = "${decision}", justification = ${tomlText(`policy: ${rule.text}`)} },`,
      ]
    })
    const tables = [
      '[features]\nhooks = true',
      ...(prefixes.length > 0 ? [`[rules]\nprefix_rules = [\n${prefixes.join('\n')}\n]`] : []),
      `[hooks]\nmanaged_dir = ${tomlText(place.dir)}`,
      ...Object.entries(lists).flatMap(([event, groups]) => groups.map((group) => groupText(event, group))),
    ]
    const top = managedHooksOnly ? 'allow_managed_hooks_only = true' : ''
    return [tomlFile(file[place.platform], { top, tables: tables.join('\n') })]
  },
  support(rule): RuleSupport {
    if (rule.behavior === 'allow')
      return { how: 'cannot', why: 'its requirements cannot allow; the user is prompted as before' }
    const asks = rule.behavior === 'ask' ? 'refused: a hook cannot prompt there' : ''
    const parsed = nativePrefix(rule) ? 'a prefix of words; the hook parses the command' : ''
    const why = [parsed, asks].filter(Boolean).join('; ')
    return { how: nativePrefix(rule) ? 'native' : 'hook', ...(why && { why }) }
  },
  overrides({ machine }) {
    const legacy = '/etc/codex/managed_config.toml'
    const off = /^\s*(?:features\.)?(?:codex_)?hooks\s*=\s*false/m.test(machine(legacy) ?? '')
    const pinned = /^hooks\s*=\s*true/m.test(machine('/etc/codex/requirements.toml') ?? '')
    return [
      ...(off ? [`${legacy} sets features.hooks = false`] : []),
      ...(pinned
        ? []
        : [
            '/etc/codex/requirements.toml does not pin features.hooks, so features.hooks = false of its user silences hooks',
          ]),
    ]
  },
}

function groupText(event: string, group: object): string {
  const { hooks } = group as { hooks: { command: string; timeout: number }[] }
  const handlers = hooks.map(
    ({ command, timeout }) =>
      `[[hooks.${event}.hooks]]\ntype = "command"\ncommand = ${tomlText(command)}\ntimeout = ${timeout}`,
  )
  return [`[[hooks.${event}]]`, ...handlers].join('\n')
}

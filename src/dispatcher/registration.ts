/** The hosts' own files in which the dispatcher is registered: our entries go in and out, the rest stays as it is. */
import { defaultBudgets } from './manifest.ts'
import { isObject } from './session/paths.ts'
import { type EventName, eventNames, type Json } from './types.ts'

export type Host = 'vscode' | 'claude'
export const hosts: readonly Host[] = ['vscode', 'claude']

/** VS Code and Copilot CLI read the same folder. (VS Code does not look at .github/hooks.json.) */
export const registrationFile: Readonly<Record<Host, string>> = {
  vscode: '.github/hooks/hooks.json',
  claude: '.claude/settings.json',
}

/** Seconds. Longer than any budget: it is there for a machine that hangs, not to cut a module off. */
const timeouts = Object.fromEntries(eventNames.map((name) => [name, defaultBudgets[name] >= 5000 ? 15 : 10])) as Record<
  EventName,
  number
>

/** https://code.visualstudio.com/docs/copilot/customization/hooks, "Hook command properties" */
export interface VsCodeEntry {
  readonly type: 'command'
  readonly command: string
  readonly timeout: number
}
/** https://code.claude.com/docs/en/hooks, "Configuration" */
export interface ClaudeEntry {
  readonly hooks: readonly { readonly type: 'command'; readonly command: string; readonly timeout: number }[]
}

const vsCodeEntry = (name: EventName): VsCodeEntry => ({
  type: 'command',
  command: `node .ai/hooks/dispatch.mjs ${name}`,
  timeout: timeouts[name],
})

/** Claude Code may start anywhere below the project, so the path is not left to the working directory. */
const claudeEntry = (name: EventName): ClaudeEntry => ({
  hooks: [
    {
      type: 'command',
      command: `node "\${CLAUDE_PROJECT_DIR:-.}/.ai/hooks/dispatch.mjs" ${name} claude`,
      timeout: timeouts[name],
    },
  ],
})

const isOurs = (entry: unknown): boolean => JSON.stringify(entry ?? null).includes('.ai/hooks/dispatch.mjs')

/** The file's content with our entries as they should be; `undefined` as `before` means there is no file yet. */
export function register(host: Host, before: Json | undefined): Json {
  const file = withoutOurs(before ?? {})
  const entryFor = host === 'vscode' ? vsCodeEntry : claudeEntry
  const hooks = isObject(file['hooks']) ? { ...file['hooks'] } : {}
  for (const name of eventNames) hooks[name] = [...((hooks[name] as unknown[] | undefined) ?? []), entryFor(name)]
  // Copilot CLI reads this file too and rejects it without a version; VS Code passes over the key.
  return { ...(host === 'vscode' && { version: 1 }), ...file, hooks }
}

/** The file's content without us; undefined when nothing of anybody's is left. */
export function unregister(host: Host, before: Json): Json | undefined {
  const file = withoutOurs(before)
  const left = Object.keys(file).filter((key) => !(host === 'vscode' && key === 'version'))
  return left.length === 0 ? undefined : file
}

function withoutOurs(file: Json): Json {
  if (!isObject(file['hooks'])) return file
  const hooks = Object.entries(file['hooks']).map(([name, entries]) => {
    return [name, Array.isArray(entries) ? entries.filter((entry) => !isOurs(entry)) : entries] as const
  })
  const before = file['hooks']
  const kept = hooks.filter(
    ([name, entries]) => !Array.isArray(entries) || entries.length > 0 || (before[name] as unknown[]).length === 0,
  )
  const { hooks: _, ...rest } = file
  return kept.length === 0 ? rest : { ...file, hooks: Object.fromEntries(kept) }
}

/** For which events our entry stands in a file. */
export const registeredEvents = (file: unknown): EventName[] => {
  const hooks = isObject(file) && isObject(file['hooks']) ? file['hooks'] : {}
  return eventNames.filter((name) => Array.isArray(hooks[name]) && hooks[name].some(isOurs))
}

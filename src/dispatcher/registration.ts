/** The hosts' own files in which the dispatcher is registered: our entries go in and out, the rest stays as it is. */
import { claudeRegistration } from '../hosts/claudecode/wire.ts'
import { vscodeRegistration } from '../hosts/vscode/wire.ts'
import type { Registration } from '../hosts/wire.ts'
import { defaultBudgets } from './manifest.ts'
import { isObject } from './session/paths.ts'
import { type EventName, eventNames, type Json } from './types.ts'

export type Host = 'vscode' | 'claude'
export const hosts: readonly Host[] = ['vscode', 'claude']

const registrations: Readonly<Record<Host, Registration>> = { vscode: vscodeRegistration, claude: claudeRegistration }

export const registrationFile: Readonly<Record<Host, string>> = {
  vscode: vscodeRegistration.file,
  claude: claudeRegistration.file,
}

/** Seconds. Longer than any budget: it is there for a machine that hangs, not to cut a module off. */
const timeoutOf = (name: EventName): number => (defaultBudgets[name] >= 5000 ? 15 : 10)

const isOurs = (entry: unknown): boolean => JSON.stringify(entry ?? null).includes('.ai/hooks/dispatch.mjs')

/** The file's content with our entries as they should be; `undefined` as `before` means there is no file yet. */
export function register(host: Host, before: Json | undefined): Json {
  const file = withoutOurs(before ?? {})
  const { entry, skeleton } = registrations[host]
  const hooks = isObject(file['hooks']) ? { ...file['hooks'] } : {}
  for (const name of eventNames)
    hooks[name] = [...((hooks[name] as unknown[] | undefined) ?? []), entry(name, timeoutOf(name))]
  return { ...skeleton, ...file, hooks }
}

/** The file's content without us; undefined when nothing of anybody's is left. */
export function unregister(host: Host, before: Json): Json | undefined {
  const file = withoutOurs(before)
  const left = Object.keys(file).filter((key) => !Object.hasOwn(registrations[host].skeleton ?? {}, key))
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

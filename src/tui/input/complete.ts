/** What could be meant by what is being typed: commands after `/`, files and agents after `@`, earlier commands after `!`. */
import type { Draft } from './editor.ts'

export interface Suggestion {
  readonly label: string
  readonly hint: string
  /** What takes the place of the typed word. */
  readonly insert: string
  /** Enter runs it at once; without this it only completes. */
  readonly runs: boolean
}

export interface Menu {
  readonly items: readonly Suggestion[]
  /** The part of the draft that a suggestion replaces. */
  readonly from: number
  readonly to: number
  readonly title?: string
}

export interface Sources {
  commands(): readonly CommandName[]
  files(wanted: string): Promise<readonly string[]>
  agents(): readonly string[]
}

export interface CommandName {
  readonly name: string
  readonly aliases: readonly string[]
  readonly summary: string
  readonly argumentHint: string
}

export async function suggest(draft: Draft, sources: Sources): Promise<Menu | undefined> {
  const slash = /^\/([\w:.-]*)$/.exec(draft.text.slice(0, draft.cursor))
  if (slash && !/\s/.test(draft.text.slice(draft.cursor, draft.cursor + 1)))
    return commandMenu(slash[1]!, draft, sources)
  const at = /(?:^|[\s(])@("[^"\n]*|[^\s"]*)$/.exec(draft.text.slice(0, draft.cursor))
  if (!at || draft.text.startsWith('!')) return undefined
  const wanted = at[1]!.replace(/^"/, '')
  const agents = sources
    .agents()
    .map((name) => ({ label: `@agent-${name}`, hint: 'agent', insert: `@agent-${name} ` }))
    .filter(({ label }) => wanted !== '' && label.toLowerCase().includes(wanted.toLowerCase()))
  const files = (await sources.files(wanted)).map((file) => ({
    label: file,
    hint: '',
    insert: `@${/\s/.test(file) ? `"${file}"` : file}${file.endsWith('/') ? '' : ' '}`,
  }))
  const items = [...files, ...agents].slice(0, 50).map((item) => ({ ...item, runs: false }))
  return items.length > 0 ? { items, from: draft.cursor - at[1]!.length - 1, to: draft.cursor } : undefined
}

function commandMenu(typed: string, draft: Draft, sources: Sources): Menu {
  const items = matchCommands(typed, sources.commands()).map(({ name, aliases, summary, argumentHint }) => ({
    label: `/${name}${aliases.length > 0 ? ` (${aliases.map((alias) => `/${alias}`).join(', ')})` : ''}${argumentHint ? ` ${argumentHint}` : ''}`,
    hint: summary,
    insert: `/${name}${argumentHint ? ' ' : ''}`,
    runs: !argumentHint.startsWith('<'),
  }))
  return { items, from: 0, to: draft.cursor, ...(items.length === 0 && { title: `No commands match "/${typed}"` }) }
}

const bare = (text: string) => text.toLowerCase().replace(/[:_-]/g, '')

/** Names and aliases that begin with the letters, then those with a word inside that does; marks are passed over. */
function matchCommands<C extends CommandName>(typed: string, commands: readonly C[]): C[] {
  const wanted = bare(typed)
  const rank = ({ name, aliases }: C) => {
    const names = [name, ...aliases]
    if (names.some((one) => bare(one) === wanted)) return 0
    if (bare(name).startsWith(wanted)) return 1
    if (aliases.some((one) => bare(one).startsWith(wanted))) return 2
    return names.some((one) => one.split(/[:_-]/).some((word) => bare(word).startsWith(wanted))) ? 3 : 9
  }
  return commands
    .map((command) => ({ command, rank: rank(command) }))
    .filter(({ rank }) => rank < 9)
    .sort((a, b) => a.rank - b.rank || a.command.name.localeCompare(b.command.name))
    .map(({ command }) => command)
}

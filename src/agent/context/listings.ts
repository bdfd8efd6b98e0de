/**
 * The skills and agents that the system prompt lists: whole while they take little of the window, otherwise by name, and
 * where even the names take much, by their number. ToolSearch finds what is not listed whole.
 */
import type { Listing } from '../../tools/host.ts'
import type { Session } from '../session/session.ts'

/** The most that one list may take of the window. */
const mostOfWindow = 0.01

/** Not less, however small the window is: about ten entries. */
const leastChars = 2000

type Kind = Listing['kind']
const titles: Record<Kind, string> = { agent: 'Agents (use the Agent tool)', skill: 'Skills (use the Skill tool)' }

/** Sections of the system prompt; the same text from request to request. */
export const listings = (session: Session): string[] =>
  (['agent', 'skill'] as const).flatMap((kind) => section(kind, listed(session, kind), sizeOf(session, kind)))

/** What ToolSearch searches besides tools. */
export const unlisted = (session: Session): Listing[] =>
  (['agent', 'skill'] as const).flatMap((kind) =>
    sizeOf(session, kind) === 'whole' ? [] : listed(session, kind).map((each) => ({ kind, ...each })),
  )

/** The most that the names of tools which are not loaded may take of the window: half of what has them loaded on demand. */
const mostOfNames = 0.05

/** The tools of MCP servers that are not loaded: by name, or where the names take much, by server and number. */
export function waitingTools({ toolbox, model }: Session): string[] {
  const names = toolbox.deferred(model.window).map(({ name }) => name)
  if (names.length === 0) return []
  const chars = names.reduce((sum, name) => sum + name.length + 2, 0)
  if (chars <= Math.max(leastChars, model.window * 4 * mostOfNames))
    return [`ToolSearch tells you how to call these: ${names.join(', ')}`]
  const counts = Map.groupBy(names, (name) => name.slice(0, name.indexOf('__', 'mcp__'.length)))
  const servers = Array.from(counts, ([server, { length }]) => `${server}__… (${length})`)
  return [`ToolSearch finds tools by keywords, and tells you how to call them: ${servers.join(', ')}`]
}

interface Named {
  readonly name: string
  readonly description: string
}

function listed(session: Session, kind: Kind): readonly Named[] {
  if (kind === 'agent') return session.tool('Agent') ? session.runtime.agents : []
  return session.runtime.skills.list().filter((skill) => skill.forModel !== false)
}

type Size = 'whole' | 'names' | 'number'

function sizeOf(session: Session, kind: Kind): Size {
  const { runtime, model } = session
  if (runtime.env['ENABLE_TOOL_SEARCH'] === 'false' || !session.tool('ToolSearch')) return 'whole'
  const list = listed(session, kind)
  const most = Math.max(leastChars, model.window * 4 * mostOfWindow)
  const names = list.reduce((sum, { name }) => sum + name.length + 2, 0)
  const whole = names + list.reduce((sum, { description }) => sum + description.length + 3, 0)
  return whole <= most ? 'whole' : names <= most ? 'names' : 'number'
}

function section(kind: Kind, list: readonly Named[], size: Size): string[] {
  if (list.length === 0) return []
  const head = ['', `# ${titles[kind]}`]
  if (size === 'whole') return [...head, ...list.map(({ name, description }) => `- ${name}: ${description}`)]
  if (size === 'number') return [...head, `There are ${list.length}. ToolSearch finds them by keywords.`]
  return [...head, `ToolSearch describes these: ${list.map(({ name }) => name).join(', ')}`]
}

import type { McpHost } from '../../../agent/session/runtime.ts'
import { plural } from '../../render/format.ts'
import type { Ui } from '../../session/command-context.ts'

/** What a server says of itself, where the hub knows more than its state. */
type Server = { name: string; status: string; transport?: string; problem?: string; tools?: number }

export async function run(args: string, ui: Ui): Promise<void> {
  const { front, session } = ui
  const hub = session.runtime.mcp
  const servers: readonly Server[] = hub?.status() ?? []
  if (!hub || servers.length === 0)
    return front.print('No MCP servers. They stand in .mcp.json of the project, or under mcpServers in the settings.')
  const [verb = '', name = ''] = args.split(/\s+/)
  if (verb && name) return act(verb, name, hub, ui)
  for (const { name: one, status, transport, problem, tools } of servers)
    front.print(
      `  ${one}: ${status}${transport ? ` (${transport})` : ''}${tools === undefined ? '' : `, ${plural(tools, 'tool')}`}${problem ? `: ${problem}` : ''}`,
    )
  if (!front.interactive) return
  const chosen = await front.choose({
    title: 'MCP servers',
    choices: servers.flatMap(({ name: one, status }) => [
      { label: `Reconnect ${one}`, value: { verb: 'reconnect', name: one }, hint: status },
      ...(status === 'needs-auth' ? [{ label: `Sign in to ${one}`, value: { verb: 'login', name: one } }] : []),
    ]),
  })
  if (chosen) await act(chosen.value.verb, chosen.value.name, hub, ui)
}

async function act(verb: string, name: string, hub: McpHost, { front, session }: Ui): Promise<void> {
  const acts: Record<string, (() => Promise<boolean>) | undefined> = {
    reconnect: hub.reconnect && (() => hub.reconnect!(name)),
    login: hub.signIn && (() => hub.signIn!(name, session.signal)),
  }
  const work = acts[verb]
  if (!work) return front.notice('error', `usage: /mcp [reconnect|login SERVER]`)
  const ok = await work()
  const now: Server | undefined = hub.status().find((one) => one.name === name)
  front.notice(
    ok ? 'info' : 'error',
    `${name}: ${now?.status ?? 'there is no such server'}${now?.problem ? `: ${now.problem}` : ''}`,
  )
}

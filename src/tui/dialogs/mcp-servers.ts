/** A project's own MCP servers run programs: each is approved once by name. */
import { cleanLine } from '../clean.ts'
import type { Front } from '../front.ts'

export interface OfferedServer {
  readonly name: string
  /** The command or address, as it would be used. */
  readonly what: string
}

/** The names that were approved; undefined when nobody answered, and nothing is to be remembered. */
export async function askMcpServers(
  front: Front,
  servers: readonly OfferedServer[],
  signal?: AbortSignal,
): Promise<readonly string[] | undefined> {
  const none = Symbol('none')
  const chosen = await front.choose<string | typeof none>(
    {
      title:
        servers.length === 1
          ? 'This project has an MCP server of its own'
          : `This project has ${servers.length} MCP servers of its own`,
      question: 'Which ones may be started? They run programs with your rights, or are sent what the agent asks them.',
      choices: [
        ...servers.map(({ name, what }) => ({
          label: cleanLine(name),
          value: name,
          hint: cleanLine(what),
          ticked: false,
        })),
        { label: 'None of them', value: none },
      ],
      multiple: true,
    },
    signal,
  )
  return chosen?.values.filter((value): value is string => value !== none)
}

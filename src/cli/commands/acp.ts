/** `ona acp`: the agent for editors, over stdio. */
import { constants } from 'node:os'
import { Readable, Writable } from 'node:stream'
import { version } from '../../package-root.ts'
import { command } from '../command.ts'
import { flags } from '../flags.ts'
import { startOptions } from '../options.ts'
import { optionsProblem } from '../options-check.ts'
import { wrong } from '../print.ts'
import { onEndingSignals } from '../signals.ts'

const help = `ona acp serves the Agent Client Protocol over stdin and stdout, so that an editor can drive the agent.

  { "agent_servers": { "ona": { "command": "ona", "args": ["acp"] } } }      in Zed's settings

It takes the flags of a session, such as --model, --permission-mode, --settings, --mcp-config and --trust; ona --help
lists them. docs/acp.md says what is supported.
`

export const run = command('ona acp', { help, flags }, async (given) => {
  const problem = await optionsProblem(given)
  if (problem) return wrong('ona acp', problem)
  const { ndJsonStream } = await import('@agentclientprotocol/sdk')
  const { serveAcp } = await import('../acp/serve.ts')
  const { app, close } = serveAcp(await startOptions(given), version())
  const stdin = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>
  const connection = app.connect(ndJsonStream(Writable.toWeb(process.stdout) as WritableStream<Uint8Array>, stdin))
  let code = 0
  const release = onEndingSignals((signal) => {
    release()
    code = 128 + constants.signals[signal]
    connection.close()
  })
  await connection.closed
  await close()
  process.stdin.destroy()
  return code
})

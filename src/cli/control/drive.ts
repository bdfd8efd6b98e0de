/** `--input-format stream-json`: another program drives the session, as the Claude Agent SDK does. */
import type { User } from '../../agent/events.ts'
import type { Session } from '../../agent/session/session.ts'
import { startSession } from '../../agent/session/start.ts'
import type { StartOptions } from '../../agent/session/start-options.ts'
import { runTurn } from '../../agent/turn.ts'
import type { Flags } from '../flags.ts'
import { nobody } from '../headless/deny-all.ts'
import { type Ending, endOnSignals, exitCode } from '../headless/ending.ts'
import { lastMomentMs, oneTurn } from '../headless/one-turn.ts'
import { line, type Reporter, reporterFor } from '../headless/reporter.ts'
import { startOptions } from '../options.ts'
import { failed, warned } from '../print.ts'
import { roleHandlers } from '../role-handlers.ts'
import { controlResponse } from './controls.ts'
import { serveHost } from './host.ts'
import { hostServers } from './host-servers.ts'
import { type HostRequest, initialized, readInitialize, withHost } from './initialize.ts'
import { byTool, hostElicit, hostUser, missingTool } from './permission-prompt.ts'
import { openPipe, type Pipe } from './pipe.ts'

export async function drive(flags: Flags): Promise<number> {
  const reporter = await reporterFor(flags)
  const ending = endOnSignals()
  const pipe = openPipe(process.stdin, line)
  const code = await driven(flags, pipe, reporter, ending)
  process.stdin.destroy()
  return exitCode(ending, code)
}

async function driven(flags: Flags, pipe: Pipe, reporter: Reporter, ending: Ending): Promise<number> {
  // What the host asks for in `initialize` is needed before the session starts.
  const opening = (await Promise.race([pipe.opening(), ending.arrived])) ?? undefined
  if (ending.signal.aborted) return 1
  const servers = hostServers(pipe)
  const asked = opening && (await readInitialize(opening.request, pipe, servers))
  if (asked && 'problem' in asked) {
    pipe.write(controlResponse(opening!.id, { error: asked.problem }))
    return failed(asked.problem)
  }

  for (const note of asked?.notes ?? []) warned(note)

  let session: Session | undefined
  const start = await withRoles(await startOptions(flags))
  const prompter = flags['permission-prompt-tool']
  const started = await startSession({
    ...(asked ? withHost(start as StartOptions, asked) : { ...start, moreServers: true }),
    signal: ending.signal,
    deny: [...(start.deny ?? []), ...(asked?.options.deny ?? []), ...(prompter?.startsWith('mcp__') ? [prompter] : [])],
    user: userOf(prompter, pipe, opening !== undefined, () => session),
    on: reporter.on,
    onUsage: reporter.onUsage,
  })
  if ('problem' in started) {
    if (opening) pipe.write(controlResponse(opening.id, { error: started.problem }))
    return reporter.startFailed(started)
  }
  session = started.session
  await Promise.race([session.runtime.mcp?.ready?.(10_000), ending.arrived])
  const missing = prompter?.startsWith('mcp__') ? missingTool(prompter, session) : undefined
  if (opening) pipe.write(controlResponse(opening.id, await initialized(session, asked!.answer)))
  const code = missing ? failed(missing) : await converse(started, flags, { pipe, servers, reporter, ending, asked })
  await session.tasks.settle(lastMomentMs)
  await started.close('other')
  return code
}

const withRoles = async <O extends Parameters<typeof roleHandlers>[0]>(start: O) => ({
  ...start,
  ...(await roleHandlers(start)),
})

function userOf(prompter: string | undefined, pipe: Pipe, isHost: boolean, session: () => Session | undefined): User {
  const user = prompter === 'stdio' ? hostUser(pipe) : prompter ? byTool(prompter, session) : nobody
  return isHost ? { ...user, elicit: hostElicit(pipe) } : user
}

interface Driving {
  readonly pipe: Pipe
  readonly servers: ReturnType<typeof hostServers>
  readonly reporter: Reporter
  readonly ending: Ending
  readonly asked: HostRequest | undefined
}

async function converse(
  { session, initialPrompt }: { readonly session: Session; readonly initialPrompt: string },
  flags: Flags,
  { pipe, servers, reporter, ending, asked }: Driving,
): Promise<number> {
  let code = 0
  let begun = false
  const schema = flags['json-schema'] ?? asked?.jsonSchema
  const begin = () => {
    if (!begun) reporter.begin(session, { subagentText: asked?.forwardSubagentText === true })
    begun = true
  }
  const mayBypass = flags['allow-dangerously-skip-permissions'] === true || session.mode === 'bypassPermissions'
  await serveHost(
    session,
    { pipe, servers, mayBypass },
    {
      initialPrompt,
      async prompt(text, sent) {
        if (ending.signal.aborted) return
        begin()
        if (sent && flags['replay-user-messages'])
          line({ ...sent.message, uuid: sent.uuid, session_id: session.id, isReplay: true })
        const turned = await oneTurn(session, text, { schema, images: sent?.images ?? [], turn: runTurn })
        const isError = reporter.result(turned, sent?.uuid)
        // What the host itself interrupted has not failed.
        code = turned.end.stop === 'cancelled' && !ending.signal.aborted ? 0 : isError
      },
      async news() {
        if (ending.signal.aborted) return
        begin()
        code = reporter.result({ end: await runTurn(session, [], 'background') })
      },
      fault(why) {
        line({ type: 'system', subtype: 'informational', level: 'error', content: why })
        code = 1
      },
    },
  )
  return code
}

/** `ona -p`: a prompt in, an answer out, nothing else on stdout. */
import { hasOpenCalls } from '../../agent/approvals.ts'
import { runUntilIdle } from '../../agent/session/idle-turns.ts'
import type { Session } from '../../agent/session/session.ts'
import { startSession } from '../../agent/session/start.ts'
import type { Flags } from '../flags.ts'
import { nobody, tellNotice } from '../headless/deny-all.ts'
import { type Ending, endOnSignals, exitCode } from '../headless/ending.ts'
import { lastMomentMs, oneTurn } from '../headless/one-turn.ts'
import { noPrompt, readPrompt } from '../headless/read-prompt.ts'
import { type Reporter, reporterFor } from '../headless/reporter.ts'
import { startOptions } from '../options.ts'
import { failed, wrong } from '../print.ts'
import { roleHandlers } from '../role-handlers.ts'

export async function print(flags: Flags, words: readonly string[]): Promise<number> {
  const streamed = flags['input-format'] === 'stream-json'
  if (streamed && flags['output-format'] !== 'stream-json')
    return wrong('ona', '--input-format stream-json needs --output-format stream-json')
  const schema = flags['json-schema']
  const fault = schema === undefined ? undefined : (await import('../headless/json-schema.ts')).schemaFault(schema)
  if (fault) return wrong('ona', `--json-schema is not a valid JSON Schema: ${fault}`)
  if (flags.resume === '') return wrong('ona', '-p cannot show the list of sessions; --resume needs an id or a name')
  if (streamed) {
    if (words.some((word) => word !== '')) return wrong('ona', 'with --input-format stream-json prompts come on stdin')
    const { drive } = await import('../control/drive.ts')
    return drive(flags)
  }
  const read = await readPrompt(words, flags.resume !== undefined || flags.continue === true)
  if (!read.ok) return wrong('ona', read.why)
  const reporter = await reporterFor(flags)
  const ending = endOnSignals()
  return exitCode(ending, await answerOnce(flags, read.prompt, reporter, ending))
}

async function answerOnce(flags: Flags, prompt: string, reporter: Reporter, ending: Ending): Promise<number> {
  let session: Session | undefined
  const tool = flags['permission-prompt-tool']
  const prompter = tool === undefined ? undefined : await import('../control/permission-prompt.ts')
  const start = await startOptions(flags)
  const started = await startSession({
    ...start,
    ...(await roleHandlers(start)),
    signal: ending.signal,
    deny: [...(start.deny ?? []), ...(tool ? [tool] : [])], // the model cannot call it itself
    user: prompter ? prompter.byTool(tool!, () => session) : nobody,
    on: reporter.on,
    onUsage: reporter.onUsage,
  })
  if ('problem' in started) return reporter.startFailed(started)
  session = started.session
  if (prompt === '' && !hasOpenCalls(session)) {
    await started.close('other')
    return wrong('ona', `${noPrompt}; no call of this session waits for an approval`)
  }
  reporter.begin(session)

  // One answer is all there is: servers that start beside it would be too late.
  await Promise.race([session.runtime.mcp?.ready?.(10_000), ending.arrived])
  const missing = prompter?.missingTool(tool!, session)
  let code = 1
  if (missing) code = failed(missing)
  else if (!ending.signal.aborted) {
    const whole = [started.initialPrompt, prompt].filter(Boolean).join('\n\n')
    code = reporter.result(await oneTurn(session, whole, { schema: flags['json-schema'], turn: runUntilIdle }))
  }
  await session.tasks.settle(lastMomentMs)
  await started.close('other')
  return code
}

/** `--init-only`: the hooks of Setup and SessionStart, and nothing else. */
export async function initOnly(flags: Flags): Promise<number> {
  const start = await startOptions(flags)
  const started = await startSession({
    ...start,
    ...(await roleHandlers(start)),
    user: nobody,
    on: tellNotice,
    withoutMcp: true,
  })
  if ('problem' in started) return started.usage ? wrong('ona', started.problem) : failed(started.problem)
  await started.close('other')
  return 0
}

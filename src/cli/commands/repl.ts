/** `ona` without -p: a conversation, on a terminal or over a pipe. */
import { homedir } from 'node:os'
import type { StartOptions } from '../../agent/session/start-options.ts'
import { runRepl } from '../../tui/session/repl.ts'
import type { Flags } from '../flags.ts'
import { startOptions } from '../options.ts'

export async function repl(flags: Flags, words: readonly string[]): Promise<number> {
  const options = await startOptions(flags)
  const { cwd, env } = options
  const interactive = process.stdin.isTTY === true && process.stdout.isTTY === true
  // --resume without a name: the list of sessions comes first
  let prompt = flags.resume === '' ? '/resume' : words.join(' ')
  return runRepl({
    async start({ front, ...ports }) {
      // the prompt is on the screen by now; the agent is loaded behind it
      const home = env['HOME'] || homedir()
      const { enablesPlugins, settleTrust } = await import('../../tui/dialogs/trust-first.ts')
      const asked = !options.trust && !options.bare
      const places = { cwd, home, env, ...options.settings }
      const settled = asked ? await settleTrust(front, places) : 'untrusted'
      if (settled === 'leave') return undefined
      const offer =
        asked && front.interactive && (await import('../../tui/dialogs/migrate-offer.ts')).migrateOffer(home)
      if (offer) front.notice('info', offer)
      if (asked && front.interactive && enablesPlugins(places))
        await (await import('../../tui/dialogs/plugin-trust.ts')).settlePlugins(front, options)
      const { startSession } = await import('../../agent/session/start.ts')
      const { roleHandlers } = await import('../role-handlers.ts')
      // trusted just now in a folder too wide to remember (the home folder): it holds for this run
      const trust = options.trust || settled === 'trusted'
      const start = async (given: typeof options) =>
        startSession({
          ...given,
          rehearsalByDefault: interactive,
          ...(await roleHandlers({ ...options, trust })),
          ...ports,
          ...(flags.debug && { on: await debugged(ports.on) }),
          idleNoticeMs: Number(env['ONA_IDLE_NOTICE_MS']) || 60_000,
          settings: { ...options.settings, ...(settled === 'trusted' && { trust: true }) },
        })
      const started = await start(options)
      const isSearch = front.interactive && words.length === 0 && !options.fork
      if (!isSearch || !('problem' in started) || !started.unknownSession) return started
      // neither an id nor a name: words to search the list with
      prompt = `/resume ${flags.resume}`
      return start({ ...options, resume: undefined })
    },
    input: process.stdin,
    output: process.stdout,
    env,
    interactive,
    cwd,
    prompt: () => prompt,
  })
}

async function debugged(on: StartOptions['on']): Promise<StartOptions['on']> {
  const debugLine = (await import('../headless/debug.ts')).debugLog()
  return (event) => {
    debugLine(event)
    on(event)
  }
}

/** The conversation over plain lines: each line is read when the one before it is done. */
import { clean } from '../render/clean.ts'
import { useTheme } from '../render/style.ts'
import { userAt } from './ask-user.ts'
import { Conversation, lineOf } from './conversation.ts'
import { Lines } from './lines.ts'
import { endOnSignals, type ReplOptions } from './repl-options.ts'

export async function runLines(options: ReplOptions, version: string): Promise<number> {
  useTheme('ansi', false)
  const front = new Lines(options.input, options.output, options.interactive, options.env)
  const { view } = front
  let vim = false
  const conversation = new Conversation({
    front,
    version,
    answers: () => view.answers,
    echo: () => {},
    changedSession: () => {},
    refresh: () => {},
    setVim: (on) => {
      vim = on
    },
    vim: () => vim,
    setTheme: () => {},
    shell: (event) => view.on(event),
    aside: (work) => work(),
  })
  const stop = () => (conversation.busy ? conversation.interrupt() : conversation.leave('prompt_input_exit'))
  const signals = endOnSignals((reason) => conversation.leave(reason), options.interactive ? stop : undefined)
  const started = await options.start({
    front,
    signal: conversation.signal,
    user: userAt(front, () => (conversation.ready ? conversation.session.cwd : options.cwd)),
    on: (event) => {
      conversation.on(event)
      view.on(event)
    },
    onUsage: (model, usage, cost) => conversation.onUsage(model, usage, cost),
  })
  if (!started) return 0
  if ('problem' in started) {
    process.stderr.write(`ona: ${clean(started.problem)}\n`)
    return started.usage ? 2 : 1
  }
  conversation.begin(started)
  const { model } = conversation.session
  if (options.interactive) front.print(`ona ${version}: ${model.wireModel} (${model.why}). /help lists the commands.`)
  options.output.on('error', () => conversation.leave('other')) // nobody reads any more: `ona | head`
  const reason = await Promise.race([conversation.left, readAll(options, started.initialPrompt, conversation, front)])
  await conversation.settled()
  await started.close(reason)
  signals.release()
  options.input.pause()
  return signals.code() ?? 0
}

async function readAll(options: ReplOptions, first: string, conversation: Conversation, front: Lines) {
  if (first) await conversation.submit(first)
  const prompt = options.prompt()
  if (prompt) await conversation.typed(lineOf(prompt))
  while (!conversation.leaving) {
    const line = await front.next()
    if (line === undefined) break
    await conversation.typed(lineOf(line))
  }
  return conversation.leaving ? conversation.left : ('prompt_input_exit' as const)
}

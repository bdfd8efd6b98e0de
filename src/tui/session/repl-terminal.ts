/** The conversation on a full terminal. */
import type { Runtime } from '../../agent/session/runtime.ts'
import type { PermissionMode } from '../../hooks/plane.ts'
import { isBuiltinRule } from '../../permissions/rules/builtin-rules.ts'
import { type History, memoryHistory } from '../input/history.ts'
import { Prompt } from '../input/prompt.ts'
import { clean } from '../render/clean.ts'
import { fromHome, plural } from '../render/format.ts'
import { glyph, useGlyphs } from '../render/glyphs.ts'
import { useHyperlinks } from '../render/hyperlink.ts'
import { transcriptLines } from '../render/scrollback.ts'
import type { StatusView } from '../render/status/status-view.ts'
import {
  backgroundIn,
  bold,
  isLight,
  isTheme,
  paint,
  type ThemeName,
  useDepth,
  useTheme,
  wantsColour,
} from '../render/style.ts'
import type { TurnView } from '../render/turn-view.ts'
import { userAt } from './ask-user.ts'
import { Conversation, lineOf } from './conversation.ts'
import { endOnSignals, type ReplOptions } from './repl-options.ts'
import { Terminal } from './terminal.ts'

/** Shift+Tab goes round these; the bypass is for those who started with it. */
const modeRound: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan']
/** A turn this long ends with a bell. */
const longTurnMs = 30_000

export async function runTerminal(options: ReplOptions, version: string): Promise<number> {
  const { env } = options
  const colour = wantsColour(env, true)
  let theme: ThemeName | undefined
  useDepth(env)
  useTheme(backgroundIn(env) ?? 'dark', colour) // until the terminal itself answers
  useGlyphs(env)
  useHyperlinks(env)
  const terminal = new Terminal(options.input, options.output, env)
  let history: History = memoryHistory()
  let vim = false
  let status: StatusView | undefined
  let turnSince = 0
  let finder: ((wanted: string) => Promise<string[]>) | undefined

  const conversation: Conversation = new Conversation({
    front: terminal,
    version,
    answers: () => terminal.turn.answers,
    echo: (text, shown) => terminal.turn.add({ kind: 'user', text, shown }),
    changedSession: () => {
      terminal.turn.items.length = 0
      terminal.turn.todos = conversation.session.todos
    },
    refresh: (statusCommand) => {
      if (statusCommand !== undefined) status?.use(statusCommand)
      status?.refresh()
      terminal.changed()
    },
    setVim: (on) => {
      vim = on
    },
    vim: () => vim,
    setTheme: (chosen) => {
      theme = chosen
      useTheme(chosen, colour)
      terminal.changed()
    },
    shell: (event) => terminal.turn.on(event),
    aside: (work) => terminal.turn.aside(work),
  })

  const transcript = () => terminal.pageLive('transcript', transcriptOf(terminal.turn), true)
  const turnMode = () => {
    if (!conversation.ready) return
    const { session } = conversation
    const round =
      session.mode === 'bypassPermissions' || session.mode === 'dontAsk' ? [session.mode, ...modeRound] : modeRound
    session.mode = round[(round.indexOf(session.mode) + 1) % round.length]!
    status?.refresh()
  }
  const prompt: Prompt = new Prompt({
    actions: {
      submit: (text, images, shown) => conversation.take({ text, images, shown }),
      interrupt: () => conversation.interrupt(),
      rewind: () => conversation.take(lineOf('/rewind')),
      exit: () => conversation.leave('prompt_input_exit'),
      turnMode,
      transcript: () => void transcript(),
      openEditor: async (text) => (await import('../dialogs/plan.ts')).editText(terminal, text, 'prompt'),
      pickModel: () => conversation.take(lineOf('/model')),
      toggleTodos: () => {
        terminal.turn.showTodos = !terminal.turn.showTodos
      },
      toBackground: () => conversation.ready && conversation.session.tasks.moveToBackground() > 0,
      clipboardImage: async () => {
        const { imageFromClipboard } = await import('../input/clipboard.ts')
        const pasted = await imageFromClipboard(env)
        if (!pasted.ok) terminal.notice('info', pasted.why)
        return pasted.ok ? pasted.image : undefined
      },
      redraw: () => terminal.wipe(),
      suspend: () => terminal.suspend(),
      takeQueue: () => conversation.takeQueue(),
      changed: () => terminal.changed(),
    },
    sources: {
      commands: () => conversation.commands(),
      files: async (wanted) => {
        const { fileFinder } = await import('../input/project-files.ts')
        const ignored = () => conversation.ready && conversation.session.runtime.settings.respectGitignore === false
        finder ??= fileFinder(() => (conversation.ready ? conversation.session.cwd : options.cwd), ignored)
        return finder(wanted)
      },
      agents: () => (conversation.ready ? conversation.session.runtime.agents.map(({ name }) => name) : []),
    },
    history: () => history,
    busy: () => conversation.busy,
    cwd: () => (conversation.ready ? conversation.session.cwd : options.cwd),
    vim: () => vim,
    status: (columns) => status?.lines(columns) ?? [paint('dim', `starting${glyph.more}`)],
  })
  terminal.prompt = prompt
  terminal.queued = () => conversation.queued()
  terminal.setDraft = (text) => prompt.set(text)
  terminal.onEnd = () => conversation.leave('other')
  terminal.place = fromHome(options.cwd)
  terminal.turn.folder = options.cwd
  if (colour)
    terminal.onBackground = (reported) => {
      if (theme) return // the user has chosen one
      useTheme(isLight(reported) ? 'light' : 'dark', colour)
      terminal.changed()
    }
  terminal.turn.hold()
  terminal.open()

  const signals = endOnSignals((reason) => conversation.leave(reason))
  const started = await options
    .start({
      front: terminal,
      signal: conversation.signal,
      promptsForHosts: true,
      user: userAt(terminal, () => (conversation.ready ? conversation.session.cwd : options.cwd)),
      on: (event) => {
        conversation.on(event)
        terminal.turn.on(event)
        if (event.agent) return
        if (event.type === 'turn-started') turnSince = Date.now()
        if (['usage', 'phase', 'task', 'turn-ended'].includes(event.type)) status?.refresh()
        if (event.type === 'turn-ended' && Date.now() - turnSince > longTurnMs) terminal.notify('ona is done')
      },
      onUsage: (model, usage, usd) => conversation.onUsage(model, usage, usd),
    })
    .catch((cause: unknown) => {
      terminal.close()
      throw cause
    })
  if (!started || 'problem' in started) {
    terminal.close()
    if (!started) return 0
    process.stderr.write(`ona: ${clean(started.problem)}\n`)
    return started.usage ? 2 : 1
  }
  conversation.begin(started)
  const { session } = conversation
  const { settings } = session.runtime
  const [{ openHistory }, { StatusView }] = await Promise.all([
    import('../input/stored-history.ts'),
    import('../render/status/status-view.ts'),
  ])
  history = openHistory(session.db, session.projectDir, () => conversation.session.id)
  vim = settings.editorMode === 'vim'
  if (isTheme(settings.theme)) {
    theme = settings.theme
    useTheme(theme, colour)
  }
  status = new StatusView(conversation, { version, vimMode: () => prompt.vimMode, changed: () => terminal.changed() })
  terminal.turn.todos = session.todos
  terminal.turn.nameOf = (wireModel) =>
    wireModel === session.model.wireModel ? (session.model.displayName ?? wireModel) : wireModel
  terminal.turn.release({ kind: 'lines', lines: banner(conversation, version, options.cwd) })
  const first = async () => {
    if (started.initialPrompt) await conversation.submit(started.initialPrompt)
    const prompt = options.prompt()
    if (prompt) await conversation.typed(lineOf(prompt))
    else await conversation.drain()
  }
  // what breaks ends the session as leaving does; the terminal is given back before anybody reads why
  const reason = await Promise.race([conversation.left, first().then(() => conversation.left)]).catch(
    (cause: unknown) => ({ cause }),
  )
  status.close()
  terminal.close()
  await conversation.settled()
  const hasTurns = session.messages.length > 0
  await started.close(typeof reason === 'string' ? reason : 'other')
  if (hasTurns && typeof reason === 'string')
    options.output.write(`\n${paint('dim', 'Resume this session with:')} ona --resume ${conversation.session.id}\n`)
  signals.release()
  if (typeof reason !== 'string') throw reason.cause
  return signals.code() ?? 0
}

/** Everything in full; rebuilt only when the width or what happened has changed. */
function transcriptOf(turn: TurnView): (columns: number) => readonly string[] {
  let made: { key: string; lines: readonly string[] } | undefined
  return (columns) => {
    const key = `${columns} ${turn.items.length}`
    if (made?.key !== key) {
      made = { key, lines: transcriptLines(turn.items, columns, (text, wide) => turn.markdown(text, wide)) }
    }
    return made.lines
  }
}

/** What governs this session, in one line. */
function guards({ settings, sandbox, trusted, plugins = [] }: Runtime): string {
  const { allow = [], ask = [], deny = [] } = settings.permissions ?? {}
  const own = [...allow, ...ask, ...deny].filter((rule) => !isBuiltinRule(rule))
  const ofPlugins = plugins.flatMap(({ handlers }) => handlers).filter(({ withheld }) => withheld === undefined)
  return [
    plural((settings.hooks?.length ?? 0) + ofPlugins.length, 'hook'),
    plural(own.length, 'rule'),
    `sandbox ${sandbox ? 'on' : 'off'}`,
    trusted ? 'trusted' : 'not trusted',
  ].join(` ${glyph.dot} `)
}

function banner({ session }: Conversation, version: string, cwd: string): string[] {
  const { model } = session
  const name = model.rehearsal
    ? 'the built-in rehearsal model (not a language model)'
    : (model.displayName ?? model.wireModel)
  return [
    `${bold(paint('accent', 'ona'))} ${version} ${paint('dim', `in ${fromHome(cwd)}`)}`,
    paint('dim', `${name} ${glyph.dot} ${model.why}`),
    paint('dim', guards(session.runtime)),
    ...(session.messages.length > 0
      ? [paint('dim', `resumed session ${session.id} (${plural(session.messages.length, 'message')})`)]
      : []),
  ]
}

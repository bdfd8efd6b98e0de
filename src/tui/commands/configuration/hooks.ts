import { readFileSync } from 'node:fs'
import { eventNames } from '../../../hooks/events.ts'
import { readHooks, sayHookProblem } from '../../../hooks/settings.ts'
import { stepNames } from '../../../hooks/steps.ts'
import { addEvent } from '../../../store/audit.ts'
import { editSettings } from '../../../store/settings/settings-edit.ts'
import { parseSettings, settingsFile, settingsFileToWrite } from '../../../store/settings/settings-files.ts'
import { flatHooks } from '../../../store/settings/settings-merge.ts'
import type { HookEntry } from '../../../store/settings/settings-shape.ts'
import { cleanLine } from '../../render/clean.ts'
import { bold, paint } from '../../render/style.ts'
import type { Ui } from '../../session/command-context.ts'
import { placesOf } from '../../session/save-setting.ts'

type Level = (typeof fileLevels)[number]
const usage = 'usage: /hooks [add EVENT MATCHER COMMAND | remove NUMBER]'

export async function run(args: string, ui: Ui): Promise<void> {
  const [verb = '', ...rest] = args.split(/\s+/)
  if (verb === '') return ui.front.interactive ? edit(ui) : show(ui)
  if (verb === 'add' && rest.length >= 3)
    return add({ event: rest[0]!, matcher: rest[1]!, command: args.split(/\s+/).slice(3).join(' ') }, 'local', ui)
  if (verb === 'remove' && rest.length === 1) return remove(listed(ui)[Number(rest[0]) - 1]?.hook, ui)
  ui.front.notice('error', usage)
}

/** A hook of settings, or of a plugin. */
type Hook = Readonly<Record<string, unknown>> &
  Pick<HookEntry, 'hook_event_name' | 'matcher'> & { readonly source: string }

interface Listed {
  readonly hook: Hook
  /** Its source, and what sets it apart from those in force. */
  readonly from: string
}

/** Those in force, as this process took them at its start, and those that the files hold by now. */
function listed(ui: Ui): Listed[] {
  const { settings, trusted } = ui.session.runtime
  const inForce = (settings.hooks ?? []) as readonly HookEntry[]
  const inFiles = fileLevels.flatMap((level) => {
    const file = settingsFile(level, placesOf(ui))
    return file ? flatHooks(hooksIn(file), level) : []
  })
  const same = (a: HookEntry) => (b: HookEntry) =>
    a.source === b.source && a.hook_event_name === b.hook_event_name && a.matcher === b.matcher && say(a) === say(b)
  const removed = (hook: HookEntry) => isFile(hook) && !inFiles.some(same(hook))
  const waits = ({ source }: HookEntry) =>
    trusted || source === 'user' ? 'from the next start on' : 'this folder is not trusted'
  return [
    ...inForce.map((hook) => ({
      hook,
      from: hook.source + (removed(hook) ? '; removed, runs until ona is restarted' : ''),
    })),
    ...inFiles
      .filter((hook) => !inForce.some(same(hook)))
      .map((hook) => ({ hook, from: `${hook.source}; ${waits(hook)}` })),
    ...ofPlugins(ui),
  ]
}

/** What plugins bring; a plugin is the place to change it. */
const ofPlugins = ({ session }: Ui): Listed[] =>
  (session.runtime.plugins ?? []).flatMap(({ id, handlers }) =>
    handlers.map((handler) => ({
      hook: { ...handler, hook_event_name: handler.event, source: `plugin ${id}` },
      from: `plugin ${id}${handler.withheld === undefined ? '' : `; does not run: ${handler.withheld}`}`,
    })),
  )

const fileLevels = ['user', 'project', 'local'] as const
const isFile = ({ source }: Hook): boolean => fileLevels.some((level) => level === source)

/** What runs. A function goes by its name: `no-friday in .ona/guard.ts`. */
function named(hook: Hook, { session }: Ui): string {
  const names = (session.runtime.handlers ?? []).flatMap((handler) =>
    handler.kind === 'function' && handler.file === hook['file'] && handler.event === hook.hook_event_name
      ? [handler.name]
      : [],
  )
  return cleanLine(names.join(', ')) || say(hook)
}

const say = (hook: Hook) =>
  cleanLine(
    String(hook['command'] ?? hook['url'] ?? hook['prompt'] ?? hook['file'] ?? hook['name'] ?? hook['type'] ?? ''),
  )

function show(ui: Ui): void {
  const hooks = listed(ui)
  if (hooks.length === 0) ui.front.print('No hooks. /hooks add PreToolUse Bash ./check.sh adds one.')
  for (const [index, { hook, from }] of hooks.entries())
    ui.front.print(
      `${String(index + 1).padStart(3)}. ${bold(hook.hook_event_name)} ${hook.matcher || '*'}: ${named(hook, ui)} ${paint('dim', `(${from})`)}`,
    )
}

async function edit(ui: Ui): Promise<void> {
  type Act = { kind: 'add' } | { kind: 'hook'; hook: Hook }
  const chosen = await ui.front.choose<Act>({
    title: 'Hooks, in the order in which they run',
    filter: true,
    choices: [
      { label: 'Add a hook', value: { kind: 'add' } },
      ...listed(ui).map(({ hook, from }) => ({
        label: `${hook.hook_event_name} ${hook.matcher || '*'}`,
        value: { kind: 'hook', hook } as Act,
        hint: `${named(hook, ui)} (${from})`,
      })),
    ],
  })
  if (!chosen) return
  if (chosen.value.kind === 'add') return addByHand(ui)
  const { hook } = chosen.value
  const sure = await ui.front.choose({
    title: `${hook.hook_event_name} ${hook.matcher || '*'}`,
    body: [named(hook, ui), '', paint('dim', `from ${hook.source}${isFile(hook) ? ' settings' : ''}`)],
    choices: [
      { label: 'Keep it', value: false, key: 'n' },
      { label: 'Remove it', value: true, key: 'y' },
    ],
  })
  if (sure?.value) await remove(hook, ui)
}

async function addByHand(ui: Ui): Promise<void> {
  const { front } = ui
  const event = await front.choose({
    title: 'When?',
    filter: true,
    choices: [...eventNames, ...stepNames].map((name) => ({ label: name, value: name as string })),
  })
  if (!event) return
  const matcher = await front.ask({
    title: 'For which tools?',
    body: [
      'Bash, Edit|Write, a pattern, or * for all. Events that are not about a tool are matched by their own field.',
    ],
    initial: '*',
  })
  if (matcher === undefined) return
  const command = await front.ask({
    title: 'Which command?',
    body: ['It reads the event as JSON on stdin. Exit 2 denies; its stderr is the reason.'],
    check: (text) => (text.trim() ? undefined : 'a command is needed'),
  })
  if (!command) return
  const level = await front.choose<Level>({
    title: 'Where is it kept?',
    choices: [
      { label: 'This project, for me', value: 'local', hint: '.ona/settings.local.json' },
      { label: 'This project, for everyone', value: 'project', hint: '.ona/settings.json' },
      { label: 'All my projects', value: 'user', hint: '~/.ona/settings.json' },
    ],
  })
  if (level) await add({ event: event.value, matcher, command }, level.value, ui)
}

async function add(
  { event, matcher, command }: { event: string; matcher: string; command: string },
  level: Level,
  ui: Ui,
): Promise<void> {
  const flat = { hook_event_name: event, matcher: matcher === '*' ? '' : matcher, command }
  const { problems } = readHooks({ hooks: [flat] }, { source: { kind: 'settings' } })
  if (problems.length > 0) return ui.front.notice('error', problems.map(sayHookProblem).join('\n'))
  const file = settingsFileToWrite(level, placesOf(ui))
  const nested = usesNested(file)
  const edited = await editSettings(file, [
    nested
      ? { path: ['hooks', event], add: [{ matcher: flat.matcher, hooks: [{ type: 'command', command }] }] }
      : { path: ['hooks'], add: [flat] },
  ])
  if (!edited.ok) return ui.front.notice('error', `${edited.file}: ${edited.why}`)
  log(ui, 'added', flat, edited.file)
  ui.front.notice('info', `Added to ${edited.file}; it runs from the next start of ona on`)
}

async function remove(hook: Hook | undefined, ui: Ui): Promise<void> {
  const { front } = ui
  if (!hook) return front.notice('error', 'there is no such hook; /hooks numbers them')
  if (!isFile(hook)) return front.notice('error', `it comes from ${hook.source}, which is not changed here`)
  const file = settingsFile(hook.source as Level, placesOf(ui))
  if (!file) return front.notice('error', `there is no ${hook.source} settings file any more`)
  const list = hooksIn(file)
  const { source: _source, ...bare } = hook
  const changed = withoutHook(list, bare)
  if (!changed) return front.notice('error', `${file} does not hold this hook any more`)
  const edited = await editSettings(file, [{ path: ['hooks'], value: changed }])
  if (!edited.ok) return front.notice('error', `${edited.file}: ${edited.why}`)
  log(ui, 'removed', bare, file)
  front.notice('info', `Removed from ${file}; it still runs until ona is restarted`)
}

const hooksIn = (file: string): unknown => {
  const read = parseSettings(readFileSync(file, 'utf8'))
  return read.ok ? read.settings['hooks'] : undefined
}

function usesNested(file: string): boolean {
  try {
    const hooks = hooksIn(file)
    return typeof hooks === 'object' && hooks !== null && !Array.isArray(hooks)
  } catch {
    return false // no file yet: the flat list is ours
  }
}

/** The hooks of a file without the first one like this; undefined when there is none. */
function withoutHook(hooks: unknown, wanted: Record<string, unknown>): unknown {
  const same = (command: unknown) => command === wanted['command']
  if (Array.isArray(hooks)) {
    const at = hooks.findIndex(
      (one) =>
        one?.hook_event_name === wanted['hook_event_name'] &&
        same(one?.command) &&
        (one?.matcher ?? '') === (wanted['matcher'] ?? ''),
    )
    return at < 0 ? undefined : hooks.toSpliced(at, 1)
  }
  if (typeof hooks !== 'object' || hooks === null) return undefined
  const event = String(wanted['hook_event_name'])
  const groups = (hooks as Record<string, { matcher?: string; hooks?: { command?: string }[] }[]>)[event]
  const at =
    groups?.findIndex(
      (group) =>
        (group.matcher ?? '') === (wanted['matcher'] ?? '') && group.hooks?.some(({ command }) => same(command)),
    ) ?? -1
  if (!groups || at < 0) return undefined
  const left = groups[at]!.hooks!.filter(({ command }) => !same(command))
  const rest = left.length > 0 ? groups.with(at, { ...groups[at]!, hooks: left }) : groups.toSpliced(at, 1)
  return { ...hooks, [event]: rest }
}

function log({ session }: Ui, what: 'added' | 'removed', hook: object, file: string): void {
  addEvent(session.db, {
    conversationId: session.conversationId,
    sessionId: session.id,
    type: `hook_${what}`,
    detail: { hook, file },
  })
}

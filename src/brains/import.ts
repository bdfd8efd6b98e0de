/** Turns the hooks that a user already has in one agent into a role, so that they can be written into the others. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type FileEdit, locked, writeAll } from '../files/file-edits.ts'
import { JsonEdit, parseObject } from '../files/json-edit.ts'
import { Problem } from '../files/problem.ts'
import { configOf, edits } from '../hosts/adapter.ts'
import { durationMs, durationText } from '../hosts/duration.ts'
import { type BrainHook, eventOf, filterAt, uniqueOf } from '../hosts/hook.ts'
import type { Foreign, Host } from '../hosts/host.ts'
import { namesIn } from '../hosts/tools.ts'

export interface Import {
  /** The role's file, from the root. */
  readonly role: string
  readonly hooks: readonly BrainHook[]
  /** What stays where it is, and why. */
  readonly left: readonly string[]
  readonly files: readonly FileEdit[]
}

/** What an import would do. The hooks change hands: the agent keeps each of them once, now as the role's. */
export async function planImport(brain: Host, root: string, slug: string): Promise<Import> {
  const { path, raw, bom, text, file } = configOf(brain, root)
  if (!brain.foreign) throw new Problem(`${brain.title} keeps hooks as programs; they cannot be read out of it`)
  if (text === null) throw new Problem(`${file} is not there, so ${brain.title} has no hooks in this repository`)
  const role = `.agent/repo=.this/role=${slug}/role.yaml`
  if (existsSync(join(root, role))) throw new Problem(`${role} is there already; name another role with --role NAME`)

  const left: string[] = []
  const taken: Extract<Foreign, { moment: unknown }>[] = []
  const hooks: BrainHook[] = []
  for (const one of brain.foreign(text, file)) {
    if ('why' in one) {
      left.push(`${file} ${one.path.join('.')}: ${one.why}`)
      continue
    }
    const hook = hookOf(one, `repo=.this/role=${slug}`)
    const twin = hooks.findIndex((other) => uniqueOf(other) === uniqueOf(hook))
    const both = twin < 0 ? hook : merged(hooks[twin]!, hook)
    if (!both)
      left.push(
        `${file} ${one.path.join('.')}: a role has a command only once in an event, and this one is there twice`,
      )
    else {
      taken.push(one)
      if (twin < 0) hooks.push(both)
      else hooks[twin] = both
    }
  }
  if (hooks.length === 0) throw new Problem([`${file} has no hooks that a role could take over`, ...left].join('\n  '))

  const rest = without(
    text,
    taken.map((one) => one.path),
    file,
  )
  const after = edits({ ...brain, write: (_, wanted) => brain.write(rest, wanted, file) }, root, [
    ...brain.read(rest, file),
    ...hooks,
  ])
  const { stringify } = await import('yaml')
  const declared = { purpose: `hooks that came from ${file}`, hooks: { onBrain: byEvent(hooks) } }
  const config = after.find((edit) => edit.path === path) ?? { path, before: raw, after: bom + rest }
  const files = [
    { path: join(root, role), before: null, after: stringify(declared, { lineWidth: 0 }) },
    config,
    ...after.filter((edit) => edit.path !== path),
  ]
  return { role, hooks, left, files }
}

export async function applyImport(brain: Host, root: string, slug: string): Promise<Import> {
  const first = await planImport(brain, root, slug)
  return locked(
    first.files.map(({ path }) => path),
    async () => {
      const plan = await planImport(brain, root, slug)
      writeAll(plan.files)
      return plan
    },
  )
}

function hookOf(
  { moment, what, command, timeoutMs }: Extract<Foreign, { moment: unknown }>,
  author: string,
): BrainHook {
  return {
    author,
    event: eventOf[moment],
    // our commands start at the root in every agent, and other agents do not have this variable
    command: command.replace(/"?\$\{?(?:CLAUDE|GEMINI|CURSOR)_PROJECT_DIR\}?"?\//g, './'),
    timeout: durationText(timeoutMs),
    ...filterAt(moment, what),
  }
}

/** One hook for both filters, when they are lists of names on the same side of the tool. */
function merged(a: BrainHook, b: BrainHook): BrainHook | null {
  if (a.filter?.when !== b.filter?.when) return null
  const timeout = durationMs(a.timeout) > durationMs(b.timeout) ? a.timeout : b.timeout
  if (!a.filter || !b.filter) return { ...a, timeout }
  const names = [namesIn(a.filter.what), namesIn(b.filter.what)]
  const all = [a.filter.what, b.filter.what].includes('*')
  if (!all && names.includes(null)) return null
  const what = all ? '*' : [...new Set(names.flat())].join('|')
  return { ...a, timeout, filter: { ...a.filter, what } }
}

/** The text without the handlers at these paths, and without groups and events that are empty because of that. */
function without(text: string, paths: readonly Foreign['path'][], file: string): string {
  const edit = new JsonEdit(text)
  const lists = parseObject(text, file).value['hooks'] as Record<string, Item[]>
  for (const [event, going] of Map.groupBy(paths, ([, name]) => String(name))) {
    // in one pass where there are many: one edit after another reads the whole text each time
    if (going.length <= manyEdits || !edit.relist(['hooks', event], staying(lists[event]!, going)))
      for (const path of going.toReversed()) removeHandler(edit, path, file)
    edit.prune(['hooks', event])
  }
  return edit.text
}

type Item = Record<string, unknown>

const manyEdits = 20

/** What stays of an event's list: whole items by their place, groups with the handlers that they keep. */
function staying(items: readonly Item[], going: readonly Foreign['path'][]) {
  const byItem = Map.groupBy(going, ([, , index]) => Number(index))
  return items.flatMap((item, from) => {
    const gone = byItem.get(from)
    if (!gone) return [{ from }]
    const handlers = item['hooks']
    if (!Array.isArray(handlers) || gone.length === handlers.length) return []
    const positions = new Set(gone.map((path) => Number(path[4])))
    return [{ from, old: item, value: { ...item, hooks: handlers.filter((_, at) => !positions.has(at)) } }]
  })
}

function removeHandler(edit: JsonEdit, path: Foreign['path'], file: string): void {
  const [hooks, event, index, handlers] = path
  edit.set(path, undefined)
  if (!handlers) return
  const lists = parseObject(edit.text, file).value['hooks'] as Record<string, Item[]>
  const left = lists[String(event)]![Number(index)]!['hooks']
  if (Array.isArray(left) && left.length === 0) edit.set([hooks!, event!, index!], undefined)
}

const byEvent = (hooks: readonly BrainHook[]) => {
  const lists: Record<string, object[]> = {}
  for (const { event, command, timeout, filter } of hooks)
    lists[event] = [...(lists[event] ?? []), { command, timeout, ...(filter && { filter }) }]
  return lists
}

/** Our hooks in a JSON config that belongs to somebody else: found by their mark, inserted, changed and removed. */
import { isDeepStrictEqual } from 'node:util'
import { isFields, JsonEdit, notStrict, parseObject } from '../../files/json-edit.ts'
import { Problem } from '../../files/problem.ts'
import { type BrainHook, type Moment, momentOf, uniqueOf } from '../hook.ts'
import type { Host } from '../host.ts'
import { foreignIn } from './foreign.ts'
import type { Layout } from './layout.ts'

type Fields = Record<string, unknown>

/** The parts of a brain that follow from its layout. */
export function jsonConfig(layout: Layout): Pick<Host, 'read' | 'write' | 'standing' | 'foreign' | 'unitMs'> {
  return {
    unitMs: layout.unitMs,
    read: (text, file) => readHooks(layout, text, file),
    write: (text, hooks, file) => writeHooks(layout, text, hooks, file),
    standing: (text, file) => hooksStand(layout, text, file),
    foreign: (text, file) => foreignIn(layout, text, file),
  }
}

interface Found {
  readonly hook: BrainHook
  readonly event: string
  readonly index: number
  /** Set when somebody moved our handler into a group with others. */
  readonly handler?: number
  readonly value: Fields
}

function readHooks(layout: Layout, text: string, file: string): BrainHook[] {
  const order: Moment[] = ['boot', 'compact', 'talk', 'before', 'after', 'stop']
  const rank = new Map(order.map((moment, index) => [moment, index]))
  const hooks = new Map<string, BrainHook>()
  for (const { hook } of find(layout, text, file)) if (!hooks.has(uniqueOf(hook))) hooks.set(uniqueOf(hook), hook)
  return [...hooks.values()].sort((a, b) => rank.get(momentOf(a))! - rank.get(momentOf(b))!)
}

/** Tells whether a hook stands in the file exactly as we would write it. */
function hooksStand(layout: Layout, text: string, file: string): (hook: BrainHook) => boolean {
  const found = Map.groupBy(find(layout, text, file), (one) => uniqueOf(one.hook))
  return (hook) => {
    const [first, ...more] = found.get(uniqueOf(hook)) ?? []
    const event = layout.events[momentOf(hook)]
    return first?.event === event && more.length === 0 && isDeepStrictEqual(first.value, layout.render(hook))
  }
}

function writeHooks(layout: Layout, text: string | null, hooks: readonly BrainHook[], file: string): string | null {
  const wanted = wantedIn(layout, hooks)
  if (text === null || text.trim() === '') {
    if (wanted.size === 0) return text
    const lists = [...wanted].map(([event, entries]) => [event, entries.map(({ value }) => value)])
    const whole = `${JSON.stringify({ ...layout.skeleton, hooks: Object.fromEntries(lists) }, null, 2)}\n`
    return text?.includes('\r\n') ? whole.replaceAll('\n', '\r\n') : whole
  }
  const found = find(layout, text, file)
  const edit = new JsonEdit(text)
  const before = parseObject(text, file).value
  for (const event of new Set([...found.map((one) => one.event), ...wanted.keys()])) {
    const mine = found.filter((one) => one.event === event)
    changeEvent(layout, edit, file, before, event, mine, wanted.get(event) ?? [])
  }
  if (edit.text === text) return text
  const after = parseObject(edit.text, file).value
  if (isFields(after['hooks']) && Object.keys(after['hooks']).length === 0) {
    if (layout.ownFile && isDeepStrictEqual({ ...after, hooks: undefined }, { ...layout.skeleton, hooks: undefined }))
      return null
    edit.prune(['hooks'])
  }
  for (const [key, value] of Object.entries(layout.skeleton ?? {})) if (!(key in after)) edit.set([key], value)
  return edit.text
}

interface Wanted {
  readonly key: string
  readonly value: Fields
}

function wantedIn(layout: Layout, hooks: readonly BrainHook[]): Map<string, Wanted[]> {
  const wanted = new Map<string, Wanted[]>()
  for (const hook of hooks) {
    const value = layout.render(hook)
    if (!value) continue
    const event = layout.events[momentOf(hook)]
    const list = wanted.get(event) ?? []
    list.push({ key: uniqueOf(hook), value })
    wanted.set(event, list)
  }
  return wanted
}

/** The last text looked through, by layout: a plan reads, compares and writes one text. */
const lastFound = new WeakMap<Layout, { readonly text: string; readonly found: readonly Found[] }>()

function find(layout: Layout, text: string, file: string): readonly Found[] {
  const last = lastFound.get(layout)
  if (last?.text === text) return last.found
  const found = findIn(layout, text, file)
  lastFound.set(layout, { text, found })
  return found
}

/** Every handler of ours in the file. What is not ours may have any shape: it is stepped over. */
function findIn(layout: Layout, text: string, file: string): Found[] {
  if (text.trim() === '') return []
  const at = layout.strict === undefined ? null : notStrict(text)
  const hooks = parseObject(text, file).value['hooks']
  if (at)
    throw new Problem(
      `${file}:${at}: ${layout.strict} reads strict JSON and ignores this file as it is; take the comment or the trailing comma out. Nothing was written`,
    )
  if (!isFields(hooks)) return []
  const places = [
    ...(Object.entries(layout.events) as [Moment, string][]).map(([moment, event]) => ({ event, moment, what: '' })),
    ...Object.entries(layout.alsoIn ?? {}).map(([event, place]) => ({ event, ...place })),
  ]
  const found: Found[] = []
  for (const { event, moment, what } of places) {
    const items = hooks[event]
    if (!Array.isArray(items)) continue
    for (const [index, item] of items.entries()) {
      if (!isFields(item)) continue
      const matcher = typeof item['matcher'] === 'string' ? item['matcher'] : ''
      const handlers = layout.groups ? item['hooks'] : [item]
      if (!Array.isArray(handlers)) continue
      for (const [position, handler] of handlers.entries()) {
        const hook = isFields(handler) ? layout.recognise(handler, what || matcher, moment) : null
        if (!hook) continue
        const alone = handlers.length === 1
        const value = alone ? item : { ...item, hooks: [handler] }
        found.push({ hook, event, index, value, ...(!alone && { handler: position }) })
      }
    }
  }
  return found
}

/** Changes our entries in the event's list to what they should be. */
function changeEvent(
  layout: Layout,
  edit: JsonEdit,
  file: string,
  before: Fields,
  event: string,
  mine: Found[],
  wanted: Wanted[],
) {
  const hooks = before['hooks']
  if (hooks !== undefined && !isFields(hooks))
    throw new Problem(`${file}: "hooks" must be an object; nothing was written`)
  const items = hooks?.[event]
  if (items === undefined) {
    if (wanted.length > 0)
      edit.set(
        ['hooks', event],
        wanted.map(({ value }) => value),
      )
    return
  }
  if (!Array.isArray(items)) throw new Problem(`${file}: hooks.${event} must be a list; nothing was written`)

  const { left, gone } = withoutStrays(edit, event, items, mine, wanted)
  /** Places that are ours alone, by the key of the hook that stands there; '' where nothing of worth does. */
  const owned = new Map<number, string>()
  for (const one of mine) if (one.handler === undefined) owned.set(one.index, uniqueOf(one.hook))
  for (const [index, count] of gone) if (count === (items[index]!['hooks'] as unknown[]).length) owned.set(index, '')
  for (const [index, item] of items.entries()) if (isDeepStrictEqual(item, emptyPlace)) owned.set(index, '')
  const list = arrange(layout, items.length, owned, left)
  const changed = list.filter(
    ({ from, value }) => from === undefined || (value && !isDeepStrictEqual(items[from], value)),
  )
  const places = list.map((place) => ({ ...place, ...(place.from !== undefined && { old: items[place.from] }) }))
  const removed = items.length - list.filter(({ from }) => from !== undefined).length
  if (gone.size + changed.length + removed === 0) return
  const many = changed.length + removed > manyEdits
  if (many && edit.relist(['hooks', event], places)) {
    edit.prune(['hooks', event])
    return
  }
  for (const { from, value } of list)
    if (from !== undefined && value) edit.turn(['hooks', event, from], items[from], value)
  const stay = new Set(list.map(({ from }) => from))
  for (let index = items.length - 1; index >= 0; index--)
    if (!stay.has(index)) edit.set(['hooks', event, index], undefined)
  for (const [index, { from, value }] of list.entries())
    if (from === undefined) edit.insert(['hooks', event, index], value)
  if (items.length > 0) edit.prune(['hooks', event])
}

/**
 * Removes handlers of ours from groups that hold others too, unless one is just as we would write it. Gives what is left to be
 * written, and how many handlers went from each group.
 */
function withoutStrays(edit: JsonEdit, event: string, items: Fields[], mine: readonly Found[], wanted: Wanted[]) {
  const gone = new Map<number, number>()
  const strays = mine.filter(({ handler }) => handler !== undefined)
  const values = new Map(wanted.map(({ key, value }) => [key, value]))
  const standing = new Set<string>()
  const going = strays.filter(({ hook, value }) => {
    const key = uniqueOf(hook)
    if (standing.has(key) || !isDeepStrictEqual(values.get(key), value)) return true
    standing.add(key)
    return false
  })
  for (const [index, ones] of Map.groupBy(going, (one) => one.index)) {
    const path = ['hooks', event, index, 'hooks']
    const positions = new Set(ones.map(({ handler }) => handler!))
    const stay = (items[index]!['hooks'] as unknown[]).flatMap((_, from) => (positions.has(from) ? [] : [{ from }]))
    if (ones.length <= manyEdits || !edit.relist(path, stay))
      for (const position of [...positions].reverse()) edit.set([...path, position], undefined)
    gone.set(index, ones.length)
  }
  return { left: wanted.filter(({ key }) => !standing.has(key)), gone }
}

/** From so many on the list is written in one pass, without looking at each item's surroundings. */
const manyEdits = 20

/** One place of the new list: something that was there (perhaps with a new value), or something new. */
interface Place {
  readonly from?: number
  readonly value?: Fields
}

/** Others keep their order and ours get the declared one: a new hook goes before the declared hook that follows it. */
function arrange(layout: Layout, length: number, owned: Map<number, string>, wanted: readonly Wanted[]): Place[] {
  const kept = new Map<number, number>()
  const places = Map.groupBy(owned, ([, key]) => key)
  let last = -1
  for (const [rank, { key }] of wanted.entries()) {
    const index = places.get(key)?.shift()?.[0]
    if (index === undefined || (index < last && !layout.keepPositions)) continue
    kept.set(index, rank)
    last = index
  }
  const ranks = new Set(kept.values())
  const fresh = wanted.map((one, rank) => ({ ...one, rank })).filter(({ rank }) => !ranks.has(rank))
  let next = 0
  const list: Place[] = []
  for (let index = 0; index < length; index++) {
    const rank = kept.get(index)
    if (rank !== undefined) {
      while (!layout.keepPositions && next < fresh.length && fresh[next]!.rank < rank)
        list.push({ value: fresh[next++]!.value })
      list.push({ from: index, value: wanted[rank]!.value })
    } else if (!owned.has(index)) list.push({ from: index })
    else if (layout.keepPositions) list.push({ from: index, value: emptyPlace })
  }
  if (layout.keepPositions) while (list.at(-1)?.value === emptyPlace) list.pop()
  return [...list, ...fresh.slice(next).map(({ value }) => ({ value }))]
}

/** Stands where a hook of ours was, so that those behind it stay where they are. Matches no tool and runs nothing. */
const emptyPlace: Fields = { matcher: 'ona_removed', hooks: [] }

/**
 * What was worked out for texts lately, bounded in size. A lookup in a Map copies every string into V8's
 * own table of strings, which costs more than the answer where most texts are new; this one compares hashes.
 */
export interface RecentTexts<V> {
  /** `place`: where the text stands; elsewhere the same text is another one. */
  get(place: number, text: string): V | undefined
  set(place: number, text: string, value: V, weight?: number): void
  /** Keeps it when it comes up for the second time: most texts come up once. */
  setAgain(place: number, text: string, value: V, weight?: number): void
}

/** Two generations, so that what is asked for again stays: holds values of a weight between `most` and twice as much. */
export function recentTexts<V>(most: number): RecentTexts<V> {
  let young = table<V>()
  let old = table<V>()
  let weight = 0
  const seen = new Int32Array(2 ** 13)
  let last = { place: 0, text: '', hash: hashOf(0, '') }
  /** What is asked for is set next, if it was not there. */
  const hashed = (place: number, text: string): number => {
    if (last.text !== text || last.place !== place) last = { place, text, hash: hashOf(place, text) }
    return last.hash
  }
  const set = (hash: number, place: number, text: string, value: V, heavy: number) => {
    if (weight >= most) {
      old = young
      young = table()
      weight = 0
    }
    weight += heavy
    young.add({ hash, place, text, value, weight: heavy })
  }
  return {
    get(place, text) {
      const hash = hashed(place, text)
      const known = young.find(hash, place, text)
      if (known) return known.value
      const before = old.find(hash, place, text)
      if (!before) return undefined
      set(hash, place, text, before.value, before.weight)
      return before.value
    },
    set: (place, text, value, heavy = 1) => set(hashed(place, text), place, text, value, heavy),
    setAgain(place, text, value, heavy = 1) {
      const hash = hashed(place, text)
      const slot = hash & (seen.length - 1)
      if (seen[slot] === hash) set(hash, place, text, value, heavy)
      else seen[slot] = hash
    },
  }
}

interface Entry<V> {
  readonly hash: number
  readonly place: number
  readonly text: string
  readonly value: V
  readonly weight: number
}

function table<V>() {
  let slots: (Entry<V> | undefined)[] = emptySlots(64)
  let size = 0
  /** That of the text, or a free one. */
  const slotOf = (hash: number, place: number, text: string): number => {
    const mask = slots.length - 1
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const entry = slots[at]
      if (!entry || (entry.hash === hash && entry.place === place && entry.text === text)) return at
    }
  }
  const put = (entry: Entry<V>): boolean => {
    const at = slotOf(entry.hash, entry.place, entry.text)
    const isNew = slots[at] === undefined
    slots[at] = entry
    return isNew
  }
  return {
    find: (hash: number, place: number, text: string): Entry<V> | undefined => slots[slotOf(hash, place, text)],
    add(entry: Entry<V>): void {
      if (!put(entry) || 2 * ++size < slots.length) return
      const before = slots
      slots = emptySlots(2 * before.length)
      for (const each of before) if (each) put(each)
    },
  }
}

const emptySlots = (length: number): undefined[] => new Array(length).fill(undefined)

/** FNV-1a. */
function hashOf(place: number, text: string): number {
  let hash = 2166136261 ^ place
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619)
  return (hash ^ (hash >>> 15)) | 0
}

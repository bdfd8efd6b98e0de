/** What was worked out lately, bounded in size: two generations, so that what is asked for again stays. */
export interface Recent<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): void
}

/** Holds between `most` and twice as many entries. */
export function recent<K, V>(most: number): Recent<K, V> {
  let young = new Map<K, V>()
  let old = new Map<K, V>()
  const set = (key: K, value: V) => {
    if (young.size >= most) {
      old = young
      young = new Map()
    }
    young.set(key, value)
  }
  return {
    get(key) {
      const known = young.get(key)
      if (known !== undefined) return known
      const before = old.get(key)
      if (before !== undefined) set(key, before)
      return before
    },
    set,
  }
}

/** What was worked out for texts that came up twice: most come up once, and keeping those would cost more than working them out. */
export function repeated<V>(most: number): { of(text: string, work: () => V): V } {
  const known = recent<string, V>(most)
  const isSeen = sights(4 * most)
  return {
    of(text, work) {
      if (!isSeen(text)) return work()
      const before = known.get(text)
      if (before !== undefined) return before
      const found = work()
      known.set(text, found)
      return found
    },
  }
}

/** Whether a text came up lately; rarely true for one that did not. A text leaves a number of four bytes. */
export function sights(most: number): (text: string) => boolean {
  const seen = new Uint32Array(most)
  return (text) => {
    const hash = hashOf(text)
    const slot = hash % seen.length
    if (seen[slot] === hash) return true
    seen[slot] = hash
    return false
  }
}

/** What follows from an object that never changes: worked out once, and kept for as long as the object. */
export function perObject<K extends object, V>(work: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>()
  return (key) => {
    const before = known.get(key)
    if (before !== undefined) return before
    const found = work(key)
    known.set(key, found)
    return found
  }
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 2166136261
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619)
  return hash >>> 0
}

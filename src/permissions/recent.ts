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

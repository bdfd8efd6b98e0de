/** A pattern over the names of programs: each name is held against it once. */
export interface NamePattern {
  test(name: string): boolean
}

export function byName(pattern: RegExp): NamePattern {
  const known = new Map<string, boolean>()
  return {
    test(name) {
      const before = known.get(name)
      if (before !== undefined) return before
      const found = pattern.test(name)
      if (known.size >= most) known.clear()
      if (name.length <= longest) known.set(name, found)
      return found
    },
  }
}

const most = 500
const longest = 100

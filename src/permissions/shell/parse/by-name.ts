/** What follows from the name of a program: worked out once a name, and kept for the names seen last. */
export function byName<T>(work: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>()
  return (name) => {
    const before = known.get(name)
    if (before !== undefined || known.has(name)) return before as T
    const found = work(name)
    if (known.size >= most) known.clear()
    if (name.length <= longest) known.set(name, found)
    return found
  }
}

/** Whether a pattern matches the name. */
export const named = (pattern: RegExp): ((name: string) => boolean) => byName((name) => pattern.test(name))

const most = 500
const longest = 100

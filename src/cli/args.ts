/** Words of a command: flags with and without values, the rest in order. What is not known is an error that says so. */

export interface ArgSpec {
  readonly values?: readonly string[]
  readonly flags?: readonly string[]
}

export type Args =
  | {
      readonly ok: true
      readonly words: readonly string[]
      value(name: string): string | undefined
      has(name: string): boolean
    }
  | { readonly ok: false; readonly why: string }

export function readArgs(words: readonly string[], { values = [], flags = [] }: ArgSpec): Args {
  const found = new Map<string, string>()
  const rest: string[] = []
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!
    const [name, inline] = word.startsWith('--') ? splitOnce(word.slice(2)) : [undefined, undefined]
    if (name === undefined || word === '--') rest.push(word)
    else if (flags.includes(name)) found.set(name, '')
    else if (values.includes(name)) {
      const value = inline ?? words[++index]
      if (value === undefined) return { ok: false, why: `--${name} needs a value` }
      found.set(name, value)
    } else return { ok: false, why: `there is no flag --${name}` }
  }
  return { ok: true, words: rest, value: (name) => found.get(name), has: (name) => found.has(name) }
}

function splitOnce(text: string): [string, string | undefined] {
  const at = text.indexOf('=')
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

/** Texts that differ in numbers alone. */

/** What stands between the numbers, and which number stands there. */
export type Template = readonly (string | number)[]

export function fill(template: Template, numbers: readonly string[]): string {
  let text = ''
  for (const part of template) text += typeof part === 'string' ? part : numbers[part]!
  return text
}

/** What two texts have in common, one with these numbers and one with others; undefined: they differ in more. */
export function templateOf(
  one: string,
  numbers: readonly string[],
  two: string,
  others: readonly string[],
): Template | undefined {
  if (one === two) return [one]
  const [a, b] = [one.split(/(\d+)/), two.split(/(\d+)/)]
  if (a.length !== b.length) return undefined
  const template: (string | number)[] = []
  for (const [at, part] of a.entries()) {
    const slot = part === b[at] ? -1 : numbers.findIndex((number, each) => number === part && others[each] === b[at])
    if (part !== b[at] && slot < 0) return undefined
    const last = template.at(-1)
    if (slot >= 0) template.push(slot)
    else if (typeof last === 'string') template[template.length - 1] = last + part
    else template.push(part)
  }
  return template
}

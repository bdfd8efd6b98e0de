/** Nasty texts made from good ones, the same for the same seed. */

/** Numbers in [0, 1) that only the seed decides (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

type Random = ReturnType<typeof random>
const below = (next: Random, count: number) => Math.floor(next() * count)
const pick = <T>(next: Random, list: readonly T[]): T => list[below(next, list.length)]!

/** The text of one case. */
export function nastyText(seeds: readonly string[], seed: number): string {
  const next = random(seed)
  let text = pick(next, seeds)
  for (let left = 1 + below(next, 4); left > 0; left--) text = pick(next, changes)(text, next, seeds)
  return text.slice(0, 2_000_000)
}

type Change = (text: string, next: Random, seeds: readonly string[]) => string

/** JSON is changed as JSON half of the time, so that what comes out is still read. */
const changes: readonly Change[] = [
  wordSoup,
  changedJson,
  changedJson,
  changedJson,
  (text, next) => text.slice(0, below(next, text.length + 1)),
  (text, next) => text.slice(below(next, text.length + 1)),
  (text, next) => put(text, next, pick(next, tokens)),
  (text, next) => put(text, next, pick(next, tokens)),
  (text, next) => put(text, next, String.fromCharCode(below(next, 65_536))),
  (text, next, seeds) => put(text, next, pick(next, seeds)),
  (text, next) => {
    const at = below(next, text.length + 1)
    return text.slice(0, at) + text.slice(at + 1 + below(next, 20))
  },
  (text, next) => {
    const at = below(next, text.length + 1)
    const part = text.slice(at, at + 1 + below(next, 30))
    return text.slice(0, at) + part.repeat(2 + below(next, 200)) + text.slice(at)
  },
  (text, next) => pick(next, openers).repeat(1 + below(next, 5_000)) + text,
  (text, next) => text.replaceAll(pick(next, [...'"{}[]:,\n -']), () => pick(next, tokens)),
]

/** The format's own words in any order, so that the text gets past the first check. */
function wordSoup(_text: string, next: Random, seeds: readonly string[]): string {
  const words = pick(next, seeds).match(/[\w./*-]+/g) ?? ['x']
  const part = () =>
    pick(next, next() < 0.8 ? words : tokens) + pick(next, [' ', '\n', '\n\n', ': ', ',', '', '":"', '{', '}'])
  return Array.from({ length: 1 + below(next, 25) }, part).join('')
}

function put(text: string, next: Random, what: string): string {
  const at = below(next, text.length + 1)
  return text.slice(0, at) + what + text.slice(at)
}

const openers = ['[', '{"a":', '(', '$(', '`', '"', '- ', '\\', '${', '((', '<<E ', '#', '*', '!', '\x1b[']
const tokens = [
  ...[
    '__proto__',
    'constructor',
    'toString',
    'null',
    'true',
    '-0',
    '1e999',
    'NaN',
    '""',
    '[]',
    '{}',
    '\u0000',
    '\ud800',
  ],
  ...[
    '\u202e',
    '\x1b[2J',
    '\ufeff',
    '\r\n',
    '\n',
    '\t',
    '&a *a',
    '<<: *a',
    '!!js/function',
    '---\n',
    '```',
    '$(x)',
    '`x`',
  ],
  ...[
    '${HOME}',
    '$1',
    '*',
    '**',
    '?',
    '..',
    '/../',
    '~',
    '@',
    '#',
    '//',
    '/*',
    '*/',
    ';',
    '|',
    '&',
    '>',
    '<',
    '\\',
    "'",
    '"',
  ],
  ...['9007199254740993', '-1', '0.5', '\u{1f600}', 'é', 'x'.repeat(500), ' '.repeat(300), 'Bash(*)', 'deny', 'allow'],
]

const values: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e308,
    '',
    'x',
    '\u0000',
    [],
    {},
    [[]],
    [null],
    { a: null },
    '../..',
    '*',
    ['x', 1],
  ],
  ...[
    'allow',
    'deny',
    { toString: 1 },
    { length: 9 },
    '__proto__',
    'x'.repeat(10_000),
    { valueOf: 1 },
    [[[[[[[[[[]]]]]]]]]],
  ],
]

/** One place in it gets another value, another name, a twin, or goes. */
function changedJson(text: string, next: Random): string {
  let root: unknown
  try {
    root = JSON.parse(text)
  } catch {
    return changedLine(text, next)
  }
  const places: (() => void)[] = []
  const holder = { root }
  visit(holder, places, next)
  pick(next, places)()
  return JSON.stringify(holder.root) ?? ''
}

/** A stream of JSON lines or `data:` frames: one of them is changed. */
function changedLine(text: string, next: Random): string {
  const lines = text.split('\n')
  const at = below(next, lines.length)
  const [, lead = '', body = ''] = /^(data: ?)?(.*)$/s.exec(lines[at]!) ?? []
  if (!/^[[{]/.test(body)) return text
  try {
    JSON.parse(body)
  } catch {
    return text
  }
  return lines.with(at, lead + changedJson(body, next)).join('\n')
}

function visit(holder: Record<string, unknown> | unknown[], places: (() => void)[], next: Random, depth = 0): void {
  for (const key of Object.keys(holder)) {
    const place = holder as Record<string, unknown>
    places.push(() => {
      const what = below(next, 6)
      if (what < 3) place[key] = pick(next, values)
      else if (what === 3) delete place[key]
      else if (what === 4) Object.defineProperty(place, pick(next, tokens), { value: place[key], enumerable: true })
      else
        place[key] = Array.isArray(place[key]) ? [...(place[key] as unknown[]), place[key]] : [place[key], place[key]]
    })
    const value = place[key]
    if (typeof value === 'object' && value !== null && depth < 50)
      visit(value as Record<string, unknown>, places, next, depth + 1)
  }
}

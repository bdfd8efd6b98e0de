/** The colours of the terminal: roles, not colours, are named where text is made. */

export type Role =
  | 'accent'
  | 'dim'
  | 'good'
  | 'bad'
  | 'warn'
  | 'user'
  | 'added'
  | 'removed'
  /** A changed word, on its own background. */
  | 'word'
  | 'keyword'
  | 'string'
  | 'number'
  | 'comment'
  | 'name'
  | 'plan'

type Palette = Record<Role, string> & { readonly ground: Record<Ground, string> }

/** Backgrounds: of the user's prompt, of changed lines, and of the changed words in them. */
export type Ground = 'prompt' | 'added' | 'removed' | 'addedWord' | 'removedWord'

const dark: Palette = {
  accent: '38;5;209',
  dim: '38;5;245',
  good: '38;5;114',
  bad: '38;5;203',
  warn: '38;5;179',
  user: '38;5;252',
  added: '38;5;114',
  removed: '38;5;203',
  word: '38;5;231',
  keyword: '38;5;176',
  string: '38;5;150',
  number: '38;5;215',
  comment: '38;5;245',
  name: '38;5;111',
  plan: '38;5;80',
  ground: { prompt: '48;5;237', added: '48;5;22', removed: '48;5;52', addedWord: '48;5;28', removedWord: '48;5;88' },
}
const ansi: Palette = {
  accent: '35',
  dim: '2',
  good: '32',
  bad: '31',
  warn: '33',
  user: '1',
  added: '32',
  removed: '31',
  word: '39',
  keyword: '35',
  string: '32',
  number: '33',
  comment: '2',
  name: '34',
  plan: '36',
  // sixteen colours leave no background that is readable under every foreground
  ground: { prompt: '', added: '', removed: '', addedWord: '7', removedWord: '7' },
}
const palettes = {
  dark,
  light: {
    ...dark,
    accent: '38;5;166',
    dim: '38;5;242',
    good: '38;5;28',
    bad: '38;5;160',
    warn: '38;5;130',
    user: '38;5;236',
    added: '38;5;28',
    removed: '38;5;160',
    word: '38;5;232',
    keyword: '38;5;91',
    string: '38;5;22',
    number: '38;5;130',
    comment: '38;5;242',
    name: '38;5;25',
    plan: '38;5;30',
    ground: {
      prompt: '48;5;254',
      added: '48;5;194',
      removed: '48;5;224',
      addedWord: '48;5;157',
      removedWord: '48;5;217',
    },
  },
  /** Blue for what is good and orange for what is bad, for people who do not tell green from red. */
  daltonized: {
    ...dark,
    good: '38;5;75',
    bad: '38;5;208',
    added: '38;5;75',
    removed: '38;5;208',
    string: '38;5;117',
    ground: { ...dark.ground, added: '48;5;17', removed: '48;5;58', addedWord: '48;5;25', removedWord: '48;5;94' },
  },
  ansi,
} satisfies Record<string, Palette>

export type ThemeName = keyof typeof palettes
export const themes = Object.keys(palettes) as ThemeName[]

/** With sixteen million colours, changed lines stand on grounds that are dark enough for any colour of code. */
const deepGround = {
  ...{ prompt: '48;2;58;58;58', added: '48;2;16;44;24', removed: '48;2;56;20;24' },
  ...{ addedWord: '48;2;28;92;46', removedWord: '48;2;122;36;42' },
}

let palette: Palette | undefined
let depth: 'sixteen' | 'indexed' | 'deep' = 'indexed'
let current: ThemeName = 'dark'

/** Colours for the whole process: one terminal, one theme. */
export function useTheme(name: ThemeName, colour: boolean): void {
  current = name
  const chosen = name === 'dark' && depth === 'deep' ? { ...dark, ground: deepGround } : palettes[name]
  palette = colour ? (depth === 'sixteen' ? ansi : chosen) : undefined
}

/** What the terminal says of its colours. Call it before `useTheme`. */
export function useDepth({ COLORTERM = '', TERM = '' }: NodeJS.ProcessEnv): void {
  const isSixteen = COLORTERM === '' && sixteenColours.test(TERM)
  depth = /^(truecolor|24bit)$/.test(COLORTERM) ? 'deep' : isSixteen ? 'sixteen' : 'indexed'
}

/** Terminals of eight or sixteen colours: the Linux console, serial lines, and names that say so. */
const sixteenColours = /^(linux|ansi|cygwin|screen|xterm-color|rxvt|vt\d+.*|.*-(8|16)color)$/

/** Whether a background that the terminal reports (`rgb:ffff/fafa/f0f0`) is a light one. */
export function isLight(reported: string): boolean {
  const channels = reported
    .replace(/^rgba?:/, '')
    .split('/')
    .slice(0, 3)
  const [red = 0, green = 0, blue = 0] = channels.map((hex) => Number.parseInt(hex, 16) / (16 ** hex.length - 1))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5
}

/** What some terminals say of their background beforehand: `COLORFGBG=15;0`, the last number is the background. */
export function backgroundIn(env: NodeJS.ProcessEnv): 'light' | 'dark' | undefined {
  const ground = /;(\d+)$/.exec(env['COLORFGBG'] ?? '')?.[1]
  if (ground === undefined) return undefined
  return ground === '7' || Number(ground) > 8 ? 'light' : 'dark'
}

export const themeName = (): ThemeName => current
export const isTheme = (name: unknown): name is ThemeName => typeof name === 'string' && name in palettes
export const colours = (): boolean => palette !== undefined

export const paint = (role: Role, text: string): string =>
  palette && text !== ''
    ? `\x1b[${palette[role]}m${text}\x1b[39m${palette[role] === '2' || palette[role] === '1' ? '\x1b[22m' : ''}`
    : text

/** The text on a background. Other backgrounds inside it, and the end of all styles, give this one back. */
export function onGround(ground: Ground, text: string, within?: Ground): string {
  const code = palette?.ground[ground]
  if (!palette || !code || text === '') return text
  const back = code === '7' ? '27' : (within && palette.ground[within]) || '49'
  return `\x1b[${code}m${text.replaceAll('\x1b[0m', `\x1b[0m\x1b[${code}m`)}\x1b[${back}m`
}

const attribute = (on: number, off: number) => (text: string) =>
  palette && text !== '' ? `\x1b[${on}m${text}\x1b[${off}m` : text

export const bold = attribute(1, 22)
export const italic = attribute(3, 23)
export const underline = attribute(4, 24)
export const inverse = attribute(7, 27)
export const struck = attribute(9, 29)

/** Whether this terminal should get colours (https://no-color.org, FORCE_COLOR). */
export function wantsColour(env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  if (env['NO_COLOR']) return false
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0'
  return isTerminal && env['TERM'] !== 'dumb'
}

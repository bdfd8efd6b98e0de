/** The glyphs on the screen, and their ASCII forms for terminals without Unicode. */

const unicode = {
  tool: '●',
  under: '└',
  branch: '├',
  prompt: '❯',
  shell: '!',
  hook: '⚑',
  done: '✔',
  doing: '▸',
  open: '○',
  pick: '❯',
  on: '◉',
  off: '◯',
  spin: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'],
  rule: '─',
  dot: '·',
  more: '…',
  full: '█',
  empty: '░',
  secret: '•',
  to: '→',
  bar: '│',
  /** The corners of a table: left, between columns, right. */
  top: ['┌', '┬', '┐'],
  middle: ['├', '┼', '┤'],
  bottom: ['└', '┴', '┘'],
  round: ['╭', '╮'],
  roundEnd: ['╰', '╯'],
  search: '⌕',
}
const ascii: typeof unicode = {
  tool: '*',
  under: '\\',
  branch: '|',
  prompt: '>',
  shell: '!',
  hook: '!',
  done: 'x',
  doing: '>',
  open: 'o',
  pick: '>',
  on: '[x]',
  off: '[ ]',
  spin: ['|', '/', '-', '\\'],
  rule: '-',
  dot: '-',
  more: '...',
  full: '#',
  empty: '.',
  secret: '*',
  to: '->',
  bar: '|',
  top: ['+', '+', '+'],
  middle: ['+', '+', '+'],
  bottom: ['+', '+', '+'],
  round: ['+', '+'],
  roundEnd: ['+', '+'],
  search: '?',
}

export const glyph: typeof unicode = { ...unicode }

/** A terminal whose locale is not UTF-8 gets plain signs. */
export function useGlyphs(env: NodeJS.ProcessEnv): void {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || 'UTF-8'
  Object.assign(glyph, /utf-?8/i.test(locale) ? unicode : ascii)
}

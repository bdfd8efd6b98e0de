/** Draws the screenshots of the docs: a real session in a real terminal (tmux), as SVG. `node scripts/screenshots.ts` */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const socket = `ona-shots-${process.pid}`
const tmux = (...words: string[]) =>
  spawnSync('tmux', ['-L', socket, '-f', '/dev/null', ...words], { encoding: 'utf8' }).stdout
const [columns, rows] = [88, 24]
const home = mkdtempSync(join(tmpdir(), 'ona-shots-'))
const project = join(home, 'shop')
mkdirSync(project)
writeFileSync(join(project, 'price.ts'), 'export const price = (cents: number) => cents / 100\n')
mkdirSync(join(home, '.ona'))
writeFileSync(
  join(home, '.ona/settings.json'),
  JSON.stringify({
    permissions: { deny: ['Bash(git push --force *)'] },
    hooks: [
      {
        hook_event_name: 'PreToolUse',
        matcher: 'Bash',
        command: "grep -q 'npm publish' && { echo 'releases go through CI' >&2; exit 2; } || true",
      },
    ],
  }),
)

const start = [
  'env',
  '-i',
  `PATH=${process.env['PATH']}`,
  `HOME=${home}`,
  'LANG=C.UTF-8',
  'TERM=screen-256color',
  process.execPath,
  join(root, 'bin', 'ona.mjs'),
]
tmux('new-session', '-d', '-s', 's', '-x', String(columns), '-y', String(rows), '-c', project, start.join(' '))

async function until(shown: RegExp): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (shown.test(tmux('capture-pane', '-p', '-t', 's'))) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error(`never shown: ${shown}\n${tmux('capture-pane', '-p', '-t', 's')}`)
}
const type = (text: string) => tmux('send-keys', '-t', 's', '-l', text)
const press = (...keys: string[]) => tmux('send-keys', '-t', 's', ...keys)

function shoot(name: string): void {
  const screen = tmux('capture-pane', '-p', '-e', '-N', '-t', 's').replace(/\s+$/, '').split('\n')
  writeFileSync(join(root, 'docs', 'images', `${name}.svg`), svg(screen))
  process.stdout.write(`docs/images/${name}.svg\n`)
}

mkdirSync(join(root, 'docs', 'images'), { recursive: true })
await until(/not a language model/)
type('replace "cents / 100" with "Math.round(cents) / 100" in price.ts')
press('Enter')
await until(/Do you want to make this edit|1\. Yes/)
shoot('permission')
press('1')
await until(/● Edit[\s\S]*❯ ask/)
shoot('turn')
type('run npm publish')
press('Enter')
await until(/releases go through CI[\s\S]*❯ ask/)
type('run git push --force origin main')
press('Enter')
await until(/Bash\(git push[\s\S]*denied[\s\S]*❯ ask/)
shoot('denied')
type('/co')
await until(/\/compact/)
shoot('menu')
press('C-c', 'C-c')
tmux('kill-server')
rmSync(home, { recursive: true, force: true })

/** Cells with their colours as text of an SVG; the fonts of the reader do the rest. */
function svg(screen: readonly string[]): string {
  const [wide, high] = [8.4, 18]
  const style = { fill: '', weight: '', ground: '' }
  const lines = screen.map((line, row) => {
    const { grounds, text, cells } = spans(line, style)
    const behind = grounds.map(
      ({ from, cells, fill }) =>
        `<rect x="${(14 + from * wide).toFixed(1)}" y="${14 + row * high}" width="${(cells * wide).toFixed(1)}" height="${high}" fill="${fill}"/>`,
    )
    return `${behind.join('')}<text x="14" y="${28 + row * high}" xml:space="preserve" textLength="${(cells * wide).toFixed(1)}">${text}</text>`
  })
  const size = { width: Math.ceil(columns * wide + 28), height: screen.length * high + 28 }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}" viewBox="0 0 ${size.width} ${size.height}">
<rect width="100%" height="100%" rx="8" fill="#1b1d23"/>
<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="#d7dae0">
${lines.join('\n')}
</g>
</svg>
`
}

interface Ground {
  readonly from: number
  readonly cells: number
  readonly fill: string
}

/** `style` goes on from line to line: tmux writes only what changes. */
function spans(
  line: string,
  style: { fill: string; weight: string; ground: string },
): { text: string; grounds: Ground[]; cells: number } {
  let { fill, weight, ground } = style
  let out = ''
  let at = 0
  const grounds: Ground[] = []
  for (const [, code, text] of line.matchAll(/\x1b\[([0-9;]*)m|([^\x1b]+)/g)) {
    if (text !== undefined) {
      const cells = [...text].length
      if (ground) grounds.push({ from: at, cells, fill: ground })
      at += cells
      const attributes = `${fill && ` fill="${fill}"`}${weight && ' font-weight="bold"'}`
      out += attributes ? `<tspan${attributes}>${escaped(text)}</tspan>` : escaped(text)
      continue
    }
    const parts = (code || '0').split(';')
    if (parts[0] === '0' || parts[0] === '39') fill = ''
    if (parts[0] === '0' || parts[0] === '49') ground = ''
    if (parts[0] === '0' || parts[0] === '22') weight = ''
    if (parts.includes('1') && parts[0] !== '38' && parts[0] !== '48') weight = 'bold'
    const behind = parts.indexOf('48')
    if (behind >= 0 && parts[behind + 1] === '5') ground = colour(Number(parts[behind + 2]))
    const index = parts.indexOf('38')
    if (index >= 0 && parts[index + 1] === '5') fill = colour(Number(parts[index + 2]))
  }
  Object.assign(style, { fill, weight, ground })
  // blanks at the end of a line say nothing, unless they stand on a background
  const blanks = ground ? 0 : out.length - out.trimEnd().length
  return { text: out.slice(0, out.length - blanks), grounds, cells: at - blanks }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

/** The 256 colours of xterm. */
function colour(index: number): string {
  const hex = (value: number) => value.toString(16).padStart(2, '0')
  if (index >= 232) return `#${hex(8 + (index - 232) * 10).repeat(3)}`
  const level = (value: number) => (value === 0 ? 0 : 55 + value * 40)
  const at = index - 16
  return `#${hex(level(Math.floor(at / 36)))}${hex(level(Math.floor(at / 6) % 6))}${hex(level(at % 6))}`
}

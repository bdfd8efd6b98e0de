/** A terminal's screen, as tmux captures it with its colours, as a PNG. */
import { type Browser, chromium } from 'playwright-core'
import { chromiumPath } from '../../test/support/chromium.ts'

export const openCamera = (): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox', '--disable-gpu'] })

export interface Look {
  readonly columns: number
  readonly light?: boolean
}

export async function png(
  camera: Browser,
  screen: string,
  path: string,
  { columns, light = false }: Look,
): Promise<void> {
  const page = await camera.newPage({ viewport: { width: 400, height: 300 } })
  const [ground, ink] = light ? ['#ffffff', '#24292f'] : ['#1b1d23', '#d7dae0']
  await page.setContent(
    `<body style="margin:0;background:${ground}"><pre style="margin:0;padding:10px;width:${columns}ch;display:inline-block;font:14px/18px 'DejaVu Sans Mono',monospace;color:${ink};background:${ground}">${html(screen)}</pre>`,
  )
  await page.locator('pre').screenshot({ path })
  await page.close()
}

interface Style {
  ink?: string | undefined
  ground?: string | undefined
  bold?: boolean
  dim?: boolean
  italic?: boolean
  under?: boolean
  struck?: boolean
  inverse?: boolean
}

/** Styles go on from line to line: tmux writes only what changes. */
export function html(screen: string): string {
  const style: Style = {}
  let out = ''
  for (const [, code, text] of screen.matchAll(/\x1b\[([0-9;:]*)m|((?:(?!\x1b\[[0-9;:]*m).)+)/gs))
    if (text !== undefined) out += `<span style="${css(style)}">${escaped(withoutOsc(text))}</span>`
    else apply(style, (code || '0').split(/[;:]/).map(Number))
  return out
}

const withoutOsc = (text: string): string =>
  text.replaceAll(/\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g, '').replaceAll('\x0f', '')
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

function css({ ink, ground, bold, dim, italic, under, struck, inverse }: Style): string {
  const [front, back] = inverse ? [ground ?? '#1b1d23', ink ?? '#d7dae0'] : [ink, ground]
  const lines = [under && 'underline', struck && 'line-through'].filter(Boolean).join(' ')
  return [
    front && `color:${front}`,
    back && `background:${back};padding:1px 0`,
    bold && 'font-weight:bold',
    dim && 'opacity:.6',
    italic && 'font-style:italic',
    lines && `text-decoration:${lines}`,
  ]
    .filter(Boolean)
    .join(';')
}

function apply(style: Style, codes: readonly number[]): void {
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at]!
    if (code === 0) for (const key of Object.keys(style) as (keyof Style)[]) delete style[key]
    else if (code === 38 || code === 48) {
      const deep = codes[at + 1] === 2
      const value = deep ? `rgb(${codes.slice(at + 2, at + 5).join(',')})` : colour(codes[at + 2] ?? 0)
      if (code === 38) style.ink = value
      else style.ground = value
      at += deep ? 4 : 2
    } else Object.assign(style, simple(code))
  }
}

function simple(code: number): Style {
  const known: Record<number, Style> = {
    1: { bold: true },
    2: { dim: true },
    3: { italic: true },
    4: { under: true },
    7: { inverse: true },
    9: { struck: true },
    22: { bold: false, dim: false },
    23: { italic: false },
    24: { under: false },
    27: { inverse: false },
    29: { struck: false },
    39: { ink: undefined },
    49: { ground: undefined },
  }
  if (code >= 30 && code <= 37) return { ink: colour(code - 30) }
  if (code >= 90 && code <= 97) return { ink: colour(code - 82) }
  if (code >= 40 && code <= 47) return { ground: colour(code - 40) }
  return known[code] ?? {}
}

const sixteen = [
  ...['#3b4048', '#e06c75', '#98c379', '#d19a66', '#61afef', '#c678dd', '#56b6c2', '#abb2bf'],
  ...['#5c6370', '#ff7b86', '#b5e890', '#e5c07b', '#7cc4ff', '#d88ff0', '#6fd3df', '#ffffff'],
]

/** The 256 colours of xterm. */
function colour(index: number): string {
  if (index < 16) return sixteen[index]!
  const hex = (value: number) => value.toString(16).padStart(2, '0')
  if (index >= 232) return `#${hex(8 + (index - 232) * 10).repeat(3)}`
  const level = (value: number) => (value === 0 ? 0 : 55 + value * 40)
  const at = index - 16
  return `#${hex(level(Math.floor(at / 36)))}${hex(level(Math.floor(at / 6) % 6))}${hex(level(at % 6))}`
}

/**
 * The pictures of docs/terminal.md: each scene as Claude Code shows it and as ona does, side by side, from what
 * scripts/scenes.ts captured.
 *   node scripts/scenes/pairs.ts CAPTURED OUT
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { palettePng } from './palette-png.ts'
import { html, openCamera } from './png.ts'

interface Pair {
  readonly scene: string
  readonly columns: number
  readonly light?: boolean
  /** Lines from the end of the screen: what went before belongs to other scenes. */
  readonly lines: number
  /** Claude Code has no such scene against a scripted model. */
  readonly isAlone?: boolean
}

const pairs: readonly Pair[] = [
  { scene: 'prompt', columns: 80, lines: 12 },
  { scene: 'answer', columns: 80, lines: 40 },
  { scene: 'edit', columns: 80, light: true, lines: 25 },
  { scene: 'permission-edit', columns: 60, lines: 32 },
  { scene: 'permission', columns: 80, light: true, lines: 20 },
  { scene: 'output', columns: 80, lines: 16 },
  { scene: 'todo', columns: 80, lines: 18, isAlone: true },
  { scene: 'agents', columns: 80, lines: 16 },
  { scene: 'plan', columns: 80, lines: 40 },
  { scene: 'error', columns: 80, lines: 30 },
  { scene: 'status', columns: 80, light: true, lines: 24 },
  { scene: 'resume', columns: 80, lines: 18 },
]

const [captured = 'scenes', out = 'docs/images/terminal'] = process.argv.slice(2)
mkdirSync(out, { recursive: true })
const camera = await openCamera()
const page = await camera.newPage({ viewport: { width: 400, height: 300 } })
for (const pair of pairs) {
  await page.setContent(sheet(pair))
  const path = join(out, `${pair.scene}.png`)
  writeFileSync(path, palettePng(await pixels(page)))
}
await camera.close()

function sheet({ scene, columns, light = false, lines, isAlone }: Pair): string {
  const [ground, ink] = light ? ['#ffffff', '#24292f'] : ['#1b1d23', '#d7dae0']
  const pane = (agent: string, title: string) => {
    const screen = readFileSync(join(captured, light ? 'light' : 'dark', `${scene}-${columns}-${agent}.ansi`), 'utf8')
    const shown = lastLines(html(screen.trimEnd()), lines)
    return `<td style="vertical-align:bottom"><div style="font:12px sans-serif;color:#57606a;padding:2px 4px">${title}</div>
      <pre style="margin:0;padding:8px;width:${columns}ch;font:12px/15px 'DejaVu Sans Mono',monospace;color:${ink};background:${ground}">${shown}</pre></td>`
  }
  return `<body style="margin:0"><table cellspacing="4" style="background:#d0d7de">${isAlone ? '' : pane('claude', 'Claude Code')}${pane('ona', 'ona')}</table>`
}

/** A screen's empty middle is left out. Styles are one element a run, and a run may hold several lines: each line is closed and opened again. */
function lastLines(markup: string, count: number): string {
  const lines = markup
    .replaceAll(/<span style="([^"]*)">([^<]*)<\/span>/g, (_, style: string, text: string) =>
      text
        .split('\n')
        .map((part) => `<span style="${style}">${part}</span>`)
        .join('\n'),
    )
    .split('\n')
  const isBlank = (line: string | undefined) => line?.replaceAll(/<[^>]*>/g, '').trim() === ''
  const squeezed = lines.filter((line, at) => !(isBlank(line) && isBlank(lines[at - 1]) && isBlank(lines[at - 2])))
  return squeezed.slice(-count).join('\n')
}

async function pixels(page: Page): Promise<{ width: number; height: number; rgba: Buffer }> {
  const shot = await page.locator('table').screenshot()
  const drawn = await page.evaluate(
    async (source) => {
      const image = new Image()
      image.src = source
      await image.decode()
      const canvas = new OffscreenCanvas(image.width, image.height)
      const context = canvas.getContext('2d')!
      context.drawImage(image, 0, 0)
      const { data } = context.getImageData(0, 0, image.width, image.height)
      let text = ''
      for (let at = 0; at < data.length; at += 32_768) text += String.fromCharCode(...data.subarray(at, at + 32_768))
      return { width: image.width, height: image.height, bytes: btoa(text) }
    },
    `data:image/png;base64,${shot.toString('base64')}`,
  )
  return { width: drawn.width, height: drawn.height, rgba: Buffer.from(drawn.bytes, 'base64') }
}

/**
 * The terminal beside Claude Code's: the same scenes of both as PNG, against one scripted model on loopback.
 *   node scripts/scenes.ts OUT [ona,claude] [60,80,120] [scene,scene…]
 * Claude Code is the one that `npm run test:prove claudecode` installs. Writes OUT/<scene>-<columns>-<agent>.png.
 * SCENES_LIGHT=1: on a light background.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { agentsCache } from '../src/brains/prove/programs.ts'
import { startModel } from './scenes/model.ts'
import { openCamera, png } from './scenes/png.ts'
import { files, type Scene, scenes, script, settings } from './scenes/scenes.ts'

const [out = 'scenes', agents = 'ona,claude', widths = '60,80,120', only = ''] = process.argv.slice(2)
const light = process.env['SCENES_LIGHT'] === '1'
const rows = 42
const socket = `ona-scenes-${process.pid}`
const key = 'sk-ant-scenes-0123456789abcdef'
const tmux = (...words: string[]) =>
  spawnSync('tmux', ['-L', socket, '-f', '/dev/null', ...words], { encoding: 'utf8' }).stdout

const programs: Record<string, readonly string[]> = {
  ona: [process.execPath, join(import.meta.dirname, '../bin/ona.mjs')],
  claude: [join(agentsCache(), 'claudecode/node_modules/.bin/claude'), '--permission-mode', 'default'],
}

mkdirSync(out, { recursive: true })
const camera = await openCamera()
try {
  for (const agent of agents.split(','))
    for (const columns of widths.split(',').map(Number)) await visit(agent, columns, camera)
} finally {
  tmux('kill-server')
  await camera.close()
}

async function visit(agent: string, columns: number, camera: Browser): Promise<void> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'scenes-')))
  const project = join(home, 'shop')
  const model = await startModel(script, project)
  for (const [name, text] of Object.entries(files)) put(join(project, name), text)
  spawnSync('git', ['init', '-q', '-b', 'main'], { cwd: project })
  put(
    join(home, '.claude.json'),
    JSON.stringify({
      hasCompletedOnboarding: true,
      theme: light ? 'light' : 'dark',
      customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
      projects: { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
    }),
  )
  for (const folder of ['.claude', '.ona']) put(join(home, folder, 'settings.json'), JSON.stringify(settings))
  const env = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: home,
    LANG: 'C.UTF-8',
    TERM: 'screen-256color',
    COLORTERM: 'truecolor',
    ...(light && { COLORFGBG: '0;15' }),
    ANTHROPIC_API_KEY: key,
    ANTHROPIC_BASE_URL: model.url,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
  }
  const set = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const start = ['env', '-i', ...set, ...programs[agent]!].map((word) => `'${word}'`).join(' ')
  const session = `${agent}${columns}`
  tmux('new-session', '-d', '-s', session, '-x', `${columns}`, '-y', `${rows}`, '-c', project, 'bash --norc')
  tmux('set-option', '-g', 'default-terminal', 'tmux-256color')
  // what tmux answers when a program asks for the background (OSC 11)
  tmux('set-option', '-g', 'window-style', light ? 'fg=#24292f,bg=#ffffff' : 'fg=#d7dae0,bg=#1b1d23')
  const capture = (...words: string[]) => tmux('capture-pane', '-p', '-t', session, ...words)
  const until = async (shown: RegExp, seconds = 20) => {
    for (const end = Date.now() + seconds * 1000; Date.now() < end; ) {
      if (shown.test(capture())) return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    console.error(`${agent} ${columns}: never showed ${shown}\n${capture()}`)
  }
  const scene: Scene = {
    agent,
    start: (words = '') => tmux('send-keys', '-t', session, '-l', `clear; ${start} ${words}\r`),
    type: (text) => tmux('send-keys', '-t', session, '-l', text),
    press: (...keys) => tmux('send-keys', '-t', session, ...keys),
    until,
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    clear: () => tmux('clear-history', '-t', session),
    async shoot(name) {
      if (only !== '' && !only.split(',').includes(name)) return
      await new Promise((resolve) => setTimeout(resolve, 400))
      const screen = capture('-e', '-N').trimEnd()
      writeFileSync(join(out, `${name}-${columns}-${agent}.ansi`), screen)
      await png(camera, screen, join(out, `${name}-${columns}-${agent}.png`), { columns, light })
    },
  }
  await scenes(scene)
  tmux('kill-session', '-t', session)
  model.close()
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/**
 * Does what a page says, in an empty home. Two kinds of fences count: `console` blocks, whose lines after `$ ` are typed and
 * whose other lines are what must come out, and blocks that name a file (```json .ona/settings.json), which is written.
 * `…` stands for anything in a line; alone on a line, for any lines. Times, durations and sizes may differ.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'

const root = join(import.meta.dirname, '../..')

interface Block {
  readonly line: number
  readonly info: string
  readonly body: readonly string[]
}

/** Every fenced block of a page, in order. */
export function blocksOf(text: string): Block[] {
  const lines = text.split('\n')
  const found: Block[] = []
  for (let at = 0; at < lines.length; at++) {
    const [, fence, info] = /^(`{3,})(.*)$/.exec(lines[at]!) ?? []
    if (fence === undefined) continue
    const end = lines.indexOf(fence, at + 1)
    found.push({ line: at + 1, info: info!.trim(), body: lines.slice(at + 1, end) })
    at = end
  }
  return found
}

export const isRunnable = ({ info }: Block): boolean => info === 'console'

/** The commands of a block, each with what comes out. */
function commandsOf({ body }: Block): { command: string; output: string[] }[] {
  const commands: { command: string; output: string[] }[] = []
  for (const line of body) {
    if (line.startsWith('$ ')) commands.push({ command: line.slice(2), output: [] })
    else commands.at(-1)?.output.push(line)
  }
  return commands
}

export function followPage(t: TestContext, page: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'ona-page-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [home, bin] = [join(folder, 'home'), join(folder, 'bin')]
  for (const each of [home, bin]) mkdirSync(each)
  writeFileSync(join(bin, 'ona'), `#!/bin/sh\nexec '${process.execPath}' '${root}/bin/ona.mjs' "$@"\n`, { mode: 0o755 })
  const env = {
    ...{ HOME: home, PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`, LANG: 'C.UTF-8', TZ: 'UTC', ONA_KEYCHAIN: 'off' },
    ...{ GIT_CONFIG_NOSYSTEM: '1', GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@example.org' },
  }
  let cwd = folder
  for (const block of blocksOf(readFileSync(join(root, page), 'utf8'))) {
    const [, file] = /^\w+ (\S+)$/.exec(block.info) ?? []
    if (file !== undefined) {
      mkdirSync(dirname(join(cwd, file)), { recursive: true })
      writeFileSync(join(cwd, file), `${block.body.join('\n')}\n`)
    }
    if (!isRunnable(block)) continue
    for (const { command, output } of commandsOf(block)) {
      // where the shell ends up is where the next command begins
      const script = `${command}\necho "at $PWD" >&3`
      const ran = spawnSync('sh', ['-c', script], {
        cwd,
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
        timeout: 120_000,
      })
      cwd = /^at (.*)$/m.exec(ran.output[3] ?? '')?.[1] ?? cwd
      const printed = `${ran.stdout}${ran.stderr}`.trimEnd()
      const wanted = output.join('\n').trimEnd()
      if (!fits(printed, wanted)) assert.equal(printed, wanted, `${page}:${block.line}: ${command}`)
    }
  }
}

/** Whether what came out is what the page shows. */
export function fits(printed: string, wanted: string): boolean {
  const pattern = plain(wanted)
    .split('\n')
    .map((line) => (line === '…' ? '(?:.*\\n)*?' : `${line.split('…').map(quoted).join('.*')}\\n`))
    .join('')
  return new RegExp(`^${pattern}$`).test(`${plain(printed)}\n`)
}

const quoted = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** Without what differs from machine to machine and from run to run. */
const plain = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?Z?)?/g, 'TIME')
    .replaceAll(/\b\d+(?:\.\d+)? (ms|s|KB|MB)\b/g, 'N $1')
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'ID')
    .replaceAll(/[ \t]+/g, ' ')
    .replaceAll(/ +$/gm, '')

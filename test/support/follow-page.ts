/**
 * Does what a page says, in an empty home. These fences count:
 *
 *   ```console        lines after `$ ` are typed, and what comes out must be the lines below
 *   ```sh             each line is typed and must exit 0; `\` at its end continues it
 *   ```json FILE      the block is written to that file, whatever its language
 *
 * `…` stands for anything in a line; alone on a line, for any lines. Times, durations and sizes may differ.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'

const root = join(import.meta.dirname, '../..')

/** What a page takes for granted, and what of it is not run. */
export interface PageFacts {
  /** A script: what a reader of this page already has. `$CHECKOUT` is the folder of this repository. */
  readonly given?: string
  /** Names on the page that stand for something of the reader's, each with the command that prints it. */
  readonly names?: Readonly<Record<string, string>>
  /** How a command begins that is not run, and why. */
  readonly notRun?: Readonly<Record<string, string>>
  /** Parts of the output whose numbers are the page's own. */
  readonly numbers?: readonly RegExp[]
}

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

export const isRunnable = ({ info }: Block): boolean => info === 'console' || info === 'sh'

interface Command {
  readonly command: string
  /** Undefined: whatever comes out, exit code 0. */
  readonly output?: string[]
}

export function commandsOf({ info, body }: Block): Command[] {
  if (info === 'sh') {
    const lines = body
      .join('\n')
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
    return lines.filter((line) => /^[^#\s]/.test(line)).map((command) => ({ command }))
  }
  const commands: { command: string; output: string[] }[] = []
  for (const line of body) {
    if (line.startsWith('$ ')) commands.push({ command: line.slice(2), output: [] })
    else commands.at(-1)?.output.push(line)
  }
  return commands
}

const fileNamed = ({ info }: Block): string | undefined => /^\w+ (\S+)$/.exec(info)?.[1]

export async function followPage(t: TestContext, page: string, facts: PageFacts = {}): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ona-page-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const shell = openShell(folder)
  const { given = '', names = {}, notRun = {}, numbers = [] } = facts
  const prepared = await shell(`set -e\n${given}`)
  assert.equal(prepared.status, 0, `${page}: what is given fails: ${prepared.printed}`)
  const notMet = new Set(Object.keys(notRun))
  for (const block of blocksOf(readFileSync(join(root, page), 'utf8'))) {
    const file = fileNamed(block)
    if (file !== undefined) {
      const path = join(shell.cwd(), file)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, `${block.body.join('\n')}\n`)
    }
    if (!isRunnable(block)) continue
    for (const { command, output } of commandsOf(block)) {
      const begins = Object.keys(notRun).find((each) => command.startsWith(each))
      if (begins !== undefined) {
        notMet.delete(begins)
        continue
      }
      let typed = command
      for (const [name, print] of Object.entries(names))
        if (typed.includes(name)) {
          const { printed } = await shell(print)
          typed = typed.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), () => printed)
        }
      const { status, printed } = await shell(typed)
      const where = `${page}:${block.line}: ${typed}`
      if (output === undefined) assert.equal(status, 0, `${where}\n${printed}`)
      else if (!fits(printed, output.join('\n').trimEnd(), numbers))
        assert.equal(printed, output.join('\n').trimEnd(), where)
    }
  }
  assert.deepEqual([...notMet], [], `${page} has no command that begins so`)
}

/** Types commands one after another; where one ends up is where the next begins, with what it exported. */
function openShell(folder: string) {
  const [home, bin, work, state] = ['home', 'bin', 'work', 'state'].map((name) => join(folder, name)) as [
    string,
    ...string[],
  ]
  for (const each of [home, bin!, work!]) mkdirSync(each)
  writeFileSync(join(bin!, 'ona'), `#!/bin/sh\nexec '${process.execPath}' '${root}/bin/ona.mjs' "$@"\n`, {
    mode: 0o755,
  })
  symlinkSync(process.execPath, join(bin!, 'node'))
  writeFileSync(state!, `cd '${work}'\n`)
  const env = {
    ...{ HOME: home, PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`, LANG: 'C.UTF-8', TZ: 'UTC', ONA_KEYCHAIN: 'off' },
    ...{ GIT_CONFIG_NOSYSTEM: '1', GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@example.org', CHECKOUT: root },
    ...{ GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@example.org' },
  }
  const type = (command: string) =>
    new Promise<{ status: number; printed: string }>((resolve) => {
      const script = `. '${state}'\n${command}\nstatus=$?\n{ export -p; echo "cd '$PWD'"; } > '${state}'; exit $status`
      const options = { env, cwd: folder, encoding: 'utf8', timeout: 600_000, maxBuffer: 1e8 } as const
      const child = execFile('bash', ['-c', script], options, (_, stdout, stderr) =>
        resolve({ status: child.exitCode ?? 1, printed: `${stdout}${stderr}`.trimEnd() }),
      )
      child.stdin?.end()
    })
  return Object.assign(type, { cwd: () => /^cd '(.*)'$/m.exec(readFileSync(state!, 'utf8'))![1]! })
}

/** Whether what came out is what the page shows. */
export function fits(printed: string, wanted: string, numbers: readonly RegExp[] = []): boolean {
  const pattern = plain(wanted, numbers)
    .split('\n')
    .map((line) => (line === '…' ? '(?:.*\\n)*?' : `${line.split('…').map(quoted).join('.*')}\\n`))
    .join('')
  return new RegExp(`^${pattern}$`).test(`${plain(printed, numbers)}\n`)
}

const quoted = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** Without what differs from machine to machine and from run to run. */
const plain = (text: string, numbers: readonly RegExp[]): string =>
  numbers
    .reduce((so, part) => so.replaceAll(part, (found) => found.replaceAll(/\d[\d,.]*/g, 'N')), text)
    .replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?Z?)?/g, 'TIME')
    .replaceAll(/\b\d+(?:\.\d+)? (ms|s)\b/g, 'N $1')
    .replaceAll(/\b(?:\d+(?:\.\d+)?|N) (?:KB|MB|GB)\b/g, 'N MB')
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'ID')
    .replaceAll(/\b[0-9a-f]{12,64}\b/g, 'DIGEST')
    .replaceAll(/[ \t]+/g, ' ')
    .replaceAll(/ +$/gm, '')

/** What the commands about credentials share: the settings that count here, and the one who is asked. */

import { settingsHere } from '../agent/session/folder-settings.ts'
import { oauthSettings } from '../auth/oauth.ts'
import type { AuthContext } from '../auth/sources.ts'
import type { Settings } from '../store/settings/settings.ts'

export interface AuthHere extends AuthContext {
  readonly settings: Settings
}

export function authHere({ bare = false, settings: given }: { bare?: boolean; settings?: string } = {}): AuthHere {
  const { settings, trusted } = settingsHere({ flags: { bare, ...(given && { settings: given }) } })
  return { settings, env: process.env, bare, trusted }
}

/** Slash commands exist in the terminal only; outside it the command of the same name does. */
export const forShell = (text: string): string => text.replace(/(?<=run )\/(?=login\b)/g, 'ona ')

/** A folder that nobody trusts has no say in this: its settings could send the code to somebody else. */
export const oauthHere = ({ settings, env }: AuthHere) => oauthSettings(settings['oauth'], env)

/** Opens the address in a browser where the system has a way to; otherwise the user does it. */
export async function openBrowser(url: string): Promise<void> {
  const { spawn } = await import('node:child_process')
  const opener = process.platform === 'darwin' ? 'open' : process.platform === 'win32' ? 'explorer' : 'xdg-open'
  const child = spawn(opener, [url], { stdio: 'ignore', detached: true })
  child.on('error', () => {}) // no browser here: the address is on the screen
  child.unref()
}

/** One line from the terminal or a pipe. `hidden`: what is typed is not shown. */
export async function askLine(
  question: string,
  { hidden = false, signal }: { hidden?: boolean; signal?: AbortSignal } = {},
): Promise<string> {
  const { createInterface } = await import('node:readline')
  const { Writable } = await import('node:stream')
  const isTerminal = process.stdin.isTTY === true
  if (isTerminal) process.stderr.write(question)
  const muted = new Writable({ write: (_chunk, _encoding, done) => done() })
  const reader = createInterface({
    input: process.stdin,
    output: hidden ? muted : process.stderr,
    terminal: isTerminal && hidden,
  })
  return new Promise((resolve) => {
    const end = (line: string) => {
      resolve(line)
      reader.close()
      if (isTerminal && hidden) process.stderr.write('\n')
    }
    reader.once('line', end)
    reader.once('close', () => resolve(''))
    reader.once('SIGINT', () => {
      process.stderr.write('\n')
      process.exit(130)
    })
    signal?.addEventListener('abort', () => end(''), { once: true })
  })
}

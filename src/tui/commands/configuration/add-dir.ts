import { realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { saveUpdates } from '../../../agent/permission-updates.ts'
import type { Ui } from '../../session/command-context.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  const { session, front } = ui
  const remember = /(^|\s)--save\b/.test(args)
  const given = args
    .replace(/--save\b/, '')
    .trim()
    .replace(/^"(.*)"$/, '$1')
  if (!given) return front.notice('error', 'which folder? /add-dir PATH [--save]')
  const path = given.startsWith('~/') ? join(session.runtime.home, given.slice(2)) : resolve(session.cwd, given)
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return front.notice('error', `${path} is no folder`)
  const folder = realpathSync(path)
  await saveUpdates(session, [
    { type: 'addDirectories', directories: [folder], destination: remember ? 'localSettings' : 'session' },
  ])
  session.carry([{ type: 'text', text: `The operator added a working directory: ${folder}` }])
  front.notice('info', `Also working in ${folder}${remember ? ', from now on' : ', in this session'}`)
}

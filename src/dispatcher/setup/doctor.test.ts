/** What the doctor says of an installation that it does not run. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { register, registrationFile } from '../registration.ts'
import { examine } from './doctor.ts'

const root = mkdtempSync(join(tmpdir(), 'dispatcher-doctor-'))
after(() => rmSync(root, { recursive: true }))
const put = (file: string, text: string) => {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), text)
}

test('an installation in two hosts’ files is reported to run every event twice; another program’s code is not run', () => {
  const runtime = join(root, 'runtime')
  put('runtime/dispatch.mjs', '// ours')
  const place = { runtime, trusted: false }
  assert.deepEqual(examine(root, place), {
    problems: ['the dispatcher is not installed here; run: ona dispatcher install'],
    notes: [],
    fired: [],
  })
  put('.ai/hooks/dispatch.mjs', '// another one’s')
  const heard = () => {
    const { problems, notes, fired } = examine(root, place)
    const registered = [...problems, ...notes].filter((text) => text.includes('registered'))
    return { registered, differs: problems.filter((text) => text.includes('dispatch.mjs differs')).length, fired }
  }
  const { vscode, claude } = registrationFile
  const none = `not registered for all events in ${vscode} or ${claude}; run: ona dispatcher install`
  assert.deepEqual(heard(), { registered: [none], differs: 1, fired: [] })
  put(vscode, JSON.stringify(register('vscode', undefined)))
  assert.deepEqual(heard().registered, [`registered in ${vscode}`])
  put(claude, JSON.stringify(register('claude', undefined)))
  assert.deepEqual(heard().registered, [
    `registered in ${vscode} and ${claude}: VS Code and Copilot CLI read both and will run every event twice`,
    `registered in ${vscode}`,
    `registered in ${claude}`,
  ])
})

/** What the doctor says of an installation that it does not run. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { register, registrationFile } from '../registration.ts'
import { eventNames, type Json } from '../types.ts'
import { examine, fire } from './doctor.ts'
import { strayFolder } from './install.ts'

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
  const registered = register('vscode', undefined)
  const { Stop: _, ...others } = registered['hooks'] as Json
  put(vscode, JSON.stringify({ ...registered, hooks: others }))
  assert.deepEqual(heard().registered, [none], 'all events but one')
  put(vscode, JSON.stringify(registered))
  assert.deepEqual(heard().registered, [`registered in ${vscode}`])
  put(claude, JSON.stringify(register('claude', undefined)))
  assert.deepEqual(heard().registered, [
    `registered in ${vscode} and ${claude}: VS Code and Copilot CLI read both and will run every event twice`,
    `registered in ${vscode}`,
    `registered in ${claude}`,
  ])
})

test('each folder and file that is written to must be the repository’s own', () => {
  const paths = ['.ai/hooks', '.ai/tmp', ...Object.values(registrationFile)]
  const strays = paths.map((path) => {
    const repo = mkdtempSync(join(root, 'stray-'))
    mkdirSync(dirname(join(repo, path)), { recursive: true })
    symlinkSync(tmpdir(), join(repo, path))
    return strayFolder(repo)
  })
  const why = 'is, or lies behind, a link that leads out of the repository; nothing was changed'
  assert.deepEqual(
    strays,
    paths.map((path) => `${path} ${why}`),
  )
  assert.equal(strayFolder(mkdtempSync(join(root, 'plain-'))), undefined)
})

test('a failed module and an output of another shape are problems of the event, each for itself and together', () => {
  const repo = mkdtempSync(join(root, 'answers-'))
  mkdirSync(join(repo, '.ai/hooks'), { recursive: true })
  const problem = (output: object) => {
    writeFileSync(join(repo, '.ai/hooks/dispatch.mjs'), `console.log(${JSON.stringify(JSON.stringify(output))})`)
    return fire(repo, 'PreToolUse', process.execPath).problem
  }
  const whole = { decision: 'allow' }
  assert.equal(problem(whole), undefined)
  assert.equal(problem({ ...whole, warnings: ['module a failed', 'else'] }), 'module a failed')
  const wrong = problem({ decision: 7 })!
  assert.match(wrong, /^decision/)
  assert.equal(problem({ decision: 7, warnings: ['module a failed'] }), `${wrong}; module a failed`)
})

test('a Node that is too old, or none at all, is named, and no event is sent; what an event ends with is a problem', () => {
  const repo = mkdtempSync(join(root, 'old-'))
  mkdirSync(join(repo, '.ai/hooks'), { recursive: true })
  writeFileSync(join(repo, '.ai/hooks/dispatch.mjs'), '')
  const said = (node: string) => {
    const { problems, fired } = examine(repo, { runtime: join(root, 'none'), trusted: true, node })
    return [problems.at(-1), fired]
  }
  const old = join(repo, 'node')
  writeFileSync(old, '#!/bin/sh\necho v19.9.0\n', { mode: 0o755 })
  const failing = join(repo, 'failing')
  writeFileSync(failing, '#!/bin/sh\n[ "$1" = --version ] && echo v20.0.0 && exit\nexit 3\n', { mode: 0o755 })
  const { problems, notes, fired } = examine(repo, { runtime: join(root, 'none'), trusted: true, node: failing })
  assert.deepEqual(
    problems.slice(-eventNames.length),
    eventNames.map((event) => `${event}: exit 3`),
  )
  assert.deepEqual(
    fired.map(({ ms: _, ...rest }) => rest),
    eventNames.map((event) => ({ event, decision: '', modules: [], problem: 'exit 3' })),
  )
  assert.deepEqual(notes, [
    ...[
      'events run on Node v20.0.0',
      'the code cache could not be written; events will take a few milliseconds longer',
    ],
  ])
  assert.deepEqual(
    [said(old), said(join(repo, 'none'))],
    [
      [`the hosts run "${old}", which is v19.9.0; Node 20 or later is needed`, []],
      [`the hosts run "${join(repo, 'none')}", which is not on the path`, []],
    ],
  )
})

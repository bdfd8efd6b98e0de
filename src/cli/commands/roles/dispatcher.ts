/** `ona dispatcher`: the policy modules in one short process, for VS Code and the hosts that speak its protocol. */

import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { repositoryOf } from '../../../brains/targets.ts'
import { minimalSet, shipped } from '../../../dispatcher/manifest.ts'
import { type Host, hosts } from '../../../dispatcher/registration.ts'
import { examine } from '../../../dispatcher/setup/doctor.ts'
import { type Change, type Installed, install, runtimeRoot, uninstall } from '../../../dispatcher/setup/install.ts'
import { makeModule } from '../../../dispatcher/setup/new-module.ts'
import { counted } from '../../../hooks/text/counted.ts'
import { requireOperator } from '../../../store/operator.ts'
import { isTrusted, trust } from '../../../store/settings/trust.ts'
import { command, family } from '../../command.ts'
import { failed, said, saidJson, wrong } from '../../print.ts'
import type { Verb } from '../../verbs.ts'

const help = `ona dispatcher: eight policy modules in one short Node process, asked at every agent event.

  ona dispatcher install      write .ai/hooks/ and register it (VS Code and Copilot CLI: .github/hooks/hooks.json)
  ona dispatcher doctor       check the installation, fire a sample of each event, print decisions and times
  ona dispatcher upgrade      bring our files up to date; configuration and own modules stay
  ona dispatcher uninstall    remove our files and registration; configuration, own modules and logs stay
  ona dispatcher new-module NAME   write .ai/hooks/features/NAME/ with a module and its test, and enable it

  --cwd DIR         the repository (default: the one that this folder lies in)
  --host HOST       vscode or claude; may be given twice (default: vscode)
  --modules A,B     which modules to enable on a first install, or "all" (default: ${minimalSet.join(',')})
  --trust           trust the repository: modules that did not come with ona may be run
  --json            print what was done as JSON

Example:
  ona dispatcher install --modules all && ona dispatcher doctor
`

interface Options {
  readonly cwd: string
  readonly hosts: readonly Host[]
  readonly modules: readonly string[]
  readonly json: boolean
  readonly trusted: boolean
}

const flags = {
  cwd: 'value',
  host: { kind: 'each', oneOf: hosts },
  modules: 'value',
  trust: 'flag',
  json: 'flag',
} as const

const verb = (word: Verb<'dispatcher'>, act: (options: Options, name: string | undefined) => number) =>
  command(`ona dispatcher ${word}`, { help, flags, words: word === 'new-module' ? 1 : 0 }, (given, [name]) => {
    const modules = given.modules === 'all' ? Object.keys(shipped) : (given.modules?.split(',') ?? minimalSet)
    const cwd = given.cwd === undefined ? repositoryOf(process.cwd()) : resolve(given.cwd)
    const places = { home: process.env['HOME'] || homedir() }
    if (word !== 'doctor') requireOperator(`dispatcher ${word}`, { ...places, folder: cwd })
    if (given.trust) trust(cwd, places)
    const options = {
      trusted: given.trust === true || isTrusted(cwd, places),
      cwd,
      hosts: given.host ?? ['vscode' as const],
      modules: modules.filter((module) => module !== ''),
      json: given.json === true,
    }
    return act(options, name)
  })

const installed = (done: string) => (options: Options) =>
  report(install(options.cwd, { ...options, runtime: runtimeRoot() }), options, done)

export const run = family<Verb<'dispatcher'>>('ona dispatcher', help, {
  install: verb('install', installed('installed')),
  doctor: verb('doctor', doctor),
  upgrade: verb('upgrade', installed('up to date')),
  uninstall: verb('uninstall', (options) => report(uninstall(options.cwd, runtimeRoot()), options, 'uninstalled')),
  'new-module': verb('new-module', newModule),
})

function report(result: Installed, { json }: Options, done: string): number {
  if (!result.ok) return failed(result.problem)
  if (json) return saidJson({ changes: result.changes, notes: result.notes })
  const count = (did: Change['did']) => result.changes.filter((change) => change.did === did).length
  for (const note of result.notes) said(`note: ${note}`)
  return said(
    `${done}: ${counted(count('wrote'), 'file')} written, ${count('removed')} removed, ${count('kept')} of yours kept`,
  )
}

function doctor({ cwd, json, trusted }: Options): number {
  const { problems, notes, fired } = examine(cwd, { runtime: runtimeRoot(), trusted })
  if (json) saidJson({ problems, notes, fired })
  else {
    for (const { event, ms, decision, modules } of fired)
      said(`${event.padEnd(17)} ${decision.padEnd(6)} ${ms.toFixed(0).padStart(5)} ms  ${modules.join(' ')}`)
    for (const note of notes) said(`note: ${note}`)
    for (const problem of problems) said(`problem: ${problem}`)
    if (problems.length === 0) said('all is well')
  }
  return problems.length === 0 ? 0 : 1
}

function newModule({ cwd, json }: Options, name: string | undefined): number {
  if (name === undefined) return wrong('ona dispatcher new-module', 'it needs a name')
  const made = makeModule(cwd, name)
  if (!made.ok) return failed(made.problem)
  if (json) return saidJson({ files: made.files })
  for (const file of made.files) said(`wrote ${file}`)
  return said(`try it: node --test .ai/hooks/features/${name}/`)
}

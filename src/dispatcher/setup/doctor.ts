/** Looks an installation over: its files, its configuration, its registration, and what it says to one event of each kind. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readManifest } from '../manifest.ts'
import { hosts, registeredEvents, registrationFile } from '../registration.ts'
import { readJson } from '../session/files.ts'
import { type EventName, eventNames } from '../types.ts'
import { checkSchema } from './check-schema.ts'
import {
  configProblems,
  doubleRegistration,
  foreignCode,
  notRun,
  removeSampleSession,
  shippedFiles,
  warmUp,
} from './install.ts'
import { sample } from './samples.ts'
import { schemas } from './schemas.ts'

export interface Fired {
  readonly event: EventName
  readonly ms: number
  readonly decision: string
  readonly modules: readonly string[]
  readonly problem?: string
}

export interface Diagnosis {
  readonly problems: readonly string[]
  readonly notes: readonly string[]
  readonly fired: readonly Fired[]
}

export interface Examination {
  /** The built tree that ona brought. */
  readonly runtime: string
  /** Whether code that did not come with ona may be run. */
  readonly trusted: boolean
  readonly node?: string
}

export function examine(repoRoot: string, { runtime, trusted, node = 'node' }: Examination): Diagnosis {
  if (!existsSync(join(repoRoot, '.ai/hooks/dispatch.mjs')))
    return { problems: ['the dispatcher is not installed here; run: ona dispatcher install'], notes: [], fired: [] }
  const notes: string[] = []
  const problems = installationProblems(repoRoot, runtime, notes)
  const registered = hosts.filter(
    (host) => registeredEvents(readJson(join(repoRoot, registrationFile[host])).value).length === eventNames.length,
  )
  for (const host of registered) notes.push(`registered in ${registrationFile[host]}`)
  if (registered.length === 0)
    problems.push(
      `not registered for all events in ${hosts.map((host) => registrationFile[host]).join(' or ')}; run: ona dispatcher install`,
    )
  problems.push(...doubleRegistration(repoRoot))

  const foreign = trusted ? [] : foreignCode(repoRoot, runtime)
  if (foreign.length > 0) return { problems: [...problems, notRun(foreign)], notes, fired: [] }

  const version = spawnSync(node, ['--version'], { encoding: 'utf8' })
  const major = Number(/^v(\d+)/.exec(version.stdout ?? '')?.[1] ?? 0)
  if (major < 20)
    return {
      problems: [
        ...problems,
        `the hosts run "${node}", which is ${major === 0 ? 'not on the path' : `${version.stdout.trim()}; Node 20 or later is needed`}`,
      ],
      notes,
      fired: [],
    }
  notes.push(`events run on Node ${version.stdout.trim()}`)
  const cold = warmUp(repoRoot, node)
  if (cold !== undefined) notes.push(cold)
  const fired = eventNames.map((event) => fire(repoRoot, event, node))
  removeSampleSession(repoRoot)
  return {
    problems: [...problems, ...fired.flatMap(({ event, problem }) => (problem ? [`${event}: ${problem}`] : []))],
    notes,
    fired,
  }
}

/** What can be seen without running it. */
export const installationProblems = (repoRoot: string, runtime: string, notes: string[] = []): string[] => [
  ...fileProblems(repoRoot, runtime, notes),
  ...configProblems(repoRoot),
  ...moduleProblems(repoRoot),
]

function fileProblems(repoRoot: string, runtime: string, notes: string[]): string[] {
  const problems: string[] = []
  for (const file of shippedFiles(runtime)) {
    const there = join(repoRoot, '.ai/hooks', file)
    if (!existsSync(there)) problems.push(`.ai/hooks/${file} is missing; run: ona dispatcher upgrade`)
    else if (!statSync(there).isFile() || !readFileSync(there).equals(readFileSync(join(runtime, file))))
      if (file.startsWith('features/')) notes.push(`.ai/hooks/${file} is not the shipped module`)
      else problems.push(`.ai/hooks/${file} differs from this version; run: ona dispatcher upgrade`)
  }
  const folder = join(repoRoot, '.ai/hooks/features')
  for (const name of existsSync(folder) ? readdirSync(folder) : [])
    if (!existsSync(join(folder, name, 'hook.mjs'))) problems.push(`.ai/hooks/features/${name} has no hook.mjs`)
  return problems
}

function moduleProblems(repoRoot: string): string[] {
  const { value, problem } = readJson(join(repoRoot, '.ai/hooks/dispatch.manifest.json'))
  const { manifest } = readManifest(value, problem)
  const missing = manifest.modules.filter(({ path }) => !existsSync(join(repoRoot, '.ai/hooks', path)))
  const guards = ['session', 'graph-pretooluse'].filter(
    (name) => !manifest.modules.some((entry) => entry.name === name),
  )
  return [
    ...missing.map(({ name, path }) => `module ${name}: .ai/hooks/${path} is missing`),
    ...guards.map((name) => `the critical module ${name} is not enabled in dispatch.manifest.json`),
  ]
}

export function fire(repoRoot: string, event: EventName, node = 'node'): Fired {
  const start = process.hrtime.bigint()
  const run = spawnSync(node, [join(repoRoot, '.ai/hooks/dispatch.mjs'), event], {
    cwd: repoRoot,
    input: sample(event, repoRoot),
    encoding: 'utf8',
    timeout: 20_000,
  })
  const ms = Number(process.hrtime.bigint() - start) / 1e6
  const nothing = { event, ms, decision: '', modules: [] }
  if (run.status !== 0) return { ...nothing, problem: `exit ${run.status ?? run.signal}` }
  if (run.stderr !== '') return { ...nothing, problem: `wrote to stderr: ${run.stderr.slice(0, 200)}` }
  try {
    const output = JSON.parse(run.stdout)
    const wrong = checkSchema(schemas['hook-output']!, output)
    const failures = (output.warnings ?? []).filter((text: string) => text.startsWith('module '))
    return {
      event,
      ms,
      decision: output.decision ?? '',
      modules: output._debug?.modulesRan ?? [],
      ...(wrong.length + failures.length > 0 && { problem: [...wrong, ...failures].join('; ') }),
    }
  } catch (cause) {
    return { ...nothing, problem: `stdout is not one JSON object: ${(cause as Error).message}` }
  }
}

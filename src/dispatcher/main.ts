/** `node .ai/hooks/dispatch.mjs <Event> [dialect]`: stdin in, one JSON object out, exit 0, whatever happens between. */
import { join } from 'node:path'
import { errorOf } from '../hooks/kernel.ts'
import { askModules } from './ask-modules.ts'
import { type Dialect, parseInput, recogniseDialect } from './host/host-input.ts'
import { bareOutput, buildOutput } from './host/output.ts'
import { readStdin } from './host/stdin.ts'
import { answer, leave, takeStreams, trace, turnStderrIntoTrace } from './host/stdio-guard.ts'
import { clock } from './lazy-builtins.ts'
import { type Bundled, type Importer, loadModules } from './load-modules.ts'
import { readManifest } from './manifest.ts'
import { emit, patchState, type Run, startRun } from './run.ts'
import { collect } from './session/collect-garbage.ts'
import { commit } from './session/commit.ts'
import { readJson } from './session/files.ts'
import { isObject, readWorkspace, type Workspace } from './session/paths.ts'
import { openSession } from './session/session.ts'
import { hostIdLimit } from './session/session-id.ts'
import { type EventName, eventNames, type Json } from './types.ts'

/** What the last resort needs to know when a module or a bug ends things early. */
let eventName = ''
let dialect: Dialect = 'vscode'
let run: Run | undefined
let answered = false

export async function main(hooksRoot: string, bundled: Bundled, importer: Importer): Promise<void> {
  eventName = process.argv[2] ?? ''
  const { workspace, problems: workspaceProblems, unreadable } = readWorkspaceFile(hooksRoot)
  turnStderrIntoTrace(join(hooksRoot, '..', '..', workspace.workRoot, 'dispatch.log'))
  takeStreams()
  process.on('exit', () => {
    if (!answered) lastResort(new Error('the process was ended by a module'))
    process.exitCode = 0
  })
  process.on('uncaughtException', stray)
  process.on('unhandledRejection', stray)
  try {
    if (!eventNames.includes(eventName as EventName))
      finish({
        decision: 'allow',
        ...bareOutput(
          eventName,
          'allow',
          `unknown event "${eventName.slice(0, 40)}"; known are ${eventNames.join(', ')}`,
        ),
      })
    else
      await dispatch(eventName as EventName, { hooksRoot, workspace, bundled, importer }, [
        ...workspaceProblems,
        ...unreadable,
      ])
  } catch (cause) {
    lastResort(cause)
  }
  leave()
}

interface Place {
  readonly hooksRoot: string
  readonly workspace: Workspace
  readonly bundled: Bundled
  readonly importer: Importer
}

async function dispatch(name: EventName, place: Place, workspaceProblems: string[]): Promise<void> {
  const { hooksRoot, workspace } = place
  const stdin = await readStdin()
  const input = parseInput(stdin, name)
  const manifestFile = readJson(join(hooksRoot, workspace.names.manifestFile))
  const { manifest, problems } = readManifest(manifestFile.value, manifestFile.problem)
  dialect = recogniseDialect(process.argv[3] ?? manifest.dialect, input.raw)
  const config = readConfig(hooksRoot, workspace.names.configFile)

  const session = openSession(name, input.raw, hooksRoot, workspace, Date.now())
  const seats = await loadModules(
    manifest.modules,
    name,
    hooksRoot,
    manifest.budgets[name],
    place.bundled,
    place.importer,
  )
  run = startRun(session, manifest, config.value)
  run.unseen = input.unseen
  if (session.isNew)
    patchState(run, 'dispatcher', { core: { ...hostId(session.event.hostSessionId), createdTs: Date.now() } })
  for (const [kind, texts] of [
    ['INPUT_INVALID', input.problems],
    [
      'CONFIG_INVALID',
      [
        ...noModules(manifest.modules.length),
        ...workspaceProblems,
        ...problems,
        ...config.problems,
        ...session.problems,
      ],
    ],
  ] as const) {
    for (const text of texts) {
      run.warnings.push(text)
      emit(run, 'dispatcher', { kind, reason: text.slice(0, 1000) })
    }
  }
  await askModules(run, seats)
  if (name === 'SessionStart') collect(session.paths, workspace.names, manifest.gc, Date.now())
  const output = buildOutput(run, dialect)
  commit(run)
  finish(output)
}

/** A dispatcher that asks nobody must not look like one that found nothing. */
const noModules = (count: number): string[] =>
  count > 0 ? [] : ['dispatch.manifest.json enables no module, so nothing is checked']

const hostId = (id: string | undefined): Json => (id === undefined ? {} : { hostSessionId: id.slice(0, hostIdLimit) })

function readWorkspaceFile(hooksRoot: string) {
  const { value, problem } = readJson(join(hooksRoot, 'workspace.json'))
  const unreadable = problem === undefined ? [] : [`workspace.json: ${problem}; the usual places are used`]
  return { ...readWorkspace(value), unreadable }
}

/** config.json: one object per module. */
function readConfig(hooksRoot: string, name: string): { value: Json; problems: string[] } {
  const problems: string[] = []
  const read = (file: string): Json => {
    const { value, problem } = readJson(join(hooksRoot, file))
    if (problem !== undefined) problems.push(`${file}: ${problem}; defaults are used`)
    else if (value !== undefined && !isObject(value)) problems.push(`${file} is not an object; defaults are used`)
    return isObject(value) ? value : {}
  }
  const value: Json = { ...read(name) }
  for (const [key, part] of Object.entries(value)) {
    if (isObject(part)) continue
    if (key !== '$schema' && key !== 'version') problems.push(`${name}: ${key} must be an object`)
    delete value[key]
  }
  return { value, problems }
}

function finish(output: Json): void {
  if (answered) return
  const text = JSON.stringify(output)
  answered = true
  answer(`${text}\n`)
  const by = run
    ? ` ${run.session.ids.sessionId} ${run.decision} by ${run.decidedBy}; ran ${run.ran.join(' ') || 'none'}`
    : ''
  trace(`${eventName}${by}${run ? `; ${Math.round(clock() - run.startMs)} ms` : ''}`)
}

/** A decision already made stands. A guard that was not heard is not taken to agree. Otherwise: allow, and say so. */
function lastResort(cause: unknown): void {
  const error = errorOf(cause)
  const problem = error.message
  trace(`crash: ${error.stack ?? problem}`)
  try {
    if (run && run.awaited.size > 0) {
      const guards = [...run.awaited].join(', ')
      finish(bareOutput(eventName, 'deny', `ended before ${guards} had been asked: ${problem}`, dialect))
    } else if (run && run.decision !== 'allow') finish(buildOutput(run, dialect))
  } catch {} // the run itself is what is broken
  const decided = run && run.decision !== 'allow' ? 'deny' : 'allow'
  finish(bareOutput(eventName, decided, `failed (${problem}); its rules were not applied`, dialect))
}

/** Thrown outside any call of ours: by a module that is being waited for, or by one that was already given up. */
function stray(cause: unknown): void {
  const error = errorOf(cause)
  trace(`stray error: ${error.stack ?? error.message}`)
  run?.crash?.(error)
}

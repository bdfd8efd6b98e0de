/** Puts the dispatcher into a repository, brings it up to date, and takes it out again. */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { writeAtomic } from '../../files/atomic-write.ts'
import { JsonEdit } from '../../files/json-edit.ts'
import { leadsOut } from '../../files/leads-out.ts'
import { packageRoot } from '../../package-root.ts'
import { defaultFiles } from '../defaults.ts'
import { installedPart } from '../load-modules.ts'
import { readManifest, shipped } from '../manifest.ts'
import { type Host, hosts, register, registeredEvents, registrationFile, unregister } from '../registration.ts'
import { type PatternKind, patternFault } from '../rules/pattern.ts'
import { readBytes, readJson } from '../session/files.ts'
import { isObject } from '../session/paths.ts'
import type { Json } from '../types.ts'
import { checkSchema } from './check-schema.ts'
import { sample } from './samples.ts'
import { schemas } from './schemas.ts'

export type Change = { readonly path: string; readonly did: 'wrote' | 'kept' | 'removed' }
export type Installed = { ok: true; changes: Change[]; notes: string[] } | { ok: false; problem: string }

/** The built tree; see scripts/build-dispatcher.ts. */
export const runtimeRoot = (): string => join(packageRoot, 'dist', 'dispatcher')

const ignoreFile = '.ai/.gitignore'
const ignoreText = 'tmp/\nhooks/lib/cache/\nhooks/config.local.json\n'

export interface InstallOptions {
  readonly hosts: readonly Host[]
  readonly modules: readonly string[]
  /** Where the built tree lies. */
  readonly runtime: string
  /** Whether modules that are not ours may be run, to warm them up. */
  readonly trusted: boolean
}

/** Folders of the repository that we write into must be its own. */
export const strayFolder = (repoRoot: string): string | undefined => {
  const stray = ['.ai/hooks', '.ai/tmp', ...Object.values(registrationFile)].find((path) => leadsOut(repoRoot, path))
  return stray && `${stray} is, or lies behind, a link that leads out of the repository; nothing was changed`
}

/** Installing over an installation is upgrading it: our files are replaced, the user's are kept. */
export function install(repoRoot: string, { hosts: wanted, modules, runtime, trusted }: InstallOptions): Installed {
  if (!existsSync(join(runtime, 'dispatch.mjs')))
    return { ok: false, problem: `${runtime} is not built; run: npm run build` }
  const unknown = modules.find((name) => !Object.hasOwn(shipped, name))
  if (unknown !== undefined)
    return { ok: false, problem: `there is no module "${unknown}"; there are ${Object.keys(shipped).join(', ')}` }
  const stray = strayFolder(repoRoot)
  if (stray !== undefined) return { ok: false, problem: stray }
  const registrations: [Host, Json | undefined][] = []
  for (const host of wanted) {
    const { value, problem } = readJson(join(repoRoot, registrationFile[host]))
    if (problem !== undefined || (value !== undefined && !isObject(value)))
      return {
        ok: false,
        problem: `${registrationFile[host]} cannot be read (${problem ?? 'it is not an object'}); mend it first, nothing was written`,
      }
    registrations.push([host, value])
  }

  const changes: Change[] = []
  const notes: string[] = []
  const put = (path: string, text: string) => {
    const file = join(repoRoot, path)
    if (existsSync(file) && readFileSync(file, 'utf8') === text) return
    writeWhole(file, text)
    changes.push({ path, did: 'wrote' })
  }
  const before = readInstalled(repoRoot)
  for (const file of shippedFiles(runtime)) {
    const path = `.ai/hooks/${file}`
    if (file.startsWith('features/') && isReplaced(repoRoot, path, before)) {
      changes.push({ path, did: 'kept' })
      notes.push(`${path} is a module of your own and stays`)
    } else put(path, readFileSync(join(runtime, file), 'utf8'))
  }
  for (const [name, content] of Object.entries(defaultFiles(modules))) {
    const path = `.ai/hooks/${name}`
    if (existsSync(join(repoRoot, path))) changes.push({ path, did: 'kept' })
    else put(path, `${JSON.stringify(content, null, 2)}\n`)
  }
  if (!existsSync(join(repoRoot, ignoreFile))) put(ignoreFile, ignoreText)
  for (const [host, file] of registrations)
    if (writeJson(join(repoRoot, registrationFile[host]), file, register(host, file)))
      changes.push({ path: registrationFile[host], did: 'wrote' })
  notes.push(...configProblems(repoRoot), ...doubleRegistration(repoRoot))
  const foreign = trusted ? [] : foreignCode(repoRoot, runtime)
  const warmed = foreign.length > 0 ? notRun(foreign) : warmUp(repoRoot)
  if (warmed !== undefined) notes.push(warmed)
  return { ok: true, changes, notes }
}

export function uninstall(repoRoot: string, runtime: string): Installed {
  const stray = strayFolder(repoRoot)
  if (stray !== undefined) return { ok: false, problem: stray }
  const changes: Change[] = []
  const notes: string[] = []
  for (const host of hosts) {
    const path = registrationFile[host]
    const { value, problem } = readJson(join(repoRoot, path))
    if (problem !== undefined)
      return { ok: false, problem: `${path} cannot be read (${problem}); mend it first, nothing was removed` }
    if (!isObject(value) || registeredEvents(value).length === 0) continue
    const left = unregister(host, value)
    if (left) writeJson(join(repoRoot, path), value, left)
    else remove(repoRoot, path)
    changes.push({ path, did: left ? 'wrote' : 'removed' })
  }
  const before = readInstalled(repoRoot)
  for (const file of shippedFiles(runtime)) {
    const path = `.ai/hooks/${file}`
    const full = join(repoRoot, path)
    if (file.startsWith('lib') || !existsSync(full) || statSync(full).isDirectory()) continue
    if (file.startsWith('features/') && isReplaced(repoRoot, path, before)) changes.push({ path, did: 'kept' })
    else {
      remove(repoRoot, path)
      changes.push({ path, did: 'removed' })
    }
  }
  if (existsSync(join(repoRoot, '.ai/hooks/lib'))) {
    rmSync(join(repoRoot, '.ai/hooks/lib'), { recursive: true })
    changes.push({ path: '.ai/hooks/lib', did: 'removed' })
  }
  for (const name of Object.keys(defaultFiles([])))
    if (existsSync(join(repoRoot, '.ai/hooks', name))) changes.push({ path: `.ai/hooks/${name}`, did: 'kept' })
  const ignore = join(repoRoot, ignoreFile)
  if (!existsSync(join(repoRoot, '.ai/tmp')) && existsSync(ignore) && readFileSync(ignore, 'utf8') === ignoreText)
    remove(repoRoot, ignoreFile)
  removeEmpty(join(repoRoot, '.ai'))
  return { ok: true, changes, notes }
}

/** The files of the built tree, in order, as they are named in a repository; none where it is not built. */
export const shippedFiles = (runtime: string): string[] =>
  globSync('**/*', { cwd: runtime })
    .filter((file) => statSync(join(runtime, file)).isFile())
    .map((file) => file.split(sep).join('/'))
    .sort()

/** lib/features.txt as the last installation left it. */
const readInstalled = (repoRoot: string): Buffer => {
  const file = join(repoRoot, '.ai/hooks/lib/features.txt')
  return existsSync(file) ? readFileSync(file) : Buffer.alloc(0)
}

/** Whether a shipped module's file is there and no longer what was installed. */
function isReplaced(repoRoot: string, path: string, installed: Buffer): boolean {
  const file = join(repoRoot, path)
  const name = path.split('/')[3]!
  const part = installedPart(installed, name)
  return existsSync(file) && part !== undefined && !part.equals(readFileSync(file))
}

/** What is wrong in the configuration files, by their schemas; and patterns that do not compile or could be slow. */
export function configProblems(repoRoot: string): string[] {
  const problems: string[] = []
  for (const [file, schema] of [
    ['dispatch.manifest.json', 'dispatch-manifest'],
    ['rlm-policy.json', 'rlm-policy'],
    ['followup-rules.json', 'followup-rules'],
    ['config.json', undefined],
    ['workspace.json', undefined],
  ] as const) {
    const { value, problem } = readJson(join(repoRoot, '.ai/hooks', file))
    if (problem !== undefined) problems.push(`${file}: ${problem}`)
    else if (value !== undefined && schema)
      problems.push(...checkSchema(schemas[schema]!, value).map((text) => `${file}: ${text}`))
    for (const [pattern, kind] of patternsIn(value)) {
      const fault = patternFault(pattern, kind)
      if (fault !== undefined) problems.push(`${file}: ${fault}`)
    }
  }
  return problems
}

/** Values that modules take for regular expressions. */
function patternsIn(value: unknown): [string, PatternKind][] {
  if (Array.isArray(value)) return value.flatMap(patternsIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, item]): [string, PatternKind][] => {
    if (key === 'toolNamePattern' && typeof item === 'string') return [[item, 'name']]
    if (key === 'newWorkPattern' && typeof item === 'string') return [[item, 'text']]
    if (key === 'anchorPatterns' && Array.isArray(item))
      return item.filter((pattern) => typeof pattern === 'string').map((pattern) => [pattern, 'text'])
    if (value['op'] === 'matches' && key === 'value' && typeof item === 'string') return [[item, 'text']]
    return patternsIn(item)
  })
}

export function doubleRegistration(repoRoot: string): string[] {
  const registered = hosts.filter(
    (host) => registeredEvents(readJson(join(repoRoot, registrationFile[host])).value).length > 0,
  )
  return registered.length < 2
    ? []
    : [
        `registered in ${registered.map((host) => registrationFile[host]).join(' and ')}: VS Code and Copilot CLI read both and will run every event twice`,
      ]
}

/** What the dispatcher would run here that did not come with ona. */
export function foreignCode(repoRoot: string, runtime: string): string[] {
  const { value, problem } = readJson(join(repoRoot, '.ai/hooks/dispatch.manifest.json'))
  const own = shippedFiles(runtime).filter((file) => !file.startsWith('features/'))
  const modules = readManifest(value, problem).manifest.modules.map(({ path }) => path)
  return [...new Set([...own, ...modules])]
    .filter((file) => !isSame(join(repoRoot, '.ai/hooks', file), join(runtime, file)))
    .map((file) => `.ai/hooks/${file}`)
}

const isSame = (file: string, shippedFile: string): boolean => {
  const [there, ours] = [file, shippedFile].map(readBytes)
  return typeof there === 'object' && typeof ours === 'object' && there.equals(ours)
}

export const notRun = (foreign: readonly string[]): string =>
  `nothing was run: ${foreign.join(', ')} did not come with ona, and this folder is not trusted; --trust trusts it`

/** Lets the `node` on the path compile once and keep what it compiled. Undefined when that worked. */
export function warmUp(repoRoot: string, node = 'node'): string | undefined {
  const cache = join(repoRoot, '.ai/hooks/lib/cache')
  rmSync(cache, { recursive: true, force: true })
  mkdirSync(cache, { recursive: true })
  const env = { ...process.env, ONA_DISPATCHER_WARM: '1' }
  for (const _round of ['first', 'second']) {
    const run = spawnSync(node, [join(repoRoot, '.ai/hooks/dispatch.mjs'), 'PreToolUse'], {
      input: sample('PreToolUse', repoRoot),
      env,
      timeout: 20_000,
    })
    const { code } = (run.error ?? {}) as NodeJS.ErrnoException // EPIPE: it ended without reading what it was given
    if (run.error && code !== 'EPIPE')
      return `there is no ${node} on the path (${run.error.message}); the hosts need one, 20 or later`
  }
  removeSampleSession(repoRoot)
  return readdirSync(cache).length === 0
    ? 'the code cache could not be written; events will take a few milliseconds longer'
    : undefined
}

/** Sample events run in a session of their own, which nobody needs afterwards. */
export const removeSampleSession = (repoRoot: string): void =>
  rmSync(join(repoRoot, '.ai/tmp', sample.sessionId), { recursive: true, force: true })

/** Writes a file of the user's as it is written: its indentation, line ends and end stay. False: it says that already. */
export function writeJson(file: string, before: Json | undefined, after: Json): boolean {
  if (JSON.stringify(before) === JSON.stringify(after)) return false
  if (before === undefined) writeWhole(file, `${JSON.stringify(after, null, 2)}\n`)
  else {
    const draft = new JsonEdit(readFileSync(file, 'utf8'))
    draft.turn([], before, after)
    writeWhole(file, draft.text)
  }
  return true
}

/** Replaces a file as a whole, making its folder where there is none. */
export function writeWhole(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeAtomic(path, text)
}

function remove(repoRoot: string, path: string): void {
  rmSync(join(repoRoot, path))
  let folder = dirname(path)
  while (folder.includes('/') || folder === '.github' || folder === '.claude') {
    if (readdirSync(join(repoRoot, folder)).length > 0) return
    rmdirSync(join(repoRoot, folder))
    folder = dirname(folder)
  }
}

function removeEmpty(folder: string): void {
  if (!existsSync(folder)) return
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeEmpty(join(folder, entry.name))
  if (readdirSync(folder).length === 0) rmdirSync(folder)
}

/** The checks behind `ona doctor` and /doctor. They report and change nothing. */

import { existsSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { settingsHere } from '../agent/session/folder-settings.ts'
import { anthropicSource, authStatus, unusedCredentials } from '../auth/sources.ts'
import { onPath } from '../hooks/handlers/find-program.ts'
import { sayHookProblem } from '../hooks/settings.ts'
import { packageRoot, version } from '../package-root.ts'
import type { PermissionSettings } from '../permissions/question.ts'
import { shownBaseUrl } from '../providers/create.ts'
import { listedModels } from '../providers/models/listed-models.ts'
import { resolveModel } from '../providers/models/resolve.ts'
import { archiveProblems } from '../store/archive/archive.ts'
import { endProblem } from '../store/chain/chain-end.ts'
import { dbPath, openDb, StoreError } from '../store/open.ts'
import { hooksOf, type LoadedSettings } from '../store/settings/settings.ts'
import { findRipgrep } from '../tools/search/ripgrep.ts'
import { recordSizeNow, sizeText, walWarning } from './record-size.ts'
import type { UnusedKey } from './unused-keys.ts'

export interface Finding {
  readonly level: 'ok' | 'warning' | 'problem'
  readonly about: string
  /** What was found and, where something is wrong, what to do. */
  readonly text: string
  /** The settings keys that the finding is about. */
  readonly keys?: readonly UnusedKey[]
}

interface Place {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** From the files alone when the database cannot be opened. */
  readonly loaded: LoadedSettings
  /** Also what takes as long as the record is large. */
  readonly full: boolean
}

type Text = string | Pick<Finding, 'text' | 'keys'>
type Report = { readonly [level in Finding['level']]?: Text | readonly Text[] }
type Check = (place: Place) => Report | Promise<Report>

/** In the order they are reported. A check that does not apply here reports nothing. */
const checks: Readonly<Record<string, Check>> = {
  program,
  database,
  'disk space': diskSpace,
  settings,
  'unused keys': unusedSettings,
  trust,
  rules,
  hooks,
  plugins,
  model,
  'MCP servers': mcpServers,
  sandbox,
  programs,
  roles,
  dispatcher,
}

/** `env` names the database and holds the credentials that count. */
export async function examine(
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
  { full = false } = {},
): Promise<Finding[]> {
  const place = { cwd, env, full, loaded: settingsHere({ cwd, env, filesOnly: !databaseOpens(env) }) }
  const findings: Finding[] = []
  for (const [about, check] of Object.entries(checks)) {
    const report = await check(place)
    for (const level of ['problem', 'warning', 'ok'] as const)
      for (const text of [report[level] ?? []].flat())
        findings.push({ level, about, ...(typeof text === 'string' ? { text } : text) })
  }
  return findings
}

function program(): Report {
  const ok = `ona ${version()} on Node ${process.versions.node}, ${process.platform} ${process.arch}`
  if (existsSync(join(packageRoot, 'dist/main.cjs'))) return { ok }
  return { ok, warning: `there is no build in ${packageRoot}, so every start is slow; run npm run build` }
}

/** Reading every page takes as long as the record is large; above this it is done when asked for. */
const mostChecked = 32 * 1024 * 1024

function database({ env, full }: Place): Report {
  const path = dbPath(env)
  if (!existsSync(path)) return { ok: `${path} is created at the first start` }
  const db = openedOr(path)
  if (db instanceof StoreError) return { problem: db.message }
  try {
    const size = recordSizeNow(db)
    const all = full || size.bytes <= mostChecked
    const wrong = all
      ? db.all<{ integrity_check: string }>('PRAGMA integrity_check(3)').map((row) => row.integrity_check)
      : [endProblem(db) ?? 'ok']
    if (wrong.join() !== 'ok')
      return { problem: `${path}: ${wrong.join('; ')}. Keep a copy, then: sqlite3 FILE .recover | sqlite3 NEW` }
    const problem = archiveProblems(db)
    const checked = all ? 'ok' : 'its newest rows are ok; ona doctor --full reads all of it'
    return {
      problem,
      ok: [`${path}: ${checked}`, sizeText(db, size)],
      ...(walWarning(size) && { warning: walWarning(size)! }),
    }
  } catch (error) {
    if (error instanceof StoreError) return { problem: error.message }
    throw error
  } finally {
    db.close()
  }
}

function databaseOpens(env: NodeJS.ProcessEnv): boolean {
  const path = dbPath(env)
  const db = existsSync(path) ? openedOr(path) : undefined
  if (db instanceof StoreError) return false
  db?.close()
  return true
}

function openedOr(path: string) {
  try {
    return openDb(path)
  } catch (error) {
    if (error instanceof StoreError) return error // reported as a finding
    throw error
  }
}

const megabyte = 1024 * 1024

function diskSpace({ env }: Place): Report {
  let folder = dirname(dbPath(env))
  while (!existsSync(folder)) folder = dirname(folder)
  const { bavail, bsize } = statfsSync(folder)
  const free = Math.floor((bavail * bsize) / megabyte)
  const text = `${free} MB free for ${folder}`
  if (free >= 1024) return { ok: text }
  return { [free < 64 ? 'problem' : 'warning']: `${text}; a full disk stops every session: free some` }
}

/** Reads the files again: warnings that were printed at the import are repeated. */
function settings({ cwd, env, loaded }: Place): Report {
  const { sources, warnings, problems } = settingsHere({ cwd, env, filesOnly: true })
  const files = sources.map(({ file }) => file)
  return {
    problem: problems.map(({ file, why }) => `${file}: ${why}`),
    // keys that ona does not know are listed by a check of their own
    warning: [...warnings.filter((text) => !text.endsWith('kept, and without effect')), ...loaded.differences],
    ok: files.length === 0 ? 'no settings file; the defaults apply' : `read ${files.join(', ')}`,
  }
}

/** A key that was meant to guard something is a line of its own; the others share one. */
async function unusedSettings({ cwd, env }: Place): Promise<Report> {
  const { unusedKeys } = await import('./unused-keys.ts')
  const keys = unusedKeys(cwd, env)
  const guards = keys.filter(({ security }) => security)
  const others = Map.groupBy(
    keys.filter(({ security }) => !security),
    ({ file }) => file,
  )
  return {
    warning: [
      ...guards.map((one) => ({
        text: `${one.file}${one.key === '*' ? '' : `: ${one.key}`}: ${one.why}`,
        keys: [one],
      })),
      ...[...others].map(([file, of]) => ({
        text: `${file}: no effect: ${of.map(({ key }) => key).join(', ')}`,
        keys: of,
      })),
    ],
  }
}

async function plugins({ env, loaded }: Place): Promise<Report> {
  const { managing, stateOf, statusOfAll } = await import('../plugins/manage.ts')
  const all = statusOfAll(managing(loaded, env))
  if (all.length === 0) return {}
  const used = all.filter((each) => each.enabled && each.trust === 'trusted' && !each.problem)
  const idle = all.filter((each) => each.enabled && !used.includes(each))
  return {
    problem: idle.flatMap(({ id, problem }) => (problem ? [`${id}: ${problem}`] : [])),
    warning: idle.flatMap((each) =>
      each.problem ? [] : [`${each.id} is ${stateOf(each)}, so nothing of it is used; ona plugin info ${each.id}`],
    ),
    ok: `${used.length} in use, ${all.length - used.length} not; ona plugin list shows them`,
  }
}

function trust({ cwd, loaded: { trusted, heldBack } }: Place): Report {
  if (trusted) return { ok: `${cwd} is trusted` }
  const keys = heldBack.flatMap(({ keys }) => keys)
  const text = `${cwd} is not trusted`
  if (keys.length === 0) return { ok: `${text}, and has nothing that needs trust` }
  return { warning: `${text}: its ${keys.join(', ')} have no effect; trust it with ona --trust` }
}

/** Invalid rules are reported by the settings check. */
function rules({ loaded }: Place): Report {
  const { allow = [], ask = [], deny = [] } = (loaded.settings.permissions ?? {}) as PermissionSettings
  const dead = allow.filter((rule) => deny.includes(rule) || deny.includes(rule.replace(/\(.*/s, '')))
  return {
    warning: dead.map((rule) => `allow ${rule} has no effect: a deny rule covers it; remove one of the two`),
    ok: `${allow.length} allow, ${ask.length} ask, ${deny.length} deny`,
  }
}

function hooks({ env, loaded }: Place): Report {
  const { handlers, problems } = hooksOf(loaded)
  const withheld = handlers.filter((handler) => handler.withheld !== undefined).length
  const reported = (level: 'error' | 'warning') => problems.filter((one) => one.level === level).map(sayHookProblem)
  const disabled = env['SDLC_DISABLE_ALL_HOOKS'] ? ['SDLC_DISABLE_ALL_HOOKS is set: no hook runs; unset it'] : []
  return {
    problem: reported('error'),
    warning: [...reported('warning'), ...disabled],
    ok: `${handlers.length - withheld} in force${withheld > 0 ? `, ${withheld} held back` : ''}; ona hooks list shows them`,
  }
}

async function model({ env, loaded: { settings, trusted } }: Place): Promise<Report> {
  const context = { settings, env, trusted, bare: false }
  const resolved = resolveModel({
    settings,
    env,
    anthropic: anthropicSource(context),
    unused: unusedCredentials(context),
    listed: listedModels(shownBaseUrl('claude_code_subscription', env), env),
    rehearsalByDefault: true,
  })
  if (!resolved.ok) return { problem: resolved.problem }
  const { rehearsal, provider, wireModel, why } = resolved.choice
  if (rehearsal)
    return { ok: `the rehearsal model, which is not a language model: ${why}; ona login connects a real one` }
  const { loggedIn, authMethod, source } = await authStatus(provider, context)
  const name = `${wireModel ?? 'the first that the server lists'} (${provider})`
  if (!loggedIn && provider !== 'lm_studio_local')
    return { problem: `${name} has no credential; ona login --help, or set the provider's key` }
  return { ok: `${name}, ${loggedIn ? `credential: ${authMethod} from ${source}` : 'no credential needed'}` }
}

async function mcpServers({ cwd, env, loaded }: Place): Promise<Report> {
  const { declaredHere } = await import('../agent/session/declared-servers.ts')
  const { servers, problems } = await declaredHere(cwd, env, loaded)
  if (servers.length + problems.length === 0) return {}
  return { problem: problems, ok: `${servers.length} declared; ona mcp list checks whether they answer` }
}

async function sandbox({ cwd, env, loaded }: Place): Promise<Report> {
  const { fenceHere } = await import('../agent/session/sandbox-here.ts')
  const fence = await fenceHere(cwd, env, loaded)
  fence.close()
  const { enabled, failIfUnavailable } = loaded.settings.sandbox ?? {}
  const { availability } = fence
  if (availability.ok)
    return { ok: `works here (${availability.bwrap}); ${enabled ? 'enabled' : 'not enabled: see docs/sandbox.md'}` }
  if (!enabled) return { ok: `not enabled, and not available: ${availability.why}` }
  const text = `enabled and not available: ${availability.why}`
  return failIfUnavailable ? { problem: `${text}; no session starts` } : { warning: `${text}; commands run without it` }
}

function programs({ env }: Place): Report {
  const git = onPath(['git'], env)
  const bash = onPath(['bash'], env)
  const rg = findRipgrep(env)
  return {
    problem: bash ? [] : 'bash is not on the PATH: neither the Bash tool nor command hooks can run; install it',
    warning: [
      ...(git ? [] : ['git is not on the PATH: no diffs, no worktrees; install it']),
      ...(rg ? [] : ['ripgrep was not found, so searches are slower; npm ci without --omit=optional installs it']),
    ],
    ok: [git, bash, rg].filter((file) => file !== undefined),
  }
}

async function roles({ cwd }: Place): Promise<Report> {
  const { brainsHere, differing } = await import('./brains-status.ts')
  const { linked, plans, failed, problems } = await brainsHere(cwd)
  if (linked.length + failed.length + problems.length === 0) return {}
  const stale = plans.filter((plan) => differing(plan) > 0).map((plan) => `${plan.slug} (${differing(plan)})`)
  return {
    problem: [...failed.map(({ why }) => why), ...problems],
    warning:
      stale.length === 0
        ? []
        : `hooks differ from what the roles declare in ${stale.join(', ')}; run: ona init --hooks`,
    ok: `${linked.length} linked`,
  }
}

async function dispatcher({ cwd }: Place): Promise<Report> {
  const { repositoryOf } = await import('../brains/targets.ts')
  const root = repositoryOf(cwd)
  if (!existsSync(join(root, '.ai/hooks/dispatch.mjs'))) return {}
  const { installationProblems } = await import('../dispatcher/setup/doctor.ts')
  const { runtimeRoot } = await import('../dispatcher/setup/install.ts')
  const problem = installationProblems(root, runtimeRoot())
  return problem.length > 0
    ? { problem }
    : { ok: 'installed as shipped; ona dispatcher doctor fires a sample of each event' }
}

/**
 * The settings: read from files once at start, made one, and kept in the database as the settings of record.
 *
 * `settings_snapshot('effective')` is what counts. A start imports the files only when they say something else than at
 * their last import, so what an operator stores there stands until a file changes.
 */
import type { Handler } from '../../hooks/handler.ts'
import { type HookProblem, readHooks } from '../../hooks/settings.ts'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import type { Db } from '../open.ts'
import { hookFiles } from './hook-file.ts'
import { isRefusedVariable } from './repository-variables.ts'
import { type CheckRule, checkLayer } from './settings-check.ts'
import { type Layer, type Places, parseSettings, readLayers, type SettingsProblem } from './settings-files.ts'
import { onFloor } from './settings-floor.ts'
import { flatHooks, heldBackKeys, join, merge, onlyRestrictions } from './settings-merge.ts'
import { missingSecrets, withoutSecrets, withSecrets } from './settings-secrets.ts'
import type { HookEntry, Level, Settings } from './settings-shape.ts'
import { restoreRecord, settingsOfRecord, snapshotOf } from './settings-snapshot.ts'
import { isTrusted } from './trust.ts'

export type { Settings } from './settings-shape.ts'

export interface SettingsRequest {
  readonly db: Db
  readonly cwd: string
  readonly home: string
  readonly env: NodeJS.ProcessEnv
  readonly flags?: SettingsFlags
  /** Says why a permission rule cannot be used; bad ones are left out, with a warning. */
  readonly checkRule?: CheckRule
  /** Allow rules below every other layer; see permissions/rules/builtin-rules.ts. */
  readonly builtinRules?: readonly string[]
  readonly managedDirs?: readonly string[]
}

export interface SettingsFlags {
  /** `--settings`: a file, or JSON itself. */
  readonly settings?: string
  /** `--setting-sources`. */
  readonly sources?: readonly string[]
  /** `--trust`: the folder counts as trusted in this run. */
  readonly trust?: boolean
  /** `--bare`: only managed settings and `--settings`; the snapshot is neither read nor written. */
  readonly bare?: boolean
}

export interface LoadedSettings {
  /** The settings of this process. `hooks` is one list in the order in which they run. */
  readonly settings: Settings & { readonly hooks: readonly HookEntry[] }
  /** The files that were read, weakest first. */
  readonly sources: readonly { readonly level: Level; readonly file: string }[]
  readonly trusted: boolean
  /** What managed settings alone say. */
  readonly managed: Settings
  /** Where they were loaded, and whether hooks run there at all. */
  readonly place: { readonly cwd: string; readonly home: string; readonly hooksRun: boolean }
  /** What an untrusted folder's files ask for and did not get. */
  readonly heldBack: readonly HeldBack[]
  /** What a failing hook means where it does not say so itself; managed settings can force it. */
  readonly hookFailure?: 'refuse' | 'forced'
  /** Variables of managed settings: they hold whatever the environment and the settings of record say. */
  readonly managedEnv: Readonly<Record<string, string>>
  /** Reported once: entries left out, unknown keys, what is held back. */
  readonly warnings: readonly string[]
  /** Hooks that the settings or `--bare` switched off: listed, recorded as skipped, and not run. */
  readonly disabledHooks: readonly { readonly hook: HookEntry; readonly withheld: 'hooks_disabled' | 'bare_mode' }[]
  /** How the settings of record differ from the files; part of `warnings` too. */
  readonly differences: readonly string[]
  /** Nothing may run before these are put right: a policy may be missing. Nothing is imported while there are any. */
  readonly problems: readonly SettingsProblem[]
}

export interface HeldBack {
  readonly level: Level
  readonly file: string
  /** Such as `hooks`, `permissions.allow`. */
  readonly keys: readonly string[]
  readonly hooks: readonly HookEntry[]
}

/** Hooks that stand together and come from one level, as the plane reads them. */
export interface HookGroup {
  readonly source: HookEntry['source']
  readonly hooks: readonly JsonObject[]
  /** Why they must not run. */
  readonly withheld?: string
}

/** All hooks in their order; those of a folder that is not trusted come last, withheld. */
export function hookGroups({ settings, heldBack, disabledHooks }: LoadedSettings): HookGroup[] {
  const groups: { source: HookEntry['source']; hooks: JsonObject[]; withheld?: string }[] = []
  const withheld = [
    ...disabledHooks,
    ...heldBack.flatMap(({ hooks }) => hooks).map((hook) => ({ hook, withheld: 'untrusted_workspace' })),
  ]
  for (const { hook, ...why } of [...settings.hooks.map((hook) => ({ hook })), ...withheld]) {
    const { source, ...entry } = hook
    const last = groups.at(-1)
    const held = 'withheld' in why ? why.withheld : undefined
    if (last?.source === source && last.withheld === held) last.hooks.push(entry)
    else groups.push({ source, hooks: [entry], ...why })
  }
  return groups
}

/** All hooks as the plane takes them; files that they name are loaded. A problem names the level at which it stands. */
export function hooksOf(loaded: LoadedSettings): { handlers: Handler[]; problems: HookProblem[] } {
  const { place } = loaded
  const read = hookGroups(loaded).map(({ source, hooks, withheld }) => {
    const load = place.hooksRun ? hookFiles(source, place) : undefined
    const { handlers, problems } = readHooks({ hooks }, { source: { kind: 'settings', layer: source }, withheld, load })
    const where = source === 'flag' ? '--settings' : `${source} settings`
    return { handlers, problems: problems.map((one) => ({ ...one, path: `${where}: ${one.path}` })) }
  })
  return { handlers: read.flatMap((one) => one.handlers), problems: read.flatMap((one) => one.problems) }
}

export function loadSettings(request: SettingsRequest): LoadedSettings {
  const { db, flags = {} } = request
  const read = readLayers(placesOf(request))
  const checked = checkLayers(read.layers, request.checkRule ?? (() => undefined))
  const { layers, heldBack, trusted } = holdBack(checked.layers, request)

  const problems = [...read.problems, ...checked.problems]
  const warnings = [...checked.warnings, ...heldBack.map(heldBackWarning), ...layers.flatMap(variablesWarning)]
  const files = merge(layers, request.builtinRules)
  const managed = layers.filter(({ level }) => level === 'managed')
  const sources = layers.map(({ level, file }) => ({ level, file }))
  const place = { cwd: request.cwd, home: request.home, hooksRun: request.env['SDLC_DISABLE_ALL_HOOKS'] !== '1' }
  const refuses = ({ settings }: Layer) => settings['hookFailure'] === 'refuse'
  const failure = managed.some(refuses) ? ('forced' as const) : layers.some(refuses) ? ('refuse' as const) : undefined
  const ofManaged = merge(managed) as Settings
  const managedEnv = ofManaged.env ?? {}
  const loaded = {
    ...{ sources, trusted, managed: ofManaged, place, heldBack, managedEnv },
    ...(failure && { hookFailure: failure }),
  }

  if (flags.bare || problems.length > 0) {
    const { settings, disabledHooks } = inForce(flags.bare ? withRestrictionsOf(db, files) : files, managed)
    const skipped = flags.bare ? [...disabledHooks, ...skippedHooks(db)] : disabledHooks
    const about = { warnings: [...warnings, ...checked.unknown], differences: [], problems }
    return { ...loaded, settings, disabledHooks: skipped, ...about }
  }

  const content = JSON.stringify(layers.length > 0 ? withoutSecrets(files) : files)
  const { json, imported } = settingsOfRecord(db, projectKey(request), content)
  if (imported) warnings.push(...checked.unknown)
  // what the files say was checked above; what an operator wrote was not
  if (json === content) return { ...loaded, ...inForce(files, managed), warnings, differences: [], problems }
  const stored = readSnapshot(json, files, request.checkRule)
  const { settings, restored, changed } = onFloor(stored.settings, files)
  if (restored.length > 0 && stored.problems.length === 0)
    restoreRecord(db, JSON.stringify(withoutSecrets(settings)), restored)
  const differences = [
    ...restored.map((what) => `${record} lacked ${what}, which the settings files require; it is restored`),
    ...(changed.length > 0 ? [`${record} differs from the settings files: ${changed.join(', ')}`] : []),
  ]
  return {
    ...(stored.settings['hookFailure'] === 'refuse' && { hookFailure: 'refuse' as const }),
    ...loaded,
    ...inForce(withManaged(settings, managed), managed),
    warnings: [...warnings, ...stored.warnings, ...differences],
    differences,
    problems: stored.problems,
  }
}

/** Variables in a repository's files that are not for them to set. */
function variablesWarning({ level, file, settings: { env } }: Layer): string[] {
  const names = level === 'project' || level === 'local' ? Object.keys(isObject(env) ? env : {}) : []
  const ignored = names.filter(isRefusedVariable)
  return ignored.length > 0
    ? [
        `${file}: ${ignored.join(', ')} ignored: set it in the environment, in ~/.ona/settings.json or in managed settings`,
      ]
    : []
}

const record = "settings_snapshot('effective')"

/** `--bare` skips the files and the hooks of record; what the record denies or asks about still applies. */
function withRestrictionsOf(db: Db, settings: JsonObject): JsonObject {
  const parsed = parseSettings(snapshotOf(db) ?? '')
  return parsed.ok ? join(onlyRestrictions(parsed.settings), settings) : settings
}

/** The hooks of record, which `--bare` does not run. */
function skippedHooks(db: Db): LoadedSettings['disabledHooks'] {
  const parsed = parseSettings(snapshotOf(db) ?? '')
  const hooks = parsed.ok ? flatHooks(parsed.settings['hooks'], 'operator') : []
  return hooks.map((hook) => ({ hook, withheld: 'bare_mode' }))
}

const placesOf = ({ cwd, home, env, flags = {}, managedDirs }: SettingsRequest): Places => ({
  cwd,
  home,
  env,
  managedDirs,
  settings: flags.settings,
  sources: flags.bare ? [] : flags.sources,
})

/** The same folder started with other flags has other settings. */
const projectKey = ({ cwd, flags = {} }: SettingsRequest): string =>
  [cwd, ...(flags.settings === undefined ? [] : ['--settings']), ...(flags.sources ?? [])].join(' ')

function checkLayers(read: readonly Layer[], checkRule: CheckRule) {
  const problems: SettingsProblem[] = []
  const warnings: string[] = []
  const unknown: string[] = []
  const layers = read.map((layer): Layer => {
    const { file } = layer
    const checked = checkLayer(layer, checkRule)
    problems.push(...checked.problems.map((why) => ({ file, why })))
    warnings.push(...checked.warnings.map((why) => `${file}: ${why}`))
    if (checked.unknown.length > 0)
      unknown.push(`${file}: ona does not know ${checked.unknown.join(', ')}; kept, and without effect`)
    return { ...layer, settings: checked.settings }
  })
  return { layers, problems, warnings, unknown }
}

/** Until the user trusts the folder, its files can deny and ask, and nothing else. */
function holdBack(layers: readonly Layer[], { cwd, home, flags = {} }: SettingsRequest) {
  const isOfFolder = ({ level }: Layer) => level === 'project' || level === 'local'
  const managed = layers
    .filter(({ level }) => level === 'managed')
    .flatMap(({ settings }) => (settings as Settings).trustedDirectories ?? [])
  const trusted = flags.trust === true || isTrusted(cwd, { home, managed })
  if (trusted || !layers.some(isOfFolder)) return { layers, heldBack: [], trusted }
  const heldBack = layers
    .filter(isOfFolder)
    .map(({ level, file, settings }) => ({
      level,
      file,
      keys: heldBackKeys(settings),
      hooks: flatHooks(settings['hooks'], level),
    }))
    .filter(({ keys }) => keys.length > 0)
  const kept = layers.map((layer) =>
    isOfFolder(layer) ? { ...layer, settings: onlyRestrictions(layer.settings) } : layer,
  )
  return { layers: kept, heldBack, trusted }
}

const heldBackWarning = ({ file, keys }: HeldBack): string =>
  `${file}: this folder is not trusted, so ${keys.join(', ')} ${keys.length > 1 ? 'do' : 'does'} not apply; ona --trust trusts it`

/** The snapshot as an operator may have left it. */
function readSnapshot(json: string, files: JsonObject, checkRule: CheckRule = () => undefined) {
  const file = record
  const parsed = parseSettings(json)
  if (!parsed.ok) return { settings: files, warnings: [], problems: [{ file, why: parsed.why }] }
  const whole = withSecrets(parsed.settings, files)
  const checked = checkLayer({ level: 'managed', settings: whole }, checkRule)
  const { settings } = checked
  const missing = missingSecrets(settings).map(
    (path) => `${path} was kept out of the database because it holds a secret, and no file has it now; set it again`,
  )
  return {
    settings,
    warnings: checked.warnings.map((why) => `${file}: ${why}`),
    problems: [...checked.problems, ...missing].map((why) => ({ file, why })),
  }
}

/** What the machine's administrator sets cannot be edited away in the database. */
const withManaged = (settings: JsonObject, managed: readonly Layer[]): JsonObject => join(settings, merge(managed))

/** The settings with the hooks that will run, and those that will not. */
function inForce(settings: JsonObject, managed: readonly Layer[]): Pick<LoadedSettings, 'settings' | 'disabledHooks'> {
  const hooks = flatHooks(settings['hooks'], 'operator')
  const off = settings['disableAllHooks'] === true
  const allOff = managed.some((layer) => layer.settings['disableAllHooks'] === true)
  const managedOnly = off || settings['allowManagedHooksOnly'] === true
  const runs = ({ source }: HookEntry) => !allOff && (!managedOnly || source === 'managed')
  return {
    settings: {
      ...withSandboxOf(
        settings['allowManagedMcpServersOnly'] === true ? withServersOf(settings, managed) : settings,
        managed,
      ),
      hooks: hooks.filter(runs),
    },
    disabledHooks: hooks.filter((hook) => !runs(hook)).map((hook) => ({ hook, withheld: 'hooks_disabled' })),
  }
}

/** Which MCP servers may be used is the administrator's word alone; what anyone forbids stays forbidden. */
function withServersOf(settings: JsonObject, managed: readonly Layer[]): JsonObject {
  const { allowedMcpServers = [] } = merge(managed)
  return { ...settings, allowedMcpServers }
}

/** Keys of `sandbox` by which an administrator keeps a list to themselves; each counts from nobody else. */
const managedLists = [
  { part: 'network', key: 'allowManagedDomainsOnly', list: 'allowedDomains' },
  { part: 'filesystem', key: 'allowManagedReadPathsOnly', list: 'allowRead' },
] as const

function withSandboxOf(settings: JsonObject, managed: readonly Layer[]): JsonObject {
  const own = merge(managed)
  const { allow = [] } = isObject(own['permissions']) ? own['permissions'] : {}
  const hosts = (allow as readonly string[]).flatMap((rule) => /^WebFetch\(domain:([^)]+)\)$/.exec(rule)?.[1] ?? [])
  let { sandbox } = settings
  for (const { part, key, list } of managedLists) {
    if (!isObject(sandbox) || !isObject(sandbox[part])) continue
    const { [key]: _, ...kept } = sandbox[part]
    const theirs = isObject(own['sandbox']) && isObject(own['sandbox'][part]) ? own['sandbox'][part] : {}
    const named = [...((theirs[list] as readonly string[] | undefined) ?? []), ...(part === 'network' ? hosts : [])]
    sandbox = { ...sandbox, [part]: theirs[key] === true ? { ...kept, [list]: named, [key]: true } : kept }
  }
  return isObject(sandbox) ? { ...settings, sandbox } : settings
}

/** What the sessions of a process share, opened: the database, the settings in force, the hook plane and the MCP servers. */
import { homedir } from 'node:os'
import { delimiter, dirname, resolve } from 'node:path'
import { hideCredentials, withOwnPath, withoutSecrets } from '../../auth/child-env.ts'
import { withholdStored } from '../../auth/login-store.ts'
import { createPlane } from '../../hooks/dispatch.ts'
import type { Handler, Wrap as HookWrap } from '../../hooks/handler.ts'
import type { Plane } from '../../hooks/plane.ts'
import { sayHookProblem } from '../../hooks/settings.ts'

import { packageRoot } from '../../package-root.ts'
import { builtinRules } from '../../permissions/rules/builtin-rules.ts'
import { ruleProblem } from '../../permissions/rules/rule.ts'
import { matchesRule } from '../../permissions/rules/rule-applies.ts'
import { enabledPlugins, hooksInForce } from '../../plugins/enabled.ts'
import type { Plugin } from '../../plugins/read-plugin.ts'
import { type Effort, efforts } from '../../providers/models/models.ts'
import type { Fence, FenceOptions } from '../../sandbox/fence.ts'
import type { AskHost } from '../../sandbox/network/prompts.ts'
import type { Wrap, wrapIn } from '../../sandbox/wrap.ts'

import { dbPath, openDb } from '../../store/open.ts'
import { governedMark } from '../../store/operator.ts'
import { storable } from '../../store/secrets.ts'
import { environment } from '../../store/settings/environment.ts'
import { hooksOf, loadSettings } from '../../store/settings/settings.ts'
import { trust } from '../../store/settings/trust.ts'
import { withTrace } from '../../store/telemetry.ts'
import { builtInTools } from '../../tools/all.ts'
import { ClaudeHooks } from '../claude-hooks/host.ts'
import { noSkills, skillCatalogue } from '../context/skill-catalogue.ts'
import type { AgentEvent } from '../events.ts'
import { askModel } from '../model/ask-model.ts'
import { protectedBy } from '../permission-question.ts'
import { type AgentKind, loadAgentKinds } from '../subagents/agent-definitions.ts'
import { mcpReports } from './mcp-reports.ts'
import { declaredServers, openMcp } from './mcp-servers.ts'
import type { Runtime } from './runtime.ts'
import type { Session } from './session.ts'
import type { StartOptions, StartProblem } from './start-options.ts'

export type Opened = {
  readonly runtime: Runtime
  readonly permissions: Session['permissions']
  readonly tell: readonly AgentEvent[]
  /** Files to watch besides those that hooks name while they run. */
  readonly watched: { readonly managed: readonly string[]; readonly names: readonly string[] }
  /** The session whose model answers prompt hooks. */
  use(session: Session): void
  /** The same hooks for one of several sessions at once, with handlers of its own before them. */
  planeFor(session: () => Session | undefined, own: readonly Handler[]): Plane
  cleanUp(): void
}

export function openSharedRuntime(options: StartOptions): Opened | StartProblem {
  const { cwd } = options
  hideCredentials()
  const home = options.env['HOME'] || homedir()
  const db = openDb(options.db ?? dbPath(options.env))
  const isRemembered = !options.trust || trust(cwd, { home })
  const loaded = loadSettings({
    db,
    cwd,
    home,
    env: options.env,
    checkRule: ruleProblem,
    builtinRules,
    flags: { ...options.settings, bare: options.bare === true, ...(options.trust && { trust: true }) },
  })
  if (loaded.problems.length > 0) {
    db.close()
    return { problem: loaded.problems.map(({ file, why }) => `${file}: ${why}`).join('\n') }
  }
  const { settings, trusted } = loaded
  const env = withTrace(environment(options.env, loaded))
  const tell: AgentEvent[] = loaded.warnings.map((text) => ({ type: 'notice', level: 'warning', text }))
  if (!isRemembered) tell.push({ type: 'notice', level: 'warning', text: trustedOnce })
  const hooks = hooksOf(loaded)
  const faults = hooks.problems.filter(({ level }) => level === 'error')
  if (faults.length > 0) {
    db.close()
    return { problem: faults.map(sayHookProblem).join('\n') }
  }
  for (const problem of hooks.problems) tell.push({ type: 'notice', level: 'warning', text: sayHookProblem(problem) })
  const mark = governedMark({ db: db.path, home, folder: cwd })
  const sources = options.settings?.sources
  const { plugins: given = [] } = options
  const enabled = enabledPlugins({ cwd, home, env, settings, managed: loaded.managed })
  if (enabled.problems.length > 0) {
    db.close()
    return { problem: enabled.problems.join('\n') }
  }
  // a folder that a flag names goes before an installed plugin of that name
  const plugins = [...enabled.plugins.filter(({ name }) => !given.some((each) => each.name === name)), ...given]
  for (const text of [...enabled.warnings, ...given.flatMap(({ warnings }) => warnings)])
    tell.push({ type: 'notice', level: 'warning', text })
  const pluginHooks = plugins.flatMap((plugin) => hooksInForce(plugin, loaded))
  let current: Session | undefined
  withholdStored(env)
  const closers: (() => void)[] = [() => db.close()]
  const place = { home, env, database: db.path, projectDir: cwd }
  const askHost: AskHost = async (host) =>
    current !== undefined && (await import('../sandbox-host.ts')).allowsHost(current, host)
  const asking = {
    ...(options.promptsForHosts && { askHost }),
    report: (text: string) => options.on({ type: 'notice', level: 'warning', text: `[sandbox] ${text}` }),
  }
  const testSandbox = lazyFence(settings.sandbox ?? {}, { ...place, ...asking }, closers)
  const sandbox = settings.sandbox?.enabled ? testSandbox : undefined
  const scope = () => ({
    permissions: current?.rules ?? settings.permissions ?? {},
    projectDir: current?.projectDir ?? cwd,
    home,
    protect: protectedBy({ settings, db, home, plugins }, cwd),
  })
  const wrap = sandbox && wrapWith(sandbox, scope)
  const claudeHooks = new ClaudeHooks({ db, home })
  closers.push(() => claudeHooks.close())
  const planeFor: Opened['planeFor'] = (session, own) =>
    createPlane([...own, ...hooks.handlers, ...pluginHooks], {
      env: { ...withOwnPath(env), ...mark },
      withhold: storable,
      ...(wrap && { wrap: wrap as HookWrap }),
      ...(loaded.hookFailure && { hookFailure: loaded.hookFailure }),
      claude: claudeHooks.forSession(session),
      matchesRule: (rule, tool, input) => {
        const here = session()?.cwd ?? cwd
        const question = { settings: {}, mode: 'default', hook: 'none', cwd: here, projectDir: cwd, home } as const
        return matchesRule(rule, { ...question, tool, input })
      },
      askModel: async ({ prompt, system, signal }) => {
        const asking = session()
        const answer = asking
          ? await askModel(asking, prompt, signal, system)
          : { ok: false, text: 'there is no session' }
        if (!answer.ok) throw new Error(answer.text)
        return answer.text
      },
    })
  /** Read when they are first asked for. */
  let agents: readonly AgentKind[] | undefined
  const agentKinds = () => {
    if (agents) return agents
    const places = { projectDir: cwd, home, trusted, bare: options.bare === true, sources, plugins }
    const { kinds, warnings } = loadAgentKinds(places, options.agents)
    for (const text of warnings) options.on({ type: 'notice', level: 'warning', text })
    agents = kinds
    return agents
  }
  const servers = {
    ...{ settings, trusted, cwd, home, db, user: options.user, openUrl: options.openUrl },
    env: { ...env, ...mark },
    ...{ flags: options.mcpConfig ?? [], strict: options.strictMcp === true, bare: options.bare === true, sources },
    session: () => current,
    ...(wrap && { wrap }),
  }
  const declared = options.withoutMcp ? { servers: [], problems: [] } : declaredServers(servers)
  for (const text of declared.problems) tell.push({ type: 'notice', level: 'warning', text })
  const allServers = {
    ...declared,
    servers: [...declared.servers, ...plugins.flatMap((plugin) => plugin.servers), ...(options.servers ?? [])],
  }
  const mcp = openMcp(servers, allServers, options.moreServers)
  if (mcp) closers.push(() => void mcp.close())
  const reportServers = mcp && mcpReports(mcp, () => current)
  const fallbackModels = options.fallbackModels ?? [settings.fallbackModel ?? []].flat()
  const mayOpen = !options.withoutMcp && !servers.strict
  const runtime: Runtime = {
    ...(mcp && { mcp }),
    ...(mayOpen && { openServers: (own, session) => openMcp({ ...servers, session }, { servers: own, problems: [] }) }),
    db,
    settings,
    plane: planeFor(() => current, options.handlers ?? []),
    handlers: [...hooks.handlers, ...pluginHooks],
    user: options.user,
    env,
    childEnv: { ...withPrograms(withoutSecrets(env), plugins), ...mark },
    home,
    startDir: cwd,
    ...(sandbox && { sandbox }),
    testSandbox,
    hookVariables: (session) => claudeHooks.prelude(session),
    get agents() {
      return agentKinds()
    },
    skills:
      options.bare || options.withoutSkills
        ? noSkills
        : skillCatalogue({
            home,
            projectDir: cwd,
            ...(sources && { sources }),
            plugins,
            ...(options.onlySkills && { only: options.onlySkills }),
            warn: (text) => options.on({ type: 'notice', level: 'warning', text }),
          }),
    trusted,
    bare: options.bare === true,
    ...(sources && { sources }),
    plugins,
    withoutTools: hidden(options),
    ...(options.maxBudgetUsd && { budget: { usd: options.maxBudgetUsd, spent: 0 } }),
    reasoning: { effort: effortOf(options, settings, env) },
    fallbackModels,
    ...(options.appendSystemPrompt && { appendSystemPrompt: options.appendSystemPrompt }),
    emit: (event) => options.on(event),
    spent: (model, usage, cost) => options.onUsage?.(model, usage, cost),
    modelFor: async (name) =>
      (await import('../model/choose-model.ts')).modelFor(name, options, {
        settings,
        env,
        trusted,
        closers,
        hasFallback: fallbackModels.length > 0,
      }),
  }
  const { permissions = {} } = settings
  const managedRulesOnly =
    settings.allowManagedPermissionRulesOnly === true || permissions.allowManagedPermissionRulesOnly === true
  return {
    runtime,
    permissions: {
      ...permissions,
      ...(managedRulesOnly && { allowManagedPermissionRulesOnly: true }),
      allow: [...(permissions.allow ?? []), ...(managedRulesOnly ? [] : (options.allow ?? []))],
      ask: [...(permissions.ask ?? []), ...(options.ask ?? [])],
      deny: [...(permissions.deny ?? []), ...(options.deny ?? [])],
      additionalDirectories: [
        ...(permissions.additionalDirectories ?? []),
        ...(options.addDirs ?? []).map((folder) => resolve(cwd, folder)),
      ],
    },
    tell,
    watched: {
      managed: loaded.sources.filter(({ level }) => level === 'managed').map(({ file }) => file),
      names: hooks.handlers.flatMap(({ event, matcher }) => (event === 'FileChanged' ? plainNames(matcher) : [])),
    },
    use: (session) => {
      current = session
      reportServers?.()
    },
    planeFor,
    cleanUp: () => {
      for (const close of closers.splice(0).reverse()) close()
    },
  }
}

/** Their programs come last on the PATH: none takes the place of a program of the system's. */
function withPrograms(env: NodeJS.ProcessEnv, plugins: readonly Plugin[]): NodeJS.ProcessEnv {
  const folders = plugins.flatMap(({ bin }) => bin ?? [])
  return folders.length > 0 ? { ...env, PATH: [env['PATH'] ?? '', ...folders].join(delimiter) } : env
}

/** For hooks and servers that ask for a sandbox: under the rules of the session. */
const wrapWith =
  (sandbox: () => Promise<Fence>, scope: Parameters<typeof wrapIn>[1]): Wrap =>
  async (words, place) => {
    const wrap = await import('../../sandbox/wrap.ts')
    return wrap.wrapIn(await sandbox(), scope)(words, place)
  }

/** Nothing of the sandbox is loaded before a command needs it. */
function lazyFence(
  settings: NonNullable<Runtime['settings']['sandbox']>,
  place: Pick<FenceOptions, 'home' | 'env' | 'database' | 'projectDir' | 'askHost' | 'report'>,
  closers: (() => void)[],
): () => Promise<Fence> {
  let fence: Promise<Fence> | undefined
  const make = async () => {
    const { Fence } = await import('../../sandbox/fence.ts')
    const made = new Fence({ ...place, settings, programs: [dirname(dirname(process.execPath)), packageRoot] })
    closers.push(() => made.close())
    return made
  }
  return () => {
    fence ??= make()
    return fence
  }
}

/** The flag, then the environment, then the settings. */
function effortOf({ effort }: StartOptions, settings: Runtime['settings'], env: NodeJS.ProcessEnv): Effort | undefined {
  return effort ?? efforts.find((level) => level === env['CLAUDE_CODE_EFFORT_LEVEL']) ?? settings.effortLevel
}

/** A bare name in the deny list hides the tool; `tools` leaves only those named. */
function hidden({ deny = [], tools }: StartOptions): string[] {
  const bare = deny.filter((rule) => !rule.includes('('))
  if (!tools || tools.includes('default')) return bare
  return [...bare, ...builtInTools.map((tool) => tool.name).filter((name) => !tools.includes(name))]
}

/** A matcher of FileChanged that is a list of plain names watches them in the project: `.env|package.json`. */
const plainNames = (matcher: string): string[] =>
  matcher
    .replaceAll('\\.', '.')
    .split('|')
    .filter((name) => /^[\w.-]+$/.test(name))

const trustedOnce = 'this folder holds your home folder, so it is trusted for this run alone'

/** Control requests of the host, one row each. A request that is not in the table is answered with an error. */
import { saveModel } from '../../agent/model/saved-model.ts'
import type { PermissionMode } from '../../hooks/plane.ts'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { notKnown } from '../../hooks/text/nearest.ts'
import { version } from '../../package-root.ts'
import { modeInForce, modes } from '../../permissions/modes.ts'
import { modelList } from '../model-list.ts'
import type { Answer, Control, Host } from './control.ts'
import { commandsOf, initialized } from './initialize.ts'
import { mcpControls } from './mcp-controls.ts'

export async function answerControl(host: Host, id: string, request: JsonObject): Promise<object> {
  const subtype = String(request['subtype'])
  let answer: Answer
  try {
    answer = Object.hasOwn(controls, subtype)
      ? await controls[subtype]!(host, request)
      : { error: `${subtype} is not supported` }
  } catch (cause) {
    answer = { error: `${subtype} failed: ${(cause as Error).message}` }
  }
  return controlResponse(id, answer)
}

export function controlResponse(id: string, answer: Answer): object {
  const response =
    'error' in answer && typeof answer.error === 'string'
      ? { subtype: 'error', request_id: id, error: answer.error }
      : { subtype: 'success', request_id: id, response: answer }
  return { type: 'control_response', response }
}

const controls: Record<string, Control> = {
  ...mcpControls,

  /** Sent again by a host that has lost track. Its hooks are in force already, and stay as they are. */
  initialize: async ({ session }, { hooks }) =>
    initialized(session, hooks === undefined ? {} : { hooks_applied: false }),

  interrupt({ session }) {
    if (session.busy) session.interrupt()
    return { still_queued: [] }
  },

  set_permission_mode(host, { mode }) {
    const chosen = mode === 'manual' ? 'default' : mode
    if (!modes.includes(chosen as PermissionMode))
      return { error: `the mode ${typeof mode === 'string' ? notKnown(mode, modes) : 'is missing'}` }
    if (chosen === 'bypassPermissions' && !host.mayBypass)
      return { error: 'bypassPermissions needs --allow-dangerously-skip-permissions at start' }
    if (modeInForce(chosen as PermissionMode, host.session.permissions) !== chosen)
      return { error: `the settings forbid the mode ${chosen}` }
    host.session.mode = chosen as PermissionMode
    host.pipe.write({ type: 'system', subtype: 'status', status: null, permissionMode: chosen, ...host.stamp() })
    return { mode: chosen as string }
  },

  async set_model({ session }, { model }) {
    const wanted = typeof model === 'string' && model !== 'default' ? model : ''
    const chosen = await session.runtime.modelFor(wanted)
    if ('problem' in chosen) return { error: chosen.problem }
    session.model = chosen
    saveModel(session, chosen)
    return { model: chosen.wireModel }
  },

  /** The default is what there is; a budget of the host's own cannot be kept. */
  set_max_thinking_tokens: (_, { max_thinking_tokens: most }) =>
    typeof most === 'number' && most > 0 ? { error: 'a thinking budget cannot be set while a session runs' } : {},

  async apply_flag_settings(host, { settings }) {
    if (!isObject(settings)) return { error: 'settings must be an object' }
    const { model, permissions, outputStyle, ...others } = settings
    const unknown = Object.keys(others).find((key) => others[key] !== null)
    if (unknown) return { error: `apply_flag_settings: ${unknown} cannot be changed while a session runs` }
    if (outputStyle !== undefined)
      return { error: 'apply_flag_settings: outputStyle takes effect in a new session; pass it with --settings' }
    if (model !== undefined) {
      const set = await controls['set_model']!(host, { model })
      if ('error' in set) return set
    }
    return isObject(permissions) ? applyRules(host, permissions) : {}
  },

  async get_context_usage({ session }) {
    const { contextUsage } = await import('../../agent/context/context-usage.ts')
    const { window, used, parts } = await contextUsage(session)
    const { instructionFiles } = await import('../../agent/context/instructions.ts')
    const tokensIn = (ids: readonly string[]) =>
      parts.filter(({ id }) => ids.includes(id)).reduce((sum, { tokens }) => sum + tokens, 0)
    const row = (id: string, name: string, tokens: number, kind = 'used') => ({ id, name, tokens, color: '', kind })
    return {
      categories: [
        row('system_prompt', 'System prompt', tokensIn(['system_prompt'])),
        row('system_tools', 'Tools', tokensIn(['tools'])),
        row('messages', 'Messages', tokensIn(['user', 'assistant', 'tool_results'])),
        row('free_space', 'Free space', Math.max(0, window - used), 'free'),
      ],
      totalTokens: used,
      maxTokens: window,
      rawMaxTokens: window,
      percentage: Math.round((used / window) * 100),
      gridRows: [],
      model: session.model.wireModel,
      memoryFiles: instructionFiles(session).map(({ file_path, memory_type, text }) => ({
        path: file_path,
        type: memory_type,
        tokens: Math.ceil(text.length / 4),
      })),
      mcpTools: [],
      agents: [],
      isAutoCompactEnabled: !session.runtime.env['DISABLE_AUTO_COMPACT'],
      messageBreakdown: {
        toolCallTokens: 0,
        toolResultTokens: tokensIn(['tool_results']),
        attachmentTokens: 0,
        assistantMessageTokens: tokensIn(['assistant']),
        userMessageTokens: tokensIn(['user']),
        redirectedContextTokens: 0,
        unattributedTokens: 0,
        toolCallsByType: [],
        attachmentsByType: [],
      },
      apiUsage: null,
    }
  },

  rewind_files: (host, { user_message_id: id, dry_run: dryRun }) =>
    host.rewind(String(id), dryRun === true) as unknown as Answer,

  async stop_task({ session }, { task_id: id }) {
    const stopped = await session.tasks.stop(String(id))
    return stopped ? {} : { error: `there is no task ${id}` }
  },

  async get_task_output({ session }, { task_id: id }) {
    const task = session.tasks.list().find((each) => each.id === String(id))
    return task ? ({ task } as unknown as JsonObject) : { error: `there is no task ${id}` }
  },

  async reload_plugins(host) {
    const status = await mcpControls['mcp_status']!(host, {})
    const { runtime } = host.session
    return {
      commands: commandsOf(host.session),
      agents: runtime.agents.map(({ name, description }) => ({ name, description })),
      plugins: (runtime.plugins ?? []).map(({ name, root }) => ({ name, path: root })),
      mcpServers: (status as JsonObject)['mcpServers'],
      error_count: 0,
    }
  },

  reload_skills: ({ session }) => ({ skills: commandsOf(session) }),

  get_settings({ session }) {
    const { hooks, ...effective } = session.runtime.settings as JsonObject
    return { effective, sources: [], applied: { model: session.model.wireModel } }
  },

  list_permission_rules({ session }) {
    const { allow = [], ask = [], deny = [], additionalDirectories = [] } = session.rules
    const entries = Object.entries({ allow, ask, deny })
    return {
      rules: entries.flatMap(([behavior, rules]) => rules.map((rule) => ({ behavior, rule }))),
      workspaceDirectories: [session.cwd, ...additionalDirectories].map((path) => ({ path })),
      originalCwd: session.projectDir,
      managedOnly: session.rules.allowManagedPermissionRulesOnly === true,
    }
  },

  list_models: async ({ session }) => ({ models: await modelList(session) }),

  get_session_cost: ({ session }) => ({
    total_cost_usd: session.spent.unpriced ? null : session.spent.costUsd,
    text: session.spent.unpriced ? 'unknown' : `$${session.spent.costUsd.toFixed(4)}`,
  }),

  get_binary_version: () => ({ version: version() }),

  async rename_session({ session }, { title }) {
    if (typeof title !== 'string' || title.trim() === '') return { error: 'title is missing' }
    const { setState } = await import('../../store/state.ts')
    setState(session.db, session.conversationId, 'name', title)
    return {}
  },

  /** The host knows the file from an earlier read. */
  async seed_read_state({ session }, { path, mtime }) {
    if (typeof path !== 'string') return { error: 'path is missing' }
    const { statOf } = await import('../../files/plain-file.ts')
    const stat = statOf(path)
    if (!stat || Math.floor(stat.mtimeMs) > Number(mtime)) return { error: `${path} has changed since; read it again` }
    session.seenFiles.set(path, { mtimeMs: stat.mtimeMs, size: stat.size, whole: true })
    return {}
  },

  /** About the host's own display. */
  set_color: () => ({}),
  set_has_subscribers: () => ({}),
  cancel_async_message: () => ({ cancelled: false }),
}

function applyRules({ session }: Host, permissions: JsonObject): Answer {
  const { allow, ask, deny, defaultMode, ...others } = permissions
  const unknown = Object.keys(others)[0]
  if (unknown) return { error: `apply_flag_settings: permissions.${unknown} cannot be changed while a session runs` }
  if (defaultMode !== undefined) return { error: 'apply_flag_settings: use set_permission_mode for the mode' }
  const more = (list: unknown) => (Array.isArray(list) ? list.map(String) : [])
  const { permissions: now } = session
  session.permissions = {
    ...now,
    allow: [...(now.allow ?? []), ...more(allow)],
    ask: [...(now.ask ?? []), ...more(ask)],
    deny: [...(now.deny ?? []), ...more(deny)],
  }
  return {}
}

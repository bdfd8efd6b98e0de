/** What a status line command reads on stdin. */

import { getState } from '../../../store/state.ts'
import type { Conversation } from '../../session/conversation.ts'
import { cost } from '../../session/usage-facts.ts'

export function statusInput({ session, facts }: Conversation, version: string, vimMode: string | undefined): object {
  const { model } = session
  const last = facts.lastUsage
  const input = (last?.inputTokens ?? 0) + (last?.cacheReadTokens ?? 0) + (last?.cacheWriteTokens ?? 0)
  const used = Math.round((input / model.window) * 100)
  return {
    hook_event_name: 'Status',
    cwd: session.cwd,
    session_id: session.id,
    session_name: getState(session.db, session.conversationId, 'name') ?? undefined,
    conversation_id: session.conversationId,
    runtime_db_path: session.db.path,
    phase: session.phase,
    permission_mode: session.mode,
    model: { id: model.wireModel, display_name: model.displayName ?? (model.modelId || model.wireModel) },
    workspace: {
      current_dir: session.cwd,
      project_dir: session.projectDir,
      added_dirs: session.permissions.additionalDirectories ?? [],
    },
    version,
    output_style: { name: session.runtime.settings.outputStyle ?? 'default' },
    cost: {
      total_cost_usd: cost(facts),
      total_duration_ms: Date.now() - facts.startedAt,
      total_api_duration_ms: facts.apiMs,
      total_lines_added: facts.linesAdded,
      total_lines_removed: facts.linesRemoved,
    },
    context_window: {
      total_input_tokens: session.spent.inputTokens,
      total_output_tokens: session.spent.outputTokens,
      context_window_size: model.window,
      used_percentage: used,
      remaining_percentage: 100 - used,
      current_usage: last && {
        input_tokens: last.inputTokens ?? 0,
        output_tokens: last.outputTokens ?? 0,
        cache_creation_input_tokens: last.cacheWriteTokens ?? 0,
        cache_read_input_tokens: last.cacheReadTokens ?? 0,
      },
    },
    exceeds_200k_tokens: input > 200_000,
    ...(vimMode && { vim: { mode: vimMode.toUpperCase() } }),
  }
}

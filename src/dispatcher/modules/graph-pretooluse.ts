/** graph-pretooluse: stops searches that would read everything. Reads nothing, and looks only at the call. */

import { searchKeys, textAt } from '../host/tools.ts'
import { isRepoWide } from '../rules/glob.ts'
import { unboundedRead } from '../rules/terminal.ts'
import { normalisePath } from '../session/paths.ts'
import type { Context, HookAction, HookModule } from '../types.ts'

type Rule =
  | 'grep-no-include'
  | 'grep-ignored-files'
  | 'grep-max-results'
  | 'file-search-wildcard'
  | 'terminal-recursive'

export const hook: HookModule = {
  name: 'graph-pretooluse',
  supports: new Set(['PreToolUse'] as const),
  priority: 10,
  hotPathSafe: true,
  critical: true,
  handle(_eventName, ctx): HookAction | undefined {
    const { event, config } = ctx
    if (event.tool === undefined) return undefined
    const modes = (config['rules'] ?? {}) as Record<string, unknown>
    const off = (rule: Rule) => modes[rule] === 'off'
    for (const [rule, reason] of hits(ctx)) {
      if (off(rule)) continue
      const mode = modes[rule] === 'warn' || modes[rule] === 'deny' ? modes[rule] : 'ask'
      const decision = mode === 'warn' ? 'allow' : mode
      const kind = mode === 'deny' ? 'UNBOUNDED_GREP_DENY' : 'UNBOUNDED_GREP_WARN'
      return {
        decision,
        ...(decision !== 'allow' && { denyReason: reason }),
        warnings: [reason],
        emitEvents: [{ kind, toolName: event.toolName, decision, reason, data: { rule, mode } }],
      }
    }
    return { decision: 'allow' }
  },
}

/** The rules a call breaks, in order. */
function* hits(ctx: Context): Generator<[Rule, string]> {
  const { event, config, state, paths } = ctx
  const input = event.toolInput ?? {}
  const keys = searchKeys(event)
  if (event.tool === 'grep_search') {
    const include = textAt(input, keys.include)
    const folder = textAt(input, 'path')
    const bounded =
      !isRepoWide(include) || (folder !== '' && !isWhole(folder, paths.repoRoot)) || textAt(input, 'type') !== ''
    const planWillBound = config['deferGuard'] === true && state.plan?.status === 'accepted'
    if (!bounded && !planWillBound)
      yield ['grep-no-include', `this search covers the whole repository; set ${keys.include} to the part that matters`]
    if (input['includeIgnoredFiles'] === true)
      yield ['grep-ignored-files', 'this search reads ignored files too; leave includeIgnoredFiles out']
    const limit = typeof config['maxResults'] === 'number' ? config['maxResults'] : 500
    if (typeof input['maxResults'] === 'number' && input['maxResults'] > limit)
      yield ['grep-max-results', `maxResults is ${input['maxResults']}; at most ${limit} is useful`]
  }
  if (event.tool === 'file_search') {
    const query = textAt(input, keys.query)
    const folder = textAt(input, 'path')
    if (query !== '' && isRepoWide(query) && (folder === '' || isWhole(folder, paths.repoRoot)))
      yield ['file-search-wildcard', `the pattern ${query.trim()} matches every file; name a folder or an extension`]
  }
  if (event.tool === 'run_in_terminal') {
    const start = textAt(input, 'cwd') || event.cwd || paths.repoRoot
    const read = unboundedRead(textAt(input, 'command'), start, paths.repoRoot)
    if (read)
      yield ['terminal-recursive', `"${read.slice(0, 120)}" walks the whole repository or more; name a folder in it`]
  }
}

const isWhole = (folder: string, repoRoot: string): boolean => {
  const { path, outside } = normalisePath(folder, repoRoot)
  return (
    path === '.' || (outside && `${repoRoot.replaceAll('\\', '/')}/`.startsWith(path.endsWith('/') ? path : `${path}/`))
  )
}

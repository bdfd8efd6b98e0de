// @ts-check
/**
 * migration-guard: asks before a migration is edited.
 * @type {import('ona/dispatcher').HookModule}
 */
const hook = {
  name: 'migration-guard',
  supports: new Set(['PreToolUse']),
  priority: 200,
  hotPathSafe: true, // false: not asked on PreToolUse
  critical: false, // true: its failure denies the call

  handle(_eventName, ctx) {
    const touched = ctx.event.paths.find((path) => path.startsWith('migrations/'))
    if (!touched) return undefined
    return { decision: 'ask', denyReason: `${touched} is a migration: is this meant?` }
  },
}

export default hook

import { dropInOverrides, managedSettings } from '../claudecode/managed.ts'
import { type Managed, ownFile } from '../managed.ts'

const folder = { linux: '/etc/ona', darwin: '/Library/Application Support/Ona' }

export const onaManaged: Managed = {
  holds: 'rules hold, and so do hooks',
  files(policy, place) {
    // ona applies the rules itself; the guard would say the same a second time
    const { hooks, ...settings } = managedSettings(policy, place, 'ona', {})
    const own = Object.fromEntries(
      Object.entries(hooks).map(([event, groups]) => [event, event === 'PreToolUse' ? groups.slice(1) : groups]),
    )
    const kept = Object.fromEntries(Object.entries(own).filter(([, groups]) => groups.length > 0))
    const text = JSON.stringify({ ...settings, ...(Object.keys(kept).length > 0 && { hooks: kept }) }, null, 2)
    return [ownFile(`${folder[place.platform]}/managed-settings.d/50-ona.json`, `${text}\n`)]
  },
  support: () => ({ how: 'native' }),
  overrides: (seen) => dropInOverrides(seen, folder[seen.platform]),
}

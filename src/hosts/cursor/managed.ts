/** Cursor's enterprise hooks (cursor.com/docs/hooks); from its documentation, not tried with the program. */
import { managedHooks } from '../config/managed-hooks.ts'
import { appendTo, jsonFile, looseJson, type Managed, notOwned, type RuleSupport } from '../managed.ts'
import { cursorEvents } from './events.ts'

const file = { linux: '/etc/cursor/hooks.json', darwin: '/Library/Application Support/Cursor/hooks.json' }

export const cursorManaged: Managed = {
  holds: 'hooks hold by its documentation; not tried',
  files({ hooks }, place) {
    const path = file[place.platform]
    const lists = managedHooks(
      { events: cursorEvents, unitMs: 1000, groups: false, refusing: { failClosed: true } },
      hooks,
      place,
      'cursor',
    )
    return [
      jsonFile(path, (edit, value) => {
        if (value['version'] === undefined) edit.set(['version'], 1)
        for (const [event, entries] of Object.entries(lists)) appendTo(edit, value, ['hooks', event], entries, path)
      }),
    ]
  },
  support: ({ behavior, mcp }): RuleSupport =>
    mcp && !mcp.tool
      ? { how: 'cannot', why: 'it names an MCP tool without its server' }
      : behavior === 'allow'
        ? { how: 'cannot', why: 'only its team console can allow' }
        : { how: 'hook' },
  overrides(seen) {
    const path = file[seen.platform]
    const { version } = looseJson(seen.machine(path))
    // hooks of users and repositories run beside these, which have the last word
    return [
      ...(typeof version === 'number' ? [] : [`${path} has no version number, so Cursor rejects it`]),
      ...notOwned(seen, [path]),
    ]
  },
}

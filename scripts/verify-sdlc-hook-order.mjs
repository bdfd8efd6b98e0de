// Proves that the 27 events stand in the order of the specification's stdin union (spec 003, §3 and appendix A), in the
// table that everything is made from and in the schema that is shipped. Runs on any Node: node scripts/verify-sdlc-hook-order.mjs
import { readFileSync } from 'node:fs'

const expected = [
  ...['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PermissionDenied', 'Notification', 'UserPromptSubmit'],
  ...['SessionStart', 'SessionEnd', 'Stop', 'StopFailure', 'SubagentStart', 'SubagentStop', 'PreCompact'],
  ...['PostCompact', 'PermissionRequest', 'Setup', 'TeammateIdle', 'TaskCreated', 'TaskCompleted', 'Elicitation'],
  ...['ElicitationResult', 'ConfigChange', 'InstructionsLoaded', 'WorktreeCreate', 'WorktreeRemove', 'CwdChanged'],
  'FileChanged',
]
const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

const table = read('src/hooks/events.ts').match(/export const events = \{\n(.*?)\n\} as const/s)?.[1] ?? ''
const schema = JSON.parse(read('schemas/hook-input.schema.json'))
const places = {
  'src/hooks/events.ts': [...table.matchAll(/^ {2}(\w+): row\(/gm)].map(([, name]) => name),
  'schemas/hook-input.schema.json': schema.anyOf.map(({ $ref }) => $ref.split('/').at(-1)),
}

let failed = false
for (const [place, found] of Object.entries(places)) {
  const at = expected.findIndex((name, index) => found[index] !== name)
  if (at < 0 && found.length === expected.length) console.log(`${place}: ${found.length} events in order`)
  else {
    failed = true
    const where = at < 0 ? expected.length : at
    console.error(`${place}: event ${where} is ${found[where] ?? 'missing'}, not ${expected[where] ?? 'the end'}`)
  }
}
process.exit(failed ? 1 : 0)

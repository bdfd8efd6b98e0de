/** Writes schemas/: the JSON Schema of everything that crosses the wire. A test fails when they are not up to date. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { schemas as dispatcherSchemas } from '../src/dispatcher/setup/schemas.ts'
import { eventNames, eventShape } from '../src/hooks/events.ts'
import type { JsonSchema } from '../src/hooks/shape.ts'
import { envelopeShape, verdictShape } from '../src/hooks/step/table.ts'
import { stepNames } from '../src/hooks/steps.ts'
import { outputShape } from '../src/hooks/wire/output.ts'
import { permissionUpdate } from '../src/hooks/wire/permission-update.ts'
import { hooksShape } from '../src/hooks/wire/settings-shape.ts'
import { scriptSchema } from '../src/rehearsal/script.ts'
import { settingsShape } from '../src/store/settings/settings-shape.ts'

/** The text of each file, by its path. */
export function schemaFiles(): Record<string, string> {
  const header = { session_id: { type: 'string' }, cwd: { type: 'string' }, hook_event: { type: 'string' } }
  return {
    'schemas/hook-input.schema.json': union(
      'What a hook of an event reads on stdin, by event, in the order of the specification.',
      eventNames.map((name) => [name, named(eventShape(name).schema(), 'hook_event_name', name)]),
    ),
    'schemas/hook-output.schema.json': union(
      'What a hook of an event may print on stdout, by event.',
      eventNames.map((name) => [name, outputShape(name).schema()]),
    ),
    'schemas/step-input.schema.json': union(
      'What a hook of a step reads on stdin, by step.',
      stepNames.map((name) => {
        const { properties, required, ...rest } = envelopeShape(name).schema()
        const all = { ...header, ...(properties as object) }
        return [name, named({ ...rest, properties: all, required: Object.keys(all) }, 'hook_event', name)]
      }),
    ),
    'schemas/step-verdict.schema.json': union(
      'What a hook of a step may print on stdout, by step.',
      stepNames.map((name) => [name, verdictShape(name).schema()]),
    ),
    'schemas/permission-update.schema.json': text('A change to permissions.', permissionUpdate.schema()),
    'schemas/settings.schema.json': text('The settings of ona: settings.json, settings.local.json.', {
      ...settingsShape.schema(),
      properties: { ...(settingsShape.schema().properties as object), hooks: hooksShape.schema() },
    }),
    'schemas/rehearsal.schema.json': text('A script for ona rehearse.', scriptSchema),
    ...Object.fromEntries(
      Object.entries(dispatcherSchemas).map(([name, schema]) => [
        `schemas/dispatcher/${name}.schema.json`,
        `${JSON.stringify(schema, null, 2)}\n`,
      ]),
    ),
  }
}

const named = (schema: JsonSchema, field: string, name: string): JsonSchema => ({
  ...schema,
  properties: { ...(schema.properties as object), [field]: { const: name } },
})

const union = (title: string, parts: [string, JsonSchema][]): string =>
  text(title, {
    anyOf: parts.map(([name]) => ({ $ref: `#/$defs/${name}` })),
    $defs: Object.fromEntries(parts),
  })

const text = (title: string, schema: JsonSchema): string =>
  `${JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', title, ...schema }, null, 2)}\n`

if (import.meta.main) {
  for (const [path, content] of Object.entries(schemaFiles())) {
    const file = join(import.meta.dirname, '..', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
}

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { schemaFiles } from '../../scripts/schemas.ts'

const root = join(import.meta.dirname, '../..')

test('the schemas are those that the tables give: npm run schemas writes them', () => {
  const files = schemaFiles()
  for (const [path, text] of Object.entries(files)) assert.equal(readFileSync(join(root, path), 'utf8'), text, path)
  const there = readdirSync(join(root, 'schemas'), { recursive: true, encoding: 'utf8' })
  assert.deepEqual(
    there.filter((name) => name.endsWith('.json')).sort(),
    Object.keys(files)
      .map((path) => path.replace('schemas/', ''))
      .sort(),
  )
})

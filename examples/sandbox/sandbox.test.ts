import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ruleProblem } from '../../src/permissions/rules/rule.ts'
import { profileOf } from '../../src/sandbox/profile.ts'
import { checkLayer } from '../../src/store/settings/settings-check.ts'

const read = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8'))
const profile = (name: string) => {
  const { sandbox, permissions } = read(name)
  return profileOf({ sandbox, permissions, projectDir: '/w', cwd: '/w', home: '/home/ada' })
}

for (const name of ['npm-project.json', 'review-only.json'])
  test(`${name} has no key that ona does not know`, () => {
    const { problems, warnings, unknown } = checkLayer({ level: 'project', settings: read(name) }, ruleProblem)
    assert.deepEqual({ problems, warnings, unknown }, { problems: [], warnings: [], unknown: [] })
  })

test('the policies mean what the page says', () => {
  const npm = profile('npm-project.json')
  assert.deepEqual(
    [npm.noRead, npm.noWrite].map((list) => list.map(({ paths }) => paths)),
    [[['/w/private']], [['/w/migrations']]],
  )
  assert.deepEqual(
    npm.network.allowed.map(({ host }) => host),
    ['registry.npmjs.org'],
  )
  const review = profile('review-only.json')
  assert.deepEqual(
    review.noWrite.map(({ paths }) => paths),
    [['/w']],
  )
  assert.deepEqual(
    review.network.denied.map(({ host }) => host),
    ['*'],
  )
})

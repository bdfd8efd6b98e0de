import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { testSession } from '../../../test/support/agent-session.ts'
import { expandPrompt } from './expand.ts'
import { skillCatalogue } from './skill-catalogue.ts'
import { loadSkill } from './skills.ts'

/** A session with one skill of the project's. */
function withSkill(text: string, { trusted = true, script = [] as string[] } = {}) {
  const here = testSession({ script })
  const folder = join(here.folder, '.ona/skills/it')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'SKILL.md'), text)
  const places = { home: join(here.folder, 'nobody'), projectDir: here.folder }
  const skills = skillCatalogue({ ...places, warn: (why) => assert.fail(why) })
  Object.assign(here.session.runtime, { skills, trusted })
  return here
}

test('a skill that a user calls after an interrupt runs what it embeds', async (t) => {
  const here = withSkill('---\nallowed-tools: Bash(echo *)\n---\nNow: !`echo on`')
  t.after(() => here.end())
  here.session.interrupt()
  const expanded = await expandPrompt(here.session, '/it')
  assert.equal(expanded.ok, true, JSON.stringify(expanded))
  assert.match(JSON.stringify(expanded), /Now: on/)
})

test('a forking skill that a user calls is answered by its sub-agent', async (t) => {
  const here = withSkill('---\ncontext: fork\nallowed-tools: Bash\n---\nLook around.', { script: ['Seen it all.'] })
  t.after(() => here.end())
  here.session.interrupt()
  const expanded = await expandPrompt(here.session, '/it')
  assert.match(JSON.stringify(expanded), /Seen it all\./)
  assert.deepEqual(here.session.granted, [])
})

test("a skill of a folder that nobody trusts brings no rules and no model, and reads by the session's rules alone", async (t) => {
  const here = withSkill('---\nallowed-tools: Bash\nmodel: another\n---\nHello.', { trusted: false })
  t.after(() => here.end())
  const own = here.session.model
  assert.equal((await loadSkill(here.session, 'it', '')).ok, true)
  assert.deepEqual([here.session.granted, here.session.model === own], [[], true])
})

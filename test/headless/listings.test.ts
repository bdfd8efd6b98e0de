/** Skills and agents in the request: few are described, many are left for ToolSearch. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, testModel } from '../support/model/model.ts'
import { type Place, place } from '../support/program.ts'

function addMany(at: Place, count: number): void {
  for (let n = 0; n < count; n++) {
    const head = (what: string) =>
      `---\nname: ${what}-${n}\ndescription: ${what} number ${n}, for ${'many things '.repeat(4)}\n---\n`
    at.write(`.ona/skills/skill-${n}/SKILL.md`, `${head('skill')}Follow step ${n}.\n`)
    at.write(`.ona/agents/agent-${n}.md`, `${head('agent')}You are agent ${n}.\n`)
  }
}
const size = (chat: unknown) => JSON.stringify(chat).length
const words = ['-p', 'go', '--trust']

test('many skills and agents add little to a request, and are found and used all the same', async (t) => {
  const few = place(t)
  addMany(few, 3)
  const plain = await testModel(t)
  await few.run(words, { env: plain.env })
  assert.match(JSON.stringify(plain.chats[0]), /- skill-2: skill number 2.*/)
  assert.match(JSON.stringify(plain.chats[0]), /- agent-2: agent number 2.*/)

  const many = place(t)
  addMany(many, 300)
  const model = await testModel(t, [call('ToolSearch', { query: '+skill-271' }), call('Skill', { skill: 'skill-271' })])
  const { code } = await many.run(words, { env: model.env })
  assert.equal(code, 0)
  const [first, second, third] = model.chats
  assert.ok(size(first) < size(plain.chats[0]) + 20_000, `${size(first)} against ${size(plain.chats[0])}`)
  assert.match(JSON.stringify(second!.messages.at(-1)), /skill skill-271: skill number 271/)
  assert.match(JSON.stringify(third!.messages.at(-1)), /Follow step 271/)
  // what was sent once is sent again as it was, so that caches hold
  assert.deepEqual(second!.messages.slice(0, first!.messages.length), first!.messages)
  assert.deepEqual(second!.tools, first!.tools)
})

test('ENABLE_TOOL_SEARCH=false describes them all', async (t) => {
  const at = place(t)
  addMany(at, 150)
  const model = await testModel(t)
  await at.run(words, { env: { ...model.env, ENABLE_TOOL_SEARCH: 'false' } })
  assert.match(JSON.stringify(model.chats[0]), /- skill-149: skill number 149/)
})

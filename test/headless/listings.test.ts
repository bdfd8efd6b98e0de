/** Skills and agents in the request: few are described, many are left for ToolSearch. */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { call, testModel } from '../support/model/model.ts'
import { type Place, place } from '../support/program.ts'

const server = join(import.meta.dirname, '../../src/mcp/fixtures/listed.mjs')

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

test("many tools of servers are sent by server and number where even their names take much of the model's window", async (t) => {
  const at = place(t)
  const list = join(at.folder, 'list.json')
  const config = { mcpServers: { depot: { command: process.execPath, args: [server, list, join(at.folder, 'log')] } } }
  const first = async (count: number) => {
    const tools = Array.from({ length: count }, (_, n) => ({
      ...{ name: `number_${n}_of_the_depot`, description: 'many things '.repeat(20), inputSchema: { type: 'object' } },
    }))
    at.write('list.json', JSON.stringify({ version: '1', tools }))
    const model = await testModel(t, [call('ToolSearch', { query: '+number_71' }), call('mcp__depot__none', {})])
    await at.run(['-p', 'go', '--mcp-config', JSON.stringify(config)], { env: model.env })
    return model.chats
  }
  const [named] = await first(100)
  assert.match(
    JSON.stringify(named),
    /how to call these: mcp__depot__number_0_of_the_depot, .*mcp__depot__number_99_of/,
  )
  rmSync(join(at.folder, '../home/.ona'), { recursive: true })
  const [numbered, found, last] = await first(500)
  assert.match(
    JSON.stringify(numbered),
    /finds tools by keywords, and tells you how to call them: mcp__depot__… \(500\)/,
  )
  assert.ok(size(numbered) < size(named), `${size(numbered)} against ${size(named)}`)
  assert.match(JSON.stringify(found!.messages.at(-1)), /Loaded mcp__depot__number_71_of_the_depot:/)
  assert.ok(size(last!.messages.at(-1)) < 2_000, JSON.stringify(last!.messages.at(-1)))
})

test('ENABLE_TOOL_SEARCH=false describes them all', async (t) => {
  const at = place(t)
  addMany(at, 150)
  const model = await testModel(t)
  await at.run(words, { env: { ...model.env, ENABLE_TOOL_SEARCH: 'false' } })
  assert.match(JSON.stringify(model.chats[0]), /- skill-149: skill number 149/)
})

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../../test/support/any-text.ts'
import { createConversation } from './conversations.ts'
import { deleteMemory, listMemories, searchMemories, writeMemory } from './memories.ts'
import { openDb } from './open.ts'
import { approvedPlan, approvePlan, completePlan, draftPlan, listPlans, supersedePlan } from './plans.ts'
import { addRating, lastRating } from './ratings.ts'
import { getSummary, saveSummary } from './session/summaries.ts'
import { allState, deleteState, getState, setState } from './state.ts'

function conversation(t: TestContext) {
  const place = mkdtempSync(join(tmpdir(), 'ona-records-'))
  const db = openDb(join(place, 'agent.db'))
  t.after(() => {
    db.close()
    rmSync(place, { recursive: true })
  })
  return { db, conversationId: createConversation(db, { projectDir: '/' }).id }
}

test('one plan is in force: approving a draft supersedes the plan before it', (t) => {
  const { db, conversationId } = conversation(t)
  const states = () => listPlans(db, conversationId).map(({ status }) => status)
  const first = draftPlan(db, { conversationId, content: '# one' })
  assert.equal(first.hash, createHash('sha256').update('# one').digest('hex'))
  const second = draftPlan(db, { conversationId, content: '# two', filePath: '/plans/two.md' })
  assert.deepEqual(states(), ['superseded', 'draft'])
  assert.equal(approvePlan(db, first.id), undefined, 'only a draft can be approved')
  assert.equal(approvePlan(db, second.id)!.status, 'approved')
  const third = draftPlan(db, { conversationId, content: '# three' })
  assert.deepEqual([states(), approvedPlan(db, conversationId)!.id], [['superseded', 'approved', 'draft'], second.id])
  approvePlan(db, third.id)
  assert.deepEqual(
    [states(), approvedPlan(db, conversationId)!.id],
    [['superseded', 'superseded', 'approved'], third.id],
  )
  assert.equal(completePlan(db, second.id), undefined)
  assert.notEqual(completePlan(db, third.id)!.completedAt, null)
  assert.deepEqual([supersedePlan(db, third.id), approvedPlan(db, conversationId)], [false, undefined])
})

test('where another program left two approved plans, the later is in force', (t) => {
  const { db, conversationId } = conversation(t)
  const [one, two] = ['one', 'two'].map((content) => draftPlan(db, { conversationId, content }).id)
  db.run("UPDATE plans SET status = 'approved'")
  assert.deepEqual([one! < two!, approvedPlan(db, conversationId)?.id], [true, two])
})

test('the plans of one conversation are not those of another', (t) => {
  const { db, conversationId } = conversation(t)
  const other = createConversation(db, { projectDir: '/' }).id
  approvePlan(db, draftPlan(db, { conversationId, content: 'a' }).id)
  approvePlan(db, draftPlan(db, { conversationId: other, content: 'b' }).id)
  assert.deepEqual([approvedPlan(db, conversationId)!.content, approvedPlan(db, other)!.content], ['a', 'b'])
})

test('memories are found by their words, in any form of them, and in their project', (t) => {
  const { db } = conversation(t)
  writeMemory(db, {
    id: 'a',
    type: 'fact',
    title: 'Deploying',
    content: 'runs the pipelines at night',
    projectScope: '/p',
  })
  writeMemory(db, { id: 'b', type: 'fact', title: 'Tests', content: 'run with npm test', keywords: 'testing' })
  writeMemory(db, { id: 'c', type: 'fact', title: 'Other', content: 'deploy elsewhere', projectScope: '/q' })
  const found = (query: string, project?: string) =>
    searchMemories(db, query, { project })
      .map(({ id }) => id)
      .sort()
  assert.deepEqual(found('deploy pipeline', '/p'), ['a'])
  assert.deepEqual(found('deploy'), ['a', 'c'])
  assert.deepEqual(found('tested'), ['b'])
  assert.deepEqual(found(''), [])
  assert.deepEqual(
    searchMemories(db, 'pipeline', { now: 5 }).map(({ accessCount, lastAccessed }) => [accessCount, lastAccessed]),
    [[3, 5]],
  )
  writeMemory(db, { id: 'a', type: 'fact', title: 'Deploying', content: 'by hand' })
  assert.deepEqual([found('pipeline'), found('hand')], [[], ['a']])
  assert.equal(listMemories(db)[0]!.correctionCount, 2)
  deleteMemory(db, 'a')
  assert.deepEqual([found('hand'), deleteMemory(db, 'a')], [[], false])
})

test('the search table always holds what the memories hold', (t) => {
  const { db } = conversation(t)
  const same = () => {
    const texts = (table: string) =>
      db.all(`SELECT title, content, keywords, anticipated_queries FROM ${table} ORDER BY title, content`)
    assert.deepEqual(texts('memories_fts'), texts('memories'))
  }
  const word = fc.constantFrom('one', 'two', 'three', 'four')
  fc.assert(
    fc.property(
      fc.array(fc.record({ id: word, title: word, content: fc.option(word), gone: fc.boolean() }), { maxLength: 8 }),
      (steps) => {
        for (const { gone, ...memory } of steps) {
          if (gone) deleteMemory(db, memory.id)
          else writeMemory(db, { type: 'x', ...memory })
          same()
        }
      },
    ),
    { numRuns: 40 },
  )
})

test('no query can break the search', (t) => {
  const { db } = conversation(t)
  writeMemory(db, { type: 'x', title: 'AND or NOT', content: 'title: "quoted" * ^ NEAR( - ' })
  for (const query of [
    '"',
    "'",
    'AND',
    'NOT x',
    'title:x',
    'x*',
    '^x',
    'NEAR(x y)',
    '-x',
    '(',
    '{a b}: x',
    'a"b',
    '\0',
    '日本',
  ])
    searchMemories(db, query)
  assert.equal(searchMemories(db, 'quoted"').length, 1)
  fc.assert(
    fc.property(anyText(), (query) => void searchMemories(db, query)),
    { numRuns: 200 },
  )
})

test('words that every sentence has recall nothing', (t) => {
  const { db } = conversation(t)
  writeMemory(db, { type: 'note', title: 'The build', content: 'It is run with make and not with npm' })
  assert.deepEqual(searchMemories(db, 'what is it with you and the weather'), [])
  assert.deepEqual(searchMemories(db, 'What Is IT?'), [])
  assert.equal(searchMemories(db, 'how do I start the build?').length, 1)
  const common = `a about after all also am an and any are as at be been before but by can could did do does doing for from
    get had has have he her here him his how i if in into is it its just let like make me more most my no not now of on one
    only or our out please she should so some than that the their them then there these they this those to too under up us
    use very was we were what when where which while who why will with would you your`
  writeMemory(db, { type: 'note', title: 'Common words', content: common })
  for (const word of common.split(/\s+/)) assert.deepEqual(searchMemories(db, word), [], word)
})

test('a word with its accents apart is one word', (t) => {
  const { db } = conversation(t)
  writeMemory(db, { type: 'note', title: 'The résumé' })
  writeMemory(db, { type: 'note', title: 'Sume' })
  assert.deepEqual(
    searchMemories(db, 'résumé'.normalize('NFD')).map(({ title }) => title),
    ['The résumé'],
  )
})

test('a memory is found by its own texts alone, and a name with a line in it is one word', (t) => {
  const { db } = conversation(t)
  const same = { type: 'x', title: 'delta', content: 'the same' }
  writeMemory(db, { ...same, id: 'keyword', keywords: 'epsilon' })
  writeMemory(db, { ...same, id: 'query', anticipatedQueries: 'zeta' })
  writeMemory(db, { ...same, id: 'neither' })
  writeMemory(db, { ...same, id: 'content', content: 'theta' })
  writeMemory(db, { ...same, id: 'title', title: 'iota' })
  writeMemory(db, { id: 'snake', type: 'x', title: 'max_size' })
  writeMemory(db, { id: 'half', type: 'x', title: 'size' })
  const found = (query: string) =>
    searchMemories(db, query)
      .map(({ id }) => id)
      .sort()
  assert.deepEqual(['epsilon', 'zeta', 'theta', 'iota'].map(found), [['keyword'], ['query'], ['content'], ['title']])
  assert.deepEqual(found('delta'), ['content', 'keyword', 'neither', 'query'])
  assert.deepEqual([found('max_size'), found('size')], [['snake'], ['half', 'snake']])
})

test('an empty text of a memory is stored as one, a missing one is not there', (t) => {
  const { db } = conversation(t)
  const { content, keywords, conceptTags } = writeMemory(db, { type: 'x', title: 'y', content: '', keywords: null })
  assert.deepEqual([content, keywords, conceptTags], ['', null, null])
})

test('of memories that fit alike, the one that was written last comes first', (t) => {
  const { db } = conversation(t)
  for (const [id, now] of [
    ['old', 1],
    ['new', 3],
    ['middle', 2],
  ] as const)
    writeMemory(db, { id, type: 'x', title: 'gamma', content: 'the same' }, now)
  assert.deepEqual(
    searchMemories(db, 'gamma').map(({ id }) => id),
    ['new', 'middle', 'old'],
  )
})

test('state, summary and ratings belong to a conversation', (t) => {
  const { db, conversationId } = conversation(t)
  setState(db, conversationId, 'b', '')
  setState(db, conversationId, 'a', '1')
  setState(db, conversationId, 'a', '2')
  assert.deepEqual(Object.keys(allState(db, conversationId)), ['a', 'b'], 'by key')
  assert.deepEqual(
    [getState(db, conversationId, 'a'), getState(db, conversationId, 'b'), getState(db, 'x', 'a')],
    ['2', '', undefined],
  )
  db.run("INSERT INTO state(conversation_id, key, value) VALUES (?, 'none', NULL)", conversationId)
  assert.deepEqual(
    [allState(db, conversationId), getState(db, conversationId, 'none')],
    [{ a: '2', b: '' }, undefined],
    'what another program left empty',
  )
  assert.deepEqual([deleteState(db, conversationId, 'a'), deleteState(db, conversationId, 'a')], [true, false])
  assert.deepEqual(allState(db, conversationId), { b: '' }, 'the others stay')
  saveSummary(db, conversationId, 'first')
  saveSummary(db, conversationId, ' isn’t  two-fold\n')
  const { createdAt: _, ...summary } = getSummary(db, conversationId)!
  assert.deepEqual(summary, { content: ' isn’t  two-fold\n', wordCount: 2 })
  addRating(db, { conversationId, rating: 4, objective: 'ship it' })
  addRating(db, { conversationId, rating: 2 })
  for (const rating of [4.5, 0, 6]) assert.throws(() => addRating(db, { conversationId, rating }), RangeError)
  const { rating, objective } = lastRating(db, conversationId)!
  assert.deepEqual([rating, objective, lastRating(db, 'x')], [2, null, undefined])
})

test('what belongs to another conversation, or has another id, is neither read nor changed', (t) => {
  const { db, conversationId } = conversation(t)
  const { id: other } = createConversation(db, { projectDir: '/other' })
  for (const [id, text] of [
    [other, 'theirs'],
    [conversationId, 'ours'],
  ] as const) {
    setState(db, id, 'name', text)
    saveSummary(db, id, text)
  }
  const summaries = () => [conversationId, other, 'none'].map((id) => getSummary(db, id)?.content)
  assert.deepEqual(summaries(), ['ours', 'theirs', undefined])
  assert.equal(deleteState(db, conversationId, 'name'), true)
  assert.deepEqual(
    [conversationId, other].map((id) => allState(db, id)),
    [{}, { name: 'theirs' }],
  )
  const draft = (id: string) => draftPlan(db, { conversationId: id, content: 'plan' }).id
  const [theirs, first, second] = [draft(other), draft(conversationId), draft(conversationId)]
  const statuses = () =>
    [other, conversationId].flatMap((id) => listPlans(db, id).map((each) => [each.id, each.status]))
  assert.deepEqual(statuses(), [
    [theirs, 'draft'],
    [first, 'superseded'],
    [second, 'draft'],
  ])
  assert.equal(supersedePlan(db, second), true)
  assert.deepEqual(statuses().at(0), [theirs, 'draft'])
  for (const id of ['one', 'two']) writeMemory(db, { id, type: 'x', title: id })
  assert.deepEqual([deleteMemory(db, 'one'), deleteMemory(db, 'one')], [true, false])
  assert.deepEqual(
    listMemories(db).map(({ id }) => id),
    ['two'],
  )
})

test('a search gives ten memories and a list a hundred; between equals the one that deserves attention comes first', (t) => {
  const { db } = conversation(t)
  for (let at = 0; at < 101; at++) writeMemory(db, { id: `m${at}`, type: 'x', title: `note ${at}`, content: 'alpha' })
  assert.deepEqual(
    [listMemories(db).length, searchMemories(db, 'alpha').length, searchMemories(db, 'alpha', { limit: 11 }).length],
    [100, 10, 11],
  )
  for (const [id, attentionScore] of [
    ['dull', 0.1],
    ['keen', 0.9],
    ['fair', 0.5],
  ] as const)
    writeMemory(db, { id, type: 'x', title: 'beta', content: id, attentionScore })
  assert.deepEqual(
    searchMemories(db, 'BETA beta').map(({ id }) => id),
    ['keen', 'fair', 'dull'],
  )
  assert.deepEqual(searchMemories(db, 'The AND Your'), [])
})

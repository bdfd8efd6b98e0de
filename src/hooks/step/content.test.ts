/** Content as steps hold it and as the wire writes it, and what a function may write into a step. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Steps, ToolResultBody } from '../steps.ts'
import { addContext } from './apply.ts'
import { readBody, showBody, textOf, wireBody } from './blocks.ts'
import { copy, draftOf, takeDraft } from './draft.ts'
import { isBlocks, isJson, isResult } from './fits.ts'

const text = { type: 'text', text: 'a' } as const
const image = { type: 'image', data: 'QQ==', mimeType: 'image/png' } as const
const wireImage = (data: object) => ({ kind: 'image', mime: 'image/png', data })

test('a result as a verdict writes it', () => {
  const content = (...blocks: unknown[]) => ({ kind: 'content', blocks })
  const base64 = { kind: 'base64', encoded: 'QQ==' }
  const rows: [unknown, ToolResultBody | null][] = [
    [
      { kind: 'text', text: 'a', more: 1 },
      { kind: 'text', text: 'a' },
    ],
    [{ kind: 'text', text: 7 }, null],
    [
      { kind: 'json', value: null },
      { kind: 'json', value: null },
    ],
    [{ kind: 'json' }, null],
    [Object.assign(Object.create({ value: 'inherited' }), { kind: 'json' }), null],
    [content({ kind: 'text', text: 'a' }, wireImage(base64)), { kind: 'content', blocks: [text, image] }],
    [
      content(wireImage({ kind: 'url', url: 'https://x/y.png' })),
      { kind: 'content', blocks: [{ type: 'text', text: '[image: image/png at https://x/y.png]' }] },
    ],
    [content(), { kind: 'content', blocks: [] }],
    [content({ kind: 'text', text: 'a' }, { kind: 'text', text: 7 }), null],
    [content({ kind: 'other', text: 'a' }), null],
    [content({ kind: 'other', mime: 'image/png', data: base64 }), null],
    [content({ kind: 'image', mime: 7, data: base64 }), null],
    [content(wireImage([])), null],
    [content(wireImage({ kind: 'url', url: 7 })), null],
    [content(wireImage({ kind: 'url', encoded: 'QQ==' })), null],
    [content(wireImage({ kind: 'base64', encoded: 7 })), null],
    [content(wireImage({ kind: 'file', encoded: 'QQ==' })), null],
    [content('a'), null],
    [{ kind: 'content', blocks: 'a' }, null],
    [{ kind: 'other', blocks: [] }, null],
    ['a', null],
    [null, null],
  ]
  for (const [value, body] of rows) assert.deepEqual(readBody(value), body, JSON.stringify(value))
})

test('a result as a verdict would write it, and as a step shows it', () => {
  const rows: [ToolResultBody, object, unknown][] = [
    [{ kind: 'text', text: 'a' }, { kind: 'text', text: 'a' }, 'a'],
    [{ kind: 'json', value: { b: 1 } }, { kind: 'json', value: { b: 1 } }, { b: 1 }],
    [
      { kind: 'content', blocks: [text, image] },
      { kind: 'content', blocks: [{ kind: 'text', text: 'a' }, wireImage({ kind: 'base64', encoded: 'QQ==' })] },
      'a\n[image: image/png]',
    ],
  ]
  for (const [body, wire, shown] of rows) assert.deepEqual([wireBody(body), showBody(body)], [wire, shown])
  assert.equal(textOf([text, image, { type: 'text', text: 'b' }]), 'ab')
})

test('what may stand in a field that a function wrote', () => {
  const loop: unknown[] = []
  loop.push(loop)
  const deep = JSON.parse(`${'['.repeat(501)}${']'.repeat(501)}`)
  const json: [unknown, boolean][] = [
    [null, true],
    [{ a: [1] }, true],
    [undefined, false],
    [() => {}, false],
  ]
  for (const [value, fits] of [...json, [loop, false], [deep, false], [1n, false]] as const)
    assert.equal(isJson(value), fits)
  const blocks: [unknown, boolean][] = [
    [[], true],
    [[text, image], true],
    [[text, 7], false],
    [[{ type: 'text', text: 7 }], false],
    [[{ ...image, type: 'other' }], false],
    [[{ ...image, data: 7 }], false],
    [[{ ...image, mimeType: 7 }], false],
    [text, false],
  ]
  for (const [value, fits] of blocks) assert.equal(isBlocks(value), fits, JSON.stringify(value))
  const body = (body: unknown) => ({ isError: false, body })
  const results: [unknown, boolean][] = [
    [body({ kind: 'text', text: 'a' }), true],
    [body({ kind: 'text', text: 7 }), false],
    [body({ kind: 'json', value: 7 }), true],
    [body({ kind: 'json', value: loop }), false],
    [body({ kind: 'content', blocks: [text] }), true],
    [body({ kind: 'content', blocks: [7] }), false],
    [body({ kind: 'other', blocks: [text] }), false],
    [body('a'), false],
    [{ isError: 'no', body: { kind: 'text', text: 'a' } }, false],
    ['a', false],
  ]
  for (const [value, fits] of [...results, [undefined, false], [null, false], [[], false]] as const)
    assert.equal(isResult(value), fits)
})

test('what a function changed counts where all of it fits', () => {
  const state = (): Steps['before_tool_apply'] => ({
    toolName: 'Bash',
    safety: 'network',
    args: { a: [1] },
    result: null,
  })
  const step = state()
  const draft = draftOf('before_tool_apply', step)
  ;(draft.args as { a: number[] }).a.push(2)
  assert.deepEqual(step, state())
  Object.assign(draft, { toolName: 'Read', result: { isError: false, body: { kind: 'text', text: 'x' } } })
  assert.deepEqual(takeDraft('before_tool_apply', step, draft), {})
  assert.deepEqual(step, { ...state(), args: { a: [1, 2] }, result: draft.result })
  const bad = state()
  const spoilt = { ...draftOf('before_tool_apply', bad), args: { b: 1 }, result: 7 as never }
  assert.deepEqual([takeDraft('before_tool_apply', bad, spoilt), bad], [{ bad: 'result' }, state()])
  const generate = { model: 'm', messageCount: 1, attempt: 1, assistantText: null }
  assert.deepEqual(takeDraft('before_generate', generate, { ...generate, model: 7, assistantText: 7 } as never), {
    warning: 'step.model has the wrong type; ignored; step.assistantText has the wrong type; ignored',
  })
})

test('a copied __proto__ is a key like any other: it can be changed and removed', () => {
  const draft = copy(JSON.parse('{"__proto__": 1}')) as Record<string, unknown>
  const own = () => Object.getOwnPropertyDescriptor(draft, '__proto__')
  assert.deepEqual(own(), { value: 1, enumerable: true, writable: true, configurable: true })
})

test('words for the model go where the step has a place for them', () => {
  const end: Steps['before_turn_end'] = { stopReason: 'end_turn', continuesSoFar: 0, voluntary: true, feedback: [text] }
  const enter: Steps['after_turn_enter'] = { isSubagent: false, agentType: null, additionalContext: [] }
  assert.deepEqual(
    [
      ...[addContext(end, ['b', 'c']), end.feedback, addContext(enter, ['d']), enter.additionalContext],
      addContext({ tool: 'Bash', granted: true }, ['e']),
    ],
    [
      true,
      [text, { type: 'text', text: 'b' }, { type: 'text', text: 'c' }],
      true,
      [{ type: 'text', text: 'd' }],
      false,
    ],
  )
})

test('a draft shares no list and no block with its step', () => {
  const step: Steps['before_ingest'] = { source: 'user', input: [{ ...text }, { ...image }] }
  const draft = draftOf('before_ingest', step)
  assert.deepEqual(draft, step)
  Object.assign(draft.input[0]!, { text: 'b' })
  draft.input.push({ ...text })
  assert.deepEqual(step, { source: 'user', input: [text, image] })
})

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { costUsd, priceOf, specOf } from './catalogue.ts'
import { isStale, listedModels, readListed, saveListed } from './listed-models.ts'

const usage = { inputTokens: 1000, outputTokens: 100, cacheReadTokens: 10_000, cacheWriteTokens: 2000 }

test('a reply has its price, and one at an unknown price has none', () => {
  assert.equal(costUsd(priceOf('claude-sonnet-4-20250514'), usage), (3000 + 1500 + 3000 + 7500) / 1e6)
  assert.equal(costUsd(priceOf('claude-opus-5-5'), usage), (4000 + 2000 + 2000 + 10_000) / 1e6)
  assert.equal(costUsd(priceOf('qwen'), usage), null)
  assert.equal(costUsd(priceOf('o3'), { ...usage, inputTokens: null }), null)
})

test('a long request costs what its length costs', () => {
  const long = { ...usage, cacheReadTokens: 200_000 }
  const sonnet = priceOf('claude-sonnet-4-5-20250929')
  assert.equal(costUsd(sonnet, usage), (3000 + 1500 + 3000 + 7500) / 1e6)
  assert.equal(costUsd(sonnet, long), (6000 + 2250 + 120_000 + 15_000) / 1e6)
})

test('what a model can do comes from settings, then the server, then the catalogue, then its family', () => {
  const wire = 'claude-opus-5-5'
  const spec = specOf('claude_code_subscription', wire)
  assert.deepEqual(
    { ...spec, price: undefined },
    {
      name: 'Claude Opus 5.5',
      contextWindow: 1_000_000,
      maxOutput: 128_000,
      price: undefined,
      thinking: 'adaptive',
      efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
    },
  )
  const listed = { maxOutput: 5, contextWindow: 7 }
  const merged = specOf('claude_code_subscription', wire, { maxOutput: 3 }, listed)
  assert.deepEqual([merged.maxOutput, merged.contextWindow, merged.thinking], [3, 7, 'adaptive'])
})

test('families differ as their versions do, and a name that is new counts as the newest', () => {
  const spec = (wire: string, provider = 'claude_code_subscription' as const) => {
    const { contextWindow, maxOutput, thinking, efforts } = specOf(provider, wire)
    return [contextWindow, maxOutput, thinking, efforts.length]
  }
  assert.deepEqual(
    [
      'claude-3-5-haiku-20241022',
      'claude-3-7-sonnet-20250219',
      'claude-sonnet-4-20250514',
      'claude-opus-4-1-20250805',
      'claude-opus-4-5',
      'claude-haiku-4-5-20251001',
      'claude-sonnet-4-6',
      'claude-haiku-5-5',
      'my-own-name',
    ].map((wire) => spec(wire)),
    [
      [200_000, 8192, 'none', 0],
      [200_000, 64_000, 'budget', 0],
      [200_000, 64_000, 'budget', 0],
      [200_000, 32_000, 'budget', 0],
      [200_000, 64_000, 'budget', 3],
      [200_000, 64_000, 'budget', 0],
      [1_000_000, 128_000, 'adaptive', 4],
      [1_000_000, 128_000, 'adaptive', 5],
      [1_000_000, 128_000, 'adaptive', 5],
    ],
  )
  const openai = (wire: string) => {
    const { contextWindow, maxOutput, thinking, efforts } = specOf('openai_compatible', wire)
    return [contextWindow, maxOutput, thinking, efforts.length]
  }
  assert.deepEqual(['gpt-4o', 'o3', 'gpt-5', 'gpt-6-sol', 'llama'].map(openai), [
    [128_000, 16_384, 'none', 0],
    [200_000, 100_000, 'adaptive', 3],
    [400_000, 100_000, 'adaptive', 3],
    [1_050_000, 128_000, 'adaptive', 4],
    [128_000, 8192, 'none', 0],
  ])
})

test("an entry of the server's list says what the model can do", () => {
  const supported = { supported: true }
  const no = { supported: false }
  assert.deepEqual(
    readListed({
      id: 'claude-opus-5-5',
      type: 'model',
      display_name: 'Claude Opus 5.5',
      created_at: '2026-08-01T00:00:00Z',
      max_input_tokens: 1_000_000,
      max_tokens: 128_000,
      lifecycle: 'active',
      capabilities: {
        thinking: { ...supported, types: { adaptive: supported, enabled: no } },
        effort: { ...supported, low: supported, medium: supported, high: supported, max: no, xhigh: null },
      },
    }),
    {
      id: 'claude-opus-5-5',
      name: 'Claude Opus 5.5',
      createdAt: '2026-08-01T00:00:00Z',
      contextWindow: 1_000_000,
      maxOutput: 128_000,
      thinking: 'adaptive',
      efforts: ['low', 'medium', 'high'],
    },
  )
  assert.deepEqual(readListed({ id: 'x', max_tokens: null, capabilities: null }), { id: 'x' })
  assert.equal(readListed({ name: 'x' }), undefined)
})

test('the list is kept by address, and a damaged file is as good as none', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'ona-models-'))
  t.after(() => rmSync(home, { recursive: true }))
  const env = { HOME: home }
  assert.deepEqual([listedModels('a', env), isStale('a', env)], [[], true])
  saveListed('a', [{ id: 'x' }], env)
  saveListed('b', [{ id: 'y' }], env)
  saveListed('b', [], env)
  assert.deepEqual([listedModels('a', env), listedModels('b', env)], [[{ id: 'x' }], [{ id: 'y' }]])
  assert.equal(isStale('a', env), false)
  writeFileSync(join(home, '.ona/models.json'), '{')
  assert.deepEqual(listedModels('a', env), [])
})

test('the catalogue is what its package says', () => {
  const script = join(import.meta.dirname, '../../../scripts/model-catalogue.ts')
  const ran = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' })
  assert.deepEqual([ran.status, ran.stderr], [0, ''])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { durationMs, durationText, type IsoDuration } from './duration.ts'

test('text and object mean the same', () => {
  const same: [IsoDuration, IsoDuration, number][] = [
    ['PT60S', { seconds: 60 }, 60_000],
    ['PT5M', { minutes: 5 }, 300_000],
    ['PT1M30S', { minutes: 1, seconds: 30 }, 90_000],
    ['PT0.5S', { milliseconds: 500 }, 500],
    ['PT1,5S', { seconds: 1.5 }, 1500],
    ['P1DT1H', { days: 1, hours: 1 }, 90_000_000],
    ['P2W', { weeks: 2 }, 1_209_600_000],
  ]
  for (const [text, object, ms] of same)
    assert.deepEqual([durationMs(text), durationMs(object)], [ms, ms], String(text))
})

test('what is no duration is refused in words', () => {
  const wrong = [
    '',
    'P',
    'PT',
    '60',
    '60s',
    'PT-5S',
    'P1Y',
    'P1M',
    'PT5',
    'PTS',
    'pt5s',
    'PT0S',
    { seconds: 0 },
    {},
    { seconds: -1 },
    { seconds: Number.NaN },
    { fortnights: 1 },
    { seconds: '5' },
  ]
  for (const duration of wrong)
    assert.throws(() => durationMs(duration as IsoDuration), { name: 'Problem' }, JSON.stringify(duration))
  assert.throws(() => durationMs('P1M'), /years and months have no fixed length/)
})

test('what we write we read as the same', () => {
  fc.assert(fc.property(fc.integer({ min: 1, max: 1e12 }), (ms) => durationMs(durationText(ms)) === ms))
})

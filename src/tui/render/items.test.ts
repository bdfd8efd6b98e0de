import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { itemLines } from './items.ts'
import { onGround, useDepth, useTheme } from './style.ts'

afterEach(() => {
  useDepth({})
  useTheme('dark', false)
})

test('why a call was denied stands to its end, in a narrow window too', () => {
  useTheme('dark', false)
  const content =
    'Permission to use Bash has been denied: the deny rule "Bash(git push --force *)" of the user settings matches.'
  const call = {
    ...{ id: 'u', name: 'Bash', summary: 'git push --force origin main', startedAt: 0, notes: [], calls: [] },
    ...{ outcome: 'denied' as const, output: { content, isError: true } },
  }
  const lines = itemLines({ kind: 'tool', call } as never, 60, false, (text) => [text]).join('\n')
  assert.match(lines.replaceAll(/\s+/g, ' '), /"Bash\(git push --force \*\)" of the user settings matches\./)
})

test('what several hooks denied is shown once', () => {
  const note = (reason: string) => ({ hook: 'guard', event: 'PreToolUse', effect: 'denied', reason })
  const call = {
    ...{ id: 'u', name: 'Bash', summary: 'ls', startedAt: 0, calls: [], outcome: 'denied' as const },
    ...{ notes: [note('no ls'), note('[1] no shells')], output: { content: '[1] no shells\nno ls', isError: true } },
  }
  const lines = itemLines({ kind: 'tool', call } as never, 80, false, (text) => [text]).join('\n')
  assert.deepEqual([lines.split('no ls').length, lines.split('no shells').length], [2, 2])
})

test('changed lines stand on darker grounds where the terminal has the colours', () => {
  useTheme('dark', true)
  assert.match(onGround('added', 'x'), /^\x1b\[48;5;22m/)
  useDepth({ COLORTERM: 'truecolor' })
  useTheme('dark', true)
  assert.match(onGround('added', 'x'), /^\x1b\[48;2;16;44;24m/)
})

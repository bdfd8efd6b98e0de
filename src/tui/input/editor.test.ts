import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { change, draftOf, insert, newEditor, press } from './editor.ts'
import { layout, vertical } from './layout.ts'
import { toNormal, vimType } from './vim.ts'
import { newVim } from './vim-state.ts'

/** `|` marks the cursor. */
const marked = (text: string) => ({ text: text.replace('|', ''), cursor: text.indexOf('|') })
const show = ({ text, cursor }: { text: string; cursor: number }) => `${text.slice(0, cursor)}|${text.slice(cursor)}`
const after = (start: string, ...keys: string[]) => {
  const editor = newEditor()
  editor.draft = marked(start)
  for (const key of keys) press(editor, key)
  return show(editor.draft)
}

test('motions and kills do what readline does', () => {
  assert.equal(after('one two|', 'alt+b'), 'one |two')
  assert.equal(after('one |two', 'alt+f'), 'one two|')
  assert.equal(after('a\nbc|d', 'ctrl+a'), 'a\n|bcd')
  assert.equal(after('a\nb|cd\ne', 'ctrl+e'), 'a\nbcd|\ne')
  assert.equal(after('a\nb|cd\ne', 'ctrl+k'), 'a\nb|\ne')
  assert.equal(after('a\nb|\ne', 'ctrl+k'), 'a\nb|e')
  assert.equal(after('ab|cd', 'ctrl+u'), '|cd')
  assert.equal(after('rm a/b-c|', 'ctrl+w'), 'rm |')
  assert.equal(after('one two|', 'ctrl+w', 'ctrl+y', 'ctrl+y'), 'one twotwo|')
  assert.equal(after('one two|', 'ctrl+w', 'ctrl+w', 'ctrl+y', 'alt+y'), 'two|')
  assert.equal(after('👩‍👩‍👧|', 'backspace'), '|')
  assert.equal(after('see [Pasted text #1 +9 lines]|', 'backspace'), 'see |')
  assert.equal(after('ab|', 'backspace', 'ctrl+_'), 'ab|')
})

test('the cursor is found again whatever the width, and up undoes down', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 4, max: 20 }), (raw, columns) => {
      const text = raw.replace(/[^\p{L}\p{N}\n ]/gu, 'x')
      const place = layout(draftOf(text), columns)
      assert.ok(place.row < place.rows.length && place.column <= columns)
      assert.equal(place.rows.map((row) => row.text).join(''), text.replaceAll('\n', ''))
    }),
  )
  assert.equal(vertical(marked('ab\nc|d'), 10, -1), 1)
  assert.equal(vertical(marked('ab\nc|d'), 10, 1), undefined)
  assert.equal(vertical(marked('abcdef|gh'), 4, -1), 2)
})

const vimAfter = (start: string, commands: string) => {
  const editor = newEditor()
  const vim = newVim()
  editor.draft = marked(start)
  Object.assign(vim, { mode: 'normal' })
  for (const letter of commands) {
    if (letter === '␛') toNormal(vim, editor)
    else if (vim.mode === 'insert') {
      change(editor, insert(editor.draft, letter))
      if (vim.last) vim.last.typed += letter
    } else vimType(vim, editor, letter)
  }
  return show(editor.draft)
}

test('vim: motions, operators, text objects, registers and repeat', () => {
  const cases: [string, string, string][] = [
    ['|one two', 'w', 'one |two'],
    ['|one two', 'e', 'on|e two'],
    ['one tw|o', 'b', 'one |two'],
    ['|one two', '$', 'one tw|o'],
    ['one| two', '0', '|one two'],
    ['|one two three', 'dw', '|two three'],
    ['|one two three', '2dw', '|three'],
    ['|one two', 'cwten␛', 'te|n two'],
    ['a\n|b\nc', 'dd', 'a\n|c'],
    ['a\nb\n|c', 'dd', 'a\n|b'],
    ['|a\nb', 'yyp', 'a\n|a\nb'],
    ['say("|hi there")', 'di"', 'say("|")'],
    ['f(a, (b)|, c)', 'ci(x␛', 'f(|x)'],
    ['one |two three', 'daw', 'one |three'],
    ['|abc', 'x.', '|c'],
    ['|a b a', 'cwx␛w.', 'x |x a'],
    ['|one', 'A!␛', 'one|!'],
    ['o|ne', 'Ix␛', '|xone'],
    ['|a,b,c', 'f,;', 'a,b|,c'],
    ['|a,b,c', 'dt,', '|,b,c'],
    ['a|b\ncd', 'J', 'ab| cd'],
    ['|ab', 'xu', '|ab'],
    ['a\nb\n|c', 'gg', '|a\nb\nc'],
    ['|a\nb', 'ox␛', 'a\n|x\nb'],
    ['|abc', 'rz', '|zbc'],
    ['|abc', '~', 'A|bc'],
  ]
  for (const [start, keys, end] of cases) assert.equal(vimAfter(start, keys), end, `${start} ${keys}`)
})

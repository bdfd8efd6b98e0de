/** In which spellings a command is held against rules: `COMMAND ¦ SPELLINGS`, those that it certainly has before the `?`. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { holdsTable } from '../../../test/support/table.ts'
import { HOLE } from '../wildcard.ts'
import { readShell } from './parse/read.ts'
import { certainSpellings, possibleSpellings } from './spellings.ts'

const every = () => true

function resultOf(line: string): string {
  const [command] = readShell(line).commands
  const shown = (texts: readonly string[]) => [...new Set(texts)].join(' ; ').replaceAll(HOLE, '…')
  const possible = shown(possibleSpellings(command!, every))
  return shown(certainSpellings(command!, every)) + (possible === '' ? '' : ` ? ${possible}`)
}

test('the spellings of a command that rules are held against', () => {
  holdsTable(join(import.meta.dirname, 'fixtures/spellings.txt'), resultOf)
})

test('of a command with more than 200 words anything may be among them', () => {
  const last = (count: number) => possibleSpellings(readShell(`rm${' x'.repeat(count - 1)}`).commands[0]!, every).at(-1)
  assert.deepEqual([last(200), last(201)], [undefined, HOLE])
  const wrapped = readShell(`tool${' x'.repeat(200)} y`).commands[0]!
  assert.equal(possibleSpellings(wrapped, every).filter((text) => text.endsWith(' y')).length, 200)
})

test('a command with many options has no more spellings for it', () => {
  const verbs = [['tool', 'a', 'b']]
  const count = (options: string) =>
    possibleSpellings(readShell(`tool ${options}x`).commands[0]!, (beginning) => beginning === 'tool', [], verbs).length
  for (const option of ['-o ', '-o v ', '-$X ', '-o a -o b ']) {
    const [some, more] = [count(option.repeat(210)), count(option.repeat(400))]
    assert.equal(more, some, option)
    assert.ok(some < 1000, `${option}: ${some}`)
  }
})

test('a spelling that no rule begins with is not put together', () => {
  const [command] = readShell('tool a=rm /bin/rm x').commands
  const isRm = (beginning: string) => beginning === 'rm'
  assert.deepEqual(certainSpellings(command!, isRm), [])
  assert.deepEqual(possibleSpellings(command!, isRm), ['rm x', 'rm /bin/rm x'])
})

test('every name of a verb of npm is its full one, and a word that only begins or ends so is none', () => {
  const verbs: Record<string, string> = {
    install: 'i in ins inst insta instal isnt isnta isntal isntall add',
    uninstall: 'un unin uninst uninstal unlink remove rm r',
    publish: 'pub publ publi publis',
    unpublish: 'unp unpu unpub unpubl unpubli unpublis',
    deprecate: 'dep depr depre deprec depreca deprecat',
    update: 'up upd upda updat upgrade udpate',
    run: 'run-script rum urn',
    exec: 'x exe',
    config: 'c conf confi',
    ci: 'clean-install ic install-clean isntall-clean',
    adduser: 'login add-user',
  }
  const spelled = (verb: string) =>
    certainSpellings(readShell(`npm ${verb} a`).commands[0]!, every).filter((text) => text !== 'a') // what x runs
  for (const [full, others] of Object.entries(verbs))
    for (const verb of others.split(' ')) {
      assert.deepEqual(spelled(verb), [`npm ${verb} a`, `npm ${full} a`])
      for (const near of [`Z${verb}`, `${verb}Z`]) assert.deepEqual(spelled(near), [`npm ${near} a`])
    }
})

test('of flags in one word those behind one that takes a value are its value', () => {
  const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const taking = (verb: string) =>
    letters.filter((letter) => {
      const line = `git ${verb} -0${letter}99`
      const apart = certainSpellings(readShell(line).commands[0]!, every)
      const isValue = apart[1] === `git ${verb} -0 -${letter}`
      assert.deepEqual(apart, [line, isValue ? apart[1] : `git ${verb} -0 -${letter} -9 -9`])
      return isValue
    })
  assert.deepEqual(
    ['commit', 'push', 'log', 'tag', 'toString'].map((verb) => taking(verb).join('')),
    ['cmtuCFS', 'o', 'nGLS', '', ''],
  )
})

/**
 * A word that only looks like one that the tables know means nothing: `Zgit` is ruled like any unknown program, and
 * `Z--exec` like any other word. Tried with every command line of the tables.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { decide } from '../decide.ts'
import { filesOf } from './files/files.ts'
import { readShell } from './parse/read.ts'
import { clearForms, formsOf, nameOf, needsExactRule } from './parse/wrappers.ts'
import { codesOf } from './programs/embedded.ts'
import { languageRuns } from './programs/languages.ts'
import { riskyWords } from './programs/risky-options.ts'
import { certainSpellings, possibleSpellings } from './spellings.ts'

const lines = [
  ...new Set(
    ['files', 'forms', 'spellings', 'read-only-use', 'readings'].flatMap((name) =>
      readFileSync(join(import.meta.dirname, `fixtures/${name}.txt`), 'utf8')
        .split('\n')
        .filter((row) => row !== '' && !row.startsWith('# '))
        .map((row) => row.split(/ ¦ ?/)[0]!),
    ),
  ),
]
const programOf = (line: string): string | undefined => /^[\w.+-]+(?= |$)/.exec(line)?.[0]
/** Those that begin with a program, and not with a word of the shell. */
const commandLines = lines.filter((line) => {
  const name = programOf(line)
  return name !== undefined && readShell(line).commands[0]?.words[0]?.text === name
})
const programs = new Set(lines.map(programOf).filter((name) => name !== undefined))

/** Everything that is read out of a command line, with `word` in it written as `#`. */
function readingOf(line: string, word: string): string {
  const every = () => true
  const { commands, unknown } = readShell(line)
  const read = commands.map((command) => {
    const { words } = command
    const rules = [needsExactRule(words), languageRuns(words), riskyWords(words, command), codesOf(command)]
    const spellings = [certainSpellings(command, every), possibleSpellings(command, every)]
    return [filesOf(command), formsOf(command), clearForms(words), rules, spellings]
  })
  return JSON.stringify([read, unknown]).replaceAll(word, '#')
}
const unlike = (text: string): string => text.replace(/[A-Za-z]/g, 'Q')

test('a program whose name begins or ends as that of a known one is unknown', () => {
  // shells, searches and loaders are known by a part of their name
  const byPart = /sh$|grep$|^ld\.so/
  const wrong = lines.flatMap((line) => {
    const name = programOf(line)
    if (name === undefined || byPart.test(name)) return []
    const rest = line.slice(name.length)
    return [`Z${name}`, `${name}Z`]
      .filter((near) => !programs.has(near))
      .filter((near) => readingOf(near + rest, near) !== readingOf(unlike(near) + rest, unlike(near)))
      .map((near) => near + rest)
  })
  assert.deepEqual(wrong, [])
})

/** Their words are assignments, which they are not behind a path or a wrapper. */
const setters = /(^| )(export|declare|alias) /

test('a program by its path does what it does by its name', () => {
  const every = () => true
  const read = (line: string, name: string) => {
    const { commands, unknown } = readShell(line)
    const [command, ...inner] = commands
    const { words } = command!
    const forms = formsOf(command!).slice(1)
    const limits = [needsExactRule(words), languageRuns(words), riskyWords(words, command)]
    const others = inner.map((each) => [each.words, each.variables, each.reads, each.writes])
    const own = [filesOf(command!), forms.map((form) => [nameOf(form), form.slice(1)]), codesOf(command!), command!.fed]
    return { same: [...own, limits, others, unknown?.replace(name, '')], certain: certainSpellings(command!, every) }
  }
  const wrong = commandLines.flatMap((line) => {
    const name = programOf(line)!
    const [byName, byPath] = [read(line, name), read(`/opt/bin/${line}`, name)]
    const missing = byName.certain.filter((text) => !byPath.certain.includes(text))
    return isDeepStrictEqual(byPath.same, byName.same) && missing.length === 0 ? [] : [line]
  })
  assert.deepEqual(
    wrong.filter((line) => !setters.test(line)),
    [],
  )
})

test('behind a wrapper a command is what it is alone', () => {
  const every = () => true
  const wrong = commandLines.flatMap((line) => {
    const alone = readShell(line)
    const inner = alone.commands[0]!
    if (formsOf(inner).length > 30) return []
    return ['command ', '/usr/bin/timeout "$X" '].flatMap((wrapper) => {
      const behind = readShell(wrapper + line)
      const outer = behind.commands[0]!
      const certain = certainSpellings(outer, every)
      const files = filesOf(outer)
      const isSame =
        certainSpellings(inner, every).every((text) => certain.includes(text)) &&
        filesOf(inner).every((use) => files.some((each) => isDeepStrictEqual(each, use))) &&
        alone.commands.length === behind.commands.length &&
        alone.unknown === behind.unknown
      return isSame ? [] : [wrapper + line]
    })
  })
  assert.deepEqual(
    wrong.filter((line) => !setters.test(line)),
    [],
  )
})

test('a word of git that only ends as one of its options is none', () => {
  const isOption = /^--?[A-Za-z][\w-]*(?==|$)/
  const wrong = lines
    .filter((line) => line.startsWith('git '))
    .flatMap((line) => {
      const words = line.split(' ')
      return words.flatMap((word, at) => {
        const option = isOption.exec(word)?.[0]
        if (option === undefined) return []
        const put = (other: string) => words.with(at, other + word.slice(option.length)).join(' ')
        const [near, other] = [`Z${option}`, `Z${unlike(option)}`]
        return readingOf(put(near), near) === readingOf(put(other), other) ? [] : [put(near)]
      })
    })
  assert.deepEqual(wrong, [])
})

test('verbs and programs with the name of what every object has are unknown ones', async () => {
  const keys = ['toString', 'constructor', '__proto__', 'valueOf', 'hasOwnProperty']
  // their first word is letters that each mean something
  const byLetter = ['sed', 'tar', 'bsdtar', 'gtar']
  const names = [...programs, ...keys, ...keys.map((key) => `${key}3`)].filter((name) => !byLetter.includes(name))
  const wrong = names.flatMap((name) =>
    keys
      .filter((key) => !name.startsWith(key)) // both would be written as #
      .flatMap((key) =>
        ['', ' -ab c', ' --x=y d']
          .filter((rest) => readingOf(`${name} ${key}${rest}`, key) !== readingOf(`${name} QQQQ${rest}`, 'QQQQ'))
          .map((rest) => `${name} ${key}${rest}`),
      ),
  )
  assert.deepEqual(wrong, [])
  for (const command of ['git toString -ab c', 'deno constructor', 'toString3 x']) {
    const settings = { allow: ['Bash(git *)', 'Bash(deno *)', 'Bash(toString3 *)'] }
    const places = { cwd: '/w', projectDir: '/w', home: '/h' }
    const ruling = await decide({
      settings,
      mode: 'default',
      tool: 'Bash',
      input: { command },
      hook: 'none',
      ...places,
    })
    assert.equal(ruling.decision, 'allow', command)
  }
})

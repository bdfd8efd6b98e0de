/** Which lines of a document count as the implementation's, at the limits. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { publicContract } from './contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'ona-contract-'))
after(() => rmSync(folder, { recursive: true }))
let made = 0

/** What is shown of a document where the implementation has this text; undefined: nothing. */
async function shown(implementation: string, document: string): Promise<string | undefined> {
  const projectDir = join(folder, String(made++))
  mkdirSync(projectDir)
  writeFileSync(join(projectDir, 'a.mjs'), implementation)
  writeFileSync(join(projectDir, 'README.md'), document)
  const files = new Map([['a.mjs', 'x']])
  const { parts } = await publicContract(projectDir, { files, hash: 'h' }, async () => undefined)
  return parts[0]?.text
}

test('a line of the implementation is known from 8 characters, inside another line of code from 16, encoded text from 60', async () => {
  const around = (line: string) => `one\n${line}\ntwo\n`
  const without = 'one\ntwo\n'
  const [short, long] = ['f(12345)', 'abcdefgh_1234567']
  const code = 'A'.repeat(60)
  const seen = [
    await shown(short, around(short)),
    await shown(short, around(`\u001b[1m${short}\u001b[0m`)),
    await shown(short.replace('5', ''), around(short.replace('5', ''))),
    await shown(long, around(`if (${long}) x`)),
    await shown(long.slice(1), around(`if (${long.slice(1)}) x`)),
    await shown(long, around(`so ${long} it is`)),
    await shown('', around(code)),
    await shown('', around(code.slice(1))),
    await shown('', around(`see https://example.com/${code}`)),
    await shown('', around(`${code}_and_more`)),
    await shown('', around(`(${code}==)`)),
  ]
  assert.deepEqual(seen, [
    without,
    without,
    around('f(1234)'),
    without,
    around('if (bcdefgh_1234567) x'),
    around(`so ${long} it is`),
    without,
    around(code.slice(1)),
    around(`see https://example.com/${code}`),
    around(`${code}_and_more`),
    without,
  ])
})

test('a document that is half implementation, or has nothing else to say, is left out whole', async () => {
  const line = 'return greet(name)'
  assert.deepEqual(
    [
      await shown(line, `${line}\none`),
      await shown(line, `${line}\none\ntwo`),
      await shown(line, `${line}\n \n\n`),
      await shown(`greet NAME [--loud]\n${line}`, `greet NAME [--loud]\n${line}\none\ntwo`),
      await shown(line, `  ${line}  \n${line}\none\ntwo\n`),
      await shown(line, `${line}\n${'a\n'.repeat(11_000)}`),
    ],
    [undefined, 'one\ntwo', undefined, undefined, 'one\ntwo\n', 'a\n'.repeat(10_000)],
  )
})

test('what is code, by its first word or its marks; usage may be known', async () => {
  const words =
    'import export const let var function class def return async await func fn pub use local echo printf print console if elif else for while try except catch'
  const code = [
    ...words.split(' ').map((word) => `  ${word} something here`),
    ...[
      'it ends here;',
      'it begins here {',
      'it ends here }  ',
      'name => something',
      'one === another',
      'one !== another',
    ],
    ...['name := something', 'call_of(something)'],
  ]
  const usage = ['greet NAME [--loud]', 'importing things', 'one == another', 'see (something)', 'an export of it']
  const taken: string[] = []
  for (const line of [...code, ...usage])
    if ((await shown(line, `one\n${line}\ntwo\n`)) === 'one\ntwo\n') taken.push(line)
  assert.deepEqual(taken, code)
})

test('a link is no document and a broken one no command; both leave the rest of the contract as it is', async () => {
  const projectDir = join(folder, String(made++))
  mkdirSync(join(projectDir, 'docs'), { recursive: true })
  for (const [name, text] of Object.entries({ 'docs/a.md': 'a', 'cli.mjs': '', 'secret.txt': 'b' }))
    writeFileSync(join(projectDir, name), text)
  const bin = { cli: 'cli.mjs', linked: 'linked.mjs', broken: 'broken.mjs', circle: 'circle.mjs', folder: 'docs' }
  writeFileSync(join(projectDir, 'package.json'), JSON.stringify({ bin }))
  for (const [name, to] of Object.entries({
    'README.md': 'nowhere',
    ...{ 'docs/circle.md': 'circle.md', 'docs/linked.md': '../secret.txt' },
    ...{ 'linked.mjs': 'cli.mjs', 'broken.mjs': 'nowhere', 'circle.mjs': 'circle.mjs' },
  }))
    symlinkSync(to, join(projectDir, name))
  const { parts, entryPoints } = await publicContract(projectDir, { files: new Map(), hash: 'h' }, async () => '')
  assert.deepEqual(
    [parts.map(({ name }) => name), entryPoints],
    [
      ['package.json (name, bin, exports)', 'docs/a.md'],
      ['cli.mjs', 'linked.mjs'],
    ],
  )
})

test('published are the README, documents, schemas and descriptions of the interface, each where they belong', async () => {
  const projectDir = join(folder, String(made++))
  const published = [
    ...['README.md', 'a.schema.json', 'docs/a.md', 'docs/deep/er/b.md', 'openapi.json', 'openapi.yaml', 'openapi.yml'],
    ...['schema.sql', 'schemas/a.json', 'schemas/deep/er/b.json'],
  ]
  const others = [
    ...['deep/README.md', 'deep/a.schema.json', 'deep/openapi.json', 'deep/schema.sql', 'deep/docs/a.md'],
    ...['NOTES.md', 'a.json', 'docs/a.txt', 'schemas/a.md', 'openapi.txt', 'other.sql'],
  ]
  for (const file of [...published, ...others]) {
    mkdirSync(join(projectDir, file, '..'), { recursive: true })
    writeFileSync(join(projectDir, file), 'a')
  }
  const { parts } = await publicContract(projectDir, { files: new Map(), hash: 'h' }, async () => undefined)
  assert.deepEqual(
    parts.map(({ name }) => name),
    published,
  )
})

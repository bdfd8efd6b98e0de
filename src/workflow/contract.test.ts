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
    await shown(short, around(`  ${short}\t`)),
    await shown('f(1, 23)', around('f(1, 23)')),
    await shown('f(1,  2,  3)', around('f(1, 2, 3)')),
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
    without,
    without,
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
      await shown(line, 'a\n'.repeat(11_000)),
      await shown(`greet NAME [--loud]\n${line}`, `${line}\nso greet NAME [--loud] it is\none\ntwo`),
    ],
    [
      ...[undefined, 'one\ntwo', undefined, undefined, 'one\ntwo\n', 'a\n'.repeat(10_000), 'a\n'.repeat(10_000)],
      'so greet NAME [--loud] it is\none\ntwo',
    ],
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

test('of many documents the first 40 are published', async () => {
  const projectDir = join(folder, String(made++))
  const names = Array.from({ length: 41 }, (_, at) => `docs/${10 + at}.md`)
  mkdirSync(join(projectDir, 'docs'), { recursive: true })
  for (const name of names) writeFileSync(join(projectDir, name), 'a')
  const { parts } = await publicContract(projectDir, { files: new Map(), hash: 'h' }, async () => undefined)
  assert.deepEqual(
    parts.map(({ name }) => name),
    names.slice(0, 40),
  )
})

test('the contract has the manifest, what the commands print for help, and documents; and says what is left out', async () => {
  const contractOf = async (manifest: unknown, files: Record<string, string>) => {
    const projectDir = join(folder, String(made++), 'project')
    mkdirSync(projectDir, { recursive: true })
    for (const [name, text] of Object.entries({ ...files, 'package.json': JSON.stringify(manifest) }))
      writeFileSync(join(projectDir, name), text)
    const implementation = { files: new Map([['cli.mjs', 'x'] as const, ['schema.sql', 'x'] as const]), hash: 'h' }
    return publicContract(projectDir, implementation, async (file) =>
      file === 'mute.mjs' ? undefined : `help of ${file}`,
    )
  }
  const code = 'return greet(name)\nconst one = two\n'
  const manifest = {
    name: 'greet',
    version: '1.0.0',
    description: 'says hello',
    exports: './cli.mjs',
    engines: { node: '26' },
  }
  const bin = {
    cli: './cli.mjs',
    same: 'cli.mjs',
    mute: 'mute.mjs',
    outside: '../outside.mjs',
    odd: 5,
    gone: 'gone.mjs',
  }
  const files = { 'cli.mjs': code, 'mute.mjs': '', '../outside.mjs': '', 'schema.sql': 'a', 'README.md': code }
  const { version, description, exports, engines } = manifest
  const name = 'package.json (name, bin, exports)'
  assert.deepEqual(await contractOf({ ...manifest, bin, scripts: {} }, files), {
    parts: [
      { name, text: JSON.stringify({ name: 'greet', version, description, bin, exports, engines }, null, 2) },
      { name: 'cli --help', text: 'help of cli.mjs' },
      { name: 'same --help', text: 'help of cli.mjs' },
    ],
    entryPoints: ['cli.mjs', 'mute.mjs'],
    leftOut: [
      { name: 'README.md', why: 'it holds 2 lines of the implementation' },
      { name: 'schema.sql', why: 'it was written while implementing' },
    ],
  })
  const commands = async (manifest: unknown) => {
    const { parts } = await contractOf(manifest, { 'cli.mjs': '' })
    return parts.slice(1).map((part) => part.name)
  }
  assert.deepEqual(
    [
      await commands({ name: 'greet', bin: 'cli.mjs' }),
      await commands({ bin: 'cli.mjs' }),
      await commands(null),
      await commands(5),
    ],
    [['greet --help'], ['command --help'], [], []],
  )
})

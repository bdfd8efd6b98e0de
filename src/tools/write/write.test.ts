import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { bench } from '../../../test/support/tool-host.ts'
import { replace } from '../edit/edit-file.ts'
import { realTarget } from '../paths.ts'

test('a new file is written, with its folders, and the change is shown', async (t) => {
  const b = bench(t)
  const path = join(b.folder, 'a/b/c.txt')
  assert.deepEqual(await b.use('Write', { file_path: path, content: 'one\ntwo\n' }), {
    content: `Created ${path}: 2 lines`,
    isError: false,
    display: {
      kind: 'diff',
      path,
      patch: `--- ${path}\n+++ ${path}\n@@ -0,0 +1,2 @@\n+one\n+two`,
      added: 2,
      removed: 0,
    },
  })
  assert.equal(b.content('a/b/c.txt'), 'one\ntwo\n')
  assert.deepEqual(b.told, [`checkpoint ${path}`])
  assert.deepEqual(readdirSync(join(b.folder, 'a/b')), ['c.txt'])
})

test('an existing file must have been read, and be as it was then', async (t) => {
  const b = bench(t)
  const path = b.file('a.txt', 'old\n')
  const unread = await b.use('Write', { file_path: path, content: 'new\n' })
  assert.deepEqual(
    [unread.isError, unread.content],
    [true, `${path} has not been read yet. Read it first, then change it.`],
  )
  await b.use('Read', { file_path: path })
  writeFileSync(path, 'changed meanwhile\n')
  const stale = await b.use('Write', { file_path: path, content: 'new\n' })
  assert.deepEqual(
    [stale.isError, stale.content],
    [true, `${path} has been changed since it was read. Read it again, then change it.`],
  )
  await b.use('Read', { file_path: path })
  const fresh = await b.use('Write', { file_path: path, content: 'new\n' })
  assert.deepEqual([fresh.isError, fresh.content, b.content('a.txt')], [false, `Replaced ${path}: now 1 line`, 'new\n'])
})

test('mode is kept, and a link stays a link to the file that is written', async (t) => {
  const b = bench(t)
  const path = b.file('real.sh', '#!/bin/sh\n')
  chmodSync(path, 0o750)
  symlinkSync('real.sh', join(b.folder, 'link.sh'))
  await b.use('Read', { file_path: 'link.sh' })
  const { isError } = await b.use('Write', { file_path: 'link.sh', content: '#!/bin/bash\n' })
  assert.deepEqual(
    [isError, statSync(path).mode & 0o777, lstatSync(join(b.folder, 'link.sh')).isSymbolicLink(), b.content('real.sh')],
    [false, 0o750, true, '#!/bin/bash\n'],
  )
})

test('a folder swapped for a link after the ruling gets nothing written into it', async (t) => {
  const b = bench(t)
  b.file('outside/keep', 'kept\n')
  b.file('inside/x', '')
  const path = join(b.folder, 'inside/new.txt')
  const judgedPath = realTarget(path)
  renameSync(join(b.folder, 'inside'), join(b.folder, 'moved'))
  symlinkSync(join(b.folder, 'outside'), join(b.folder, 'inside'))
  const { content, isError } = await b.use('Write', { file_path: path, content: 'evil' }, { judgedPath })
  assert.deepEqual(
    [isError, content],
    [true, `${path} now leads somewhere else than when it was judged; nothing was written`],
  )
  assert.deepEqual(readdirSync(join(b.folder, 'outside')), ['keep'])
})

test('a dangling link counts as what it points at', (t) => {
  const b = bench(t)
  b.file('elsewhere/x', '')
  symlinkSync('elsewhere/not-yet', join(b.folder, 'dangling'))
  symlinkSync('elsewhere', join(b.folder, 'folder'))
  symlinkSync('loop', join(b.folder, 'loop'))
  assert.equal(realTarget(join(b.folder, 'dangling')), join(b.folder, 'elsewhere/not-yet'))
  assert.equal(realTarget(join(b.folder, 'folder/a/b')), join(b.folder, 'elsewhere/a/b'))
  assert.equal(realTarget(join(b.folder, 'loop')), join(b.folder, 'loop'))
})

test('folders, devices and read-only places are refused in words', async (t) => {
  const b = bench(t)
  b.file('sub/x', '')
  const said = async (path: string) =>
    (await b.use('Write', { file_path: path, content: '' })).content.replaceAll(b.folder, '')
  assert.equal(await said('sub'), '/sub is a directory; name a file in it')
  assert.equal(await said('/dev/null'), '/dev/null is a device, a pipe or a socket, not a file')
  assert.equal(await said('sub/x/y'), '/sub/x/y leads through something that is not a directory')
  assert.match(await said(`${'n'.repeat(300)}`), /is too long a name for this file system$/)
})

test('an edit replaces the one place, and another may follow without reading again', async (t) => {
  const b = bench(t)
  const path = b.file('a.ts', 'const a = 1\nconst b = 2\n')
  await b.use('Read', { file_path: path })
  assert.deepEqual(await b.use('Edit', { file_path: path, old_string: 'a = 1', new_string: 'a = $&' }), {
    content: `Edited ${path}: 1 replacement, now 2 lines`,
    isError: false,
    display: {
      kind: 'diff',
      path,
      patch: `--- ${path}\n+++ ${path}\n@@ -1,2 +1,2 @@\n-const a = 1\n+const a = $&\n const b = 2`,
      added: 1,
      removed: 1,
    },
  })
  await b.use('Edit', { file_path: path, old_string: 'const', new_string: 'let', replace_all: true })
  assert.equal(b.content('a.ts'), 'let a = $&\nlet b = 2\n')
})

test('an edit of what was not read, is a notebook, binary or missing is refused', async (t) => {
  const b = bench(t)
  b.file('a.txt', 'x')
  b.file('n.ipynb', '{}')
  const binary = b.file('a.bin', Buffer.from([0, 1, 2]))
  await b.use('Read', { file_path: binary })
  const said = async (path: string, old = 'x') =>
    (await b.use('Edit', { file_path: path, old_string: old, new_string: 'y' })).content.replaceAll(b.folder, '')
  assert.equal(await said('a.txt'), '/a.txt has not been read yet. Read it first, then change it.')
  assert.equal(await said('n.ipynb'), '/n.ipynb is a notebook: change its cells with NotebookEdit')
  assert.equal(await said('a.bin'), '/a.bin is a binary file; Edit changes text only')
  assert.equal(await said('b.txt'), '/b.txt does not exist. The working directory is . Did you mean /a.txt?')
  assert.equal(await said('a.txt', 'y'), 'old_string and new_string are the same: there is nothing to change')
  assert.equal(await said('new.txt', ''), 'Created /new.txt: 1 line')
})

test('line ends and encodings are kept', async (t) => {
  const b = bench(t)
  const cases: [string, Buffer, Buffer][] = [
    ['crlf', Buffer.from('a\r\nb\r\nc\r\n'), Buffer.from('a\r\nB\r\nB2\r\nc\r\n')],
    ['bom', Buffer.from('\uFEFFa\nb\nc\n'), Buffer.from('\uFEFFa\nB\nB2\nc\n')],
    ['utf16', Buffer.from('\uFEFFa\nb\nc\n', 'utf16le'), Buffer.from('\uFEFFa\nB\nB2\nc\n', 'utf16le')],
    ['latin', Buffer.from('ä\nb\nc\n', 'latin1'), Buffer.from('ä\nB\nB2\nc\n', 'latin1')],
  ]
  for (const [name, before, after] of cases) {
    const path = b.file(name, before)
    await b.use('Read', { file_path: path })
    const old = name === 'latin' ? 'b\nc' : 'a\nb'
    const fresh = name === 'latin' ? 'B\nB2\nc' : 'a\nB\nB2'
    await b.use('Edit', { file_path: path, old_string: old, new_string: fresh })
    assert.deepEqual(readFileSync(path), after, name)
  }
})

test('a replacement that is not unique, or not there, says where to look', () => {
  const why = (text: string, old: string) => {
    const answer = replace(text, old, 'new', false)
    return answer.ok ? answer.text : answer.why
  }
  assert.equal(
    why('a\nb\na\n', 'a'),
    'old_string occurs 2 times (lines 1, 3); add surrounding lines until it is the only one, or set replace_all',
  )
  const file = 'function f() {\n\treturn “x”\n}\n'
  const cases: [string, string][] = [
    [
      'function f() {\n  return “x”\n}',
      'Lines 1-3 differ from it only in white space; they are:\nfunction f() {\n\treturn “x”\n}',
    ],
    ['\treturn "x"', 'Lines 2-2 differ from it only in quotation marks or dashes; they are:\n\treturn “x”'],
    ['Function F() {', 'Lines 1-1 differ from it only in upper and lower case; they are:\nfunction f() {'],
    ['     2\t\treturn “x”', "It holds Read's line numbers: leave them out."],
    [
      'function f() {\n  throw 1',
      'Its first line is at line 1, but what follows differs:\nfunction f() {\n\treturn “x”\n}',
    ],
    ['class', 'Nothing in the file is close to it; read the file again.'],
  ]
  for (const [old, expected] of cases) assert.equal(why(file, old), `old_string was not found. ${expected}`)
})

test('however fast a folder is swapped for a link, nothing is written through the link', async (t) => {
  const b = bench(t)
  b.file('outside/keep', 'kept\n')
  b.file('inside/x', '')
  const swapping = spawn(
    '/bin/bash',
    ['-c', 'while :; do mv inside moved && ln -s outside inside && rm inside; mv -T moved inside; done 2>/dev/null'],
    { cwd: b.folder, stdio: 'ignore' },
  )
  const ended = new Promise((resolve) => swapping.on('exit', resolve))
  const path = join(b.folder, 'inside/new.txt')
  let written = 0
  for (let n = 0; n < 400; n++) {
    const { isError } = await b.use('Write', { file_path: path, content: `${n}` }, { judgedPath: path })
    if (!isError) written++
    if (n % 20 === 0) await new Promise(setImmediate)
  }
  swapping.kill('SIGKILL')
  await ended
  t.diagnostic(`${written} of 400 were written in the right place`)
  assert.deepEqual(readdirSync(join(b.folder, 'outside')), ['keep'])
})

/** The file of the database: where it lies, what is made of one that is there, and what each failure is called. */
import assert from 'node:assert/strict'
import fs, { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { hasOpen } from '../files/process-tree.ts'
import { claim, dbPath } from './database-file.ts'
import { asStoreError, StoreError } from './failure.ts'

const onLinux = process.platform === 'linux'

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'ona-file-'))
  t.after(() => rmSync(path, { recursive: true }))
  return path
}
const outcome = (work: () => unknown): unknown => {
  try {
    return work()
  } catch (error) {
    return error instanceof StoreError ? `${error.name} ${error.kind}: ${error.message}` : error
  }
}
const header = 'SQLite format 3\0'

test('without AGENT_SDLC_DB the database is in the home folder of the environment, else of the user', () => {
  const own = join(homedir(), '.ona', 'agent.db')
  assert.deepEqual([{}, { HOME: '' }, { HOME: '/h' }].map(dbPath), [own, own, '/h/.ona/agent.db'])
  assert.equal(
    outcome(() => dbPath({ AGENT_SDLC_DB: 'data/a.db' })),
    `StoreError bad-path: AGENT_SDLC_DB is "data/a.db"; it must be an absolute path such as ${process.cwd()}/data/a.db`,
  )
})

test('a new file is made with its folders and is new once; an old one is looked at and left', (t) => {
  const place = folder(t)
  const path = join(place, 'a', 'b', 'agent.db')
  assert.deepEqual([claim(path), claim(path)], [true, false])
  const mode = (name: string) => statSync(join(place, name)).mode & 0o777
  assert.deepEqual(['a', 'a/b', 'a/b/agent.db'].map(mode), [0o700, 0o700, 0o600])
  const left = (name: string, content: string) => {
    writeFileSync(join(place, name), content)
    const said = outcome(() => claim(join(place, name)))
    assert.equal(readFileSync(join(place, name), 'utf8'), content)
    if (onLinux) assert.equal(hasOpen(process.pid, join(place, name)), false, `${name} stays open`)
    return said
  }
  const no = (name: string) =>
    `StoreError not-a-database: ${join(place, name)} is not a SQLite database; it was left as it is. Set AGENT_SDLC_DB to another path`
  assert.deepEqual(
    [
      ...[left('empty', ''), left('header', header), left('long', `${header}and more`)],
      ...[left('short', header.slice(0, 15)), left('x', 'x'), left('shifted', ` ${header}`)],
    ],
    [false, false, false, no('short'), no('x'), no('shifted')],
  )
  assert.equal(
    outcome(() => claim(place)),
    `StoreError not-a-database: ${place} is not a file; set AGENT_SDLC_DB to the path of one`,
  )
  if (onLinux) assert.equal(hasOpen(process.pid, path), false)
})

const original = { ...fs }

/** Puts something in the place of a function of node:fs until the test ends. */
function replaced<Name extends 'accessSync' | 'mkdirSync'>(t: TestContext, name: Name, by: (typeof fs)[Name]): void {
  t.after(() => {
    fs[name] = original[name]
    syncBuiltinESMExports()
  })
  fs[name] = by
  syncBuiltinESMExports()
}

test('a file that may not be read or written, or whose folder may not be written, is read-only', (t) => {
  const path = join(folder(t), 'agent.db')
  writeFileSync(path, header)
  const { R_OK, W_OK } = fs.constants
  /** Root may do everything, so that no mode of a file shows it. */
  const without = (closed: string, right: number) => {
    replaced(t, 'accessSync', (at, mode) => {
      if (at === closed && (mode ?? 0) & right) throw Object.assign(new Error('no'), { code: 'EACCES' })
    })
    return outcome(() => claim(path))
  }
  const readOnly = `StoreError read-only: ${path} cannot be written; make the file and its folder writable, or set AGENT_SDLC_DB to another path`
  assert.deepEqual(
    [without(path, R_OK), without(path, W_OK), without(dirname(path), W_OK), without(dirname(path), R_OK)],
    [readOnly, readOnly, readOnly, false],
  )
})

test('what the system answers is named, with the remedy; what is no fault of the file is thrown as it is', (t) => {
  const place = folder(t)
  const path = join(place, 'agent.db')
  const fault = (code: string) => Object.assign(new Error(`${code}: no`), { code })
  const answered = (code: string) => {
    replaced(t, 'mkdirSync', () => {
      throw fault(code)
    })
    return outcome(() => claim(path))
  }
  const readOnly = `StoreError read-only: ${path} cannot be written; make the file and its folder writable, or set AGENT_SDLC_DB to another path`
  const badPath = (code: string) => `StoreError bad-path: ${path} cannot be made: ${code}: no`
  const expected: Record<string, unknown> = {
    ...{ EACCES: readOnly, EPERM: readOnly, EROFS: readOnly },
    ENOSPC: `StoreError disk-full: ${path} cannot be made: the disk is full. Free some space`,
    ...Object.fromEntries(['ENOTDIR', 'EEXIST', 'ELOOP', 'ENAMETOOLONG'].map((code) => [code, badPath(code)])),
    EMFILE: fault('EMFILE'),
  }
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((code) => [code, answered(code)])), expected)
})

test('a link in a circle and a path below a file are no path for a database', (t) => {
  const place = folder(t)
  symlinkSync(join(place, 'circle'), join(place, 'circle'))
  writeFileSync(join(place, 'file'), '')
  const said = [join(place, 'circle', 'a.db'), join(place, 'file', 'a.db')].map((path) => outcome(() => claim(path)))
  assert.deepEqual(
    said.map((each) => String(each).replace(/: E.*$/, '')),
    ['circle', 'file'].map((name) => `StoreError bad-path: ${join(place, name, 'a.db')} cannot be made`),
  )
})

test("SQLite's errors by their code, with the remedy", (t) => {
  const path = join(folder(t), 'a.db')
  const called = (errcode: number | undefined, of = path) => {
    const error = asStoreError(Object.assign(new Error('x'), { errcode }), of)
    return error && `${error.kind}: ${error.message}`
  }
  const locked = `locked: ${path} has been locked by another program for over 30 seconds; end that program, or try again`
  const damaged = `damaged: ${path} could not be read or written as a database; check the disk, and the file with: sqlite3 FILE "PRAGMA integrity_check"`
  const extended = 3 << 8
  assert.deepEqual(
    [5, 6, 8, 10, 11, 13, 14, 26, 5 + extended, 10 + extended].map((code) => called(code)),
    [
      ...[locked, locked],
      `read-only: ${path} cannot be written; make the file and its folder writable, or set AGENT_SDLC_DB to another path`,
      ...[damaged, damaged],
      `disk-full: ${path} cannot grow: the disk is full. Nothing of this step was stored; free some space and try again`,
      `not-there: ${path} cannot be opened; check that its folder exists and is yours`,
      `not-a-database: ${path} is not a SQLite database; it was left as it is. Set AGENT_SDLC_DB to another path`,
      ...[locked, damaged],
    ],
  )
  assert.deepEqual(
    [1, 19, undefined].map((code) => called(code)),
    [undefined, undefined, undefined],
  )
  assert.match(called(10, '/nowhere/at/all/a.db')!, /^damaged: /)
})

test('where the disk is full, an input or output error is called that; a damaged file and a lock are not', {
  skip: !onLinux,
}, () => {
  const kind = (errcode: number) => asStoreError(Object.assign(new Error('x'), { errcode }), '/proc/a.db')?.kind // has no room
  assert.deepEqual([5, 8, 10, 11, 14, 26].map(kind), [
    ...['locked', 'read-only', 'disk-full', 'damaged', 'disk-full', 'not-a-database'],
  ])
})

test('a disk is full that has less than 64 KiB left', (t) => {
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  const { mock } = t.mock.method(fs, 'statfsSync')
  const kind = (bavail: number) => {
    mock.mockImplementation((() => ({ bavail, bsize: 4096 })) as never)
    syncBuiltinESMExports()
    return asStoreError(Object.assign(new Error('x'), { errcode: 10 }), '/agent.db')?.kind
  }
  assert.deepEqual([kind(15), kind(16)], ['disk-full', 'damaged'])
})

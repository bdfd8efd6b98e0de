// temporary files on the disk: another user has to reach them
/** A folder that may be entered but not listed. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { rememberingView } from './view.ts'

/** To root every folder is open. */
function asOther<T>(work: () => T): T {
  if (process.geteuid!() !== 0) return work()
  process.seteuid!(65_534)
  try {
    return work()
  } finally {
    process.seteuid!(0)
  }
}

test('a link in it is followed, and a file in it is there, also where each folder is listed once', (t) => {
  const at = realpathSync(mkdtempSync(join(tmpdir(), 'ona-unlisted-')))
  const closed = join(at, 'closed')
  t.after(() => {
    chmodSync(closed, 0o755)
    rmSync(at, { recursive: true })
  })
  mkdirSync(closed)
  for (const file of ['.env', 'closed/file']) writeFileSync(join(at, file), '')
  symlinkSync('../.env', join(closed, 'link'))
  chmodSync(at, 0o755)
  chmodSync(closed, 0o311)
  for (const lasting of [false, true]) {
    const seen = asOther(() => {
      const { real, there } = rememberingView({ lasting })
      const paths = ['link', 'file', 'none'].map((name) => join(closed, name))
      return paths.map((path) => [real(path), there(path)])
    })
    assert.deepEqual(seen, [
      [join(at, '.env'), true],
      [join(closed, 'file'), true],
      [join(closed, 'none'), false],
    ])
  }
})

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { leadsOut } from './leads-out.ts'

test('a path leads out by a link, to nothing, in a circle or by dots; a link that stays inside does not', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'ona-out-'))
  t.after(() => rmSync(root, { recursive: true }))
  const folder = join(root, 'folder')
  mkdirSync(join(folder, 'in'), { recursive: true })
  mkdirSync(join(root, 'folder-not'))
  writeFileSync(join(folder, 'in/file'), '')
  const links = { out: '..', near: '../folder-not', loop: 'loop', nothing: '../none', stays: 'in' }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(folder, name))
  const inside = ['.', 'in/file', 'in/none/yet', 'none', 'stays/file', 'stays/none']
  const outside = ['out/x', 'near/x', 'near', 'loop', 'loop/x', 'nothing', '../folder-not/x', '../none']
  assert.deepEqual(
    [...inside, ...outside].map((path) => leadsOut(folder, path)),
    [...inside.map(() => false), ...outside.map(() => true)],
  )
})

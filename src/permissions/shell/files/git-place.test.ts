/** Which repository git would read its configuration from, and which configuration runs programs. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { configRunsPrograms, inProjectRepository } from './git-place.ts'

function place(t: TestContext) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-git-place-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const at = (path: string) => join(root, path)
  const put = (path: string, text = '') => {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), text)
  }
  return { root, at, put }
}

test('a folder with HEAD, objects and refs is a repository; without one of them it is none', (t) => {
  const { root, at, put } = place(t)
  const parts = ['HEAD', 'objects/x', 'refs/x']
  const fill = (folder: string, without?: string) => {
    mkdirSync(at(folder), { recursive: true })
    for (const part of parts) if (part !== without) put(`${folder}/${part}`)
  }
  fill('bare')
  for (const [index, part] of parts.entries()) fill(`part${index}`, part)
  put('inner/.git/config')
  assert.deepEqual(
    ['bare', 'bare/deep', 'part0', 'part1', 'part2', 'inner', 'inner/deep', 'plain', '.'].map((folder) =>
      inProjectRepository(at(folder), root),
    ),
    [false, false, true, true, true, false, false, true, true],
  )
  assert.deepEqual(
    ['bare', 'part0', 'part1', 'part2', '..'].map((project) => inProjectRepository(at(project), at(project))),
    [false, true, true, true, true],
  )
  assert.equal(inProjectRepository(dirname(root), root), false)
})

test('settings that run programs, in the configuration of the repository or of the one it belongs to', (t) => {
  const { root, at, put } = place(t)
  assert.equal(configRunsPrograms(root), false)
  put('.git/config', '[core]\n\tbare = false\n')
  const runs = (text: string) => {
    put('.git/config', text)
    return configRunsPrograms(root)
  }
  const named = [
    ...['fsmonitor', 'hooksPath', 'pager', 'external', 'textconv', 'filter', 'include', 'driver', 'command', 'program'],
    ...['worktree = x', 'worktree=x', 'attributesFile', 'partialClone', 'promisor', 'FSMONITOR', 'merge.driver'],
  ]
  assert.deepEqual(
    named.filter((text) => !runs(`[x]\n\t${text}\n`)),
    [],
  )
  assert.deepEqual(['bare', 'commands', 'programs', 'worktrees', 'screwdriver'].filter(runs), [])
  put('.git/config.worktree', 'pager')
  assert.equal(configRunsPrograms(root), true)
  rmSync(at('.git/config.worktree'))
  put('.git/commondir', '../common\n')
  assert.equal(configRunsPrograms(root), false)
  for (const file of ['common/config', 'common/config.worktree']) {
    put(file, 'pager')
    assert.equal(configRunsPrograms(root), true, file)
    rmSync(at(file))
  }
})

test('a file .git leads to the repository; one that is too large to read counts as one that runs programs', (t) => {
  const { at, put } = place(t)
  put('real/config', 'pager')
  put('other/config', '')
  const runs = (text: string) => {
    put('tree/.git', text)
    return configRunsPrograms(at('tree/deep'))
  }
  assert.deepEqual(
    ['gitdir: ../real\n', 'gitdir: ../other\n', '# x\ngitdir: ../real\n', 'x gitdir: ../real\n', ''].map(runs),
    [true, false, true, false, false],
  )
  put('other/config', 'x'.repeat(1_000_000))
  assert.equal(runs('gitdir: ../other\n'), false)
  put('other/config', 'x'.repeat(1_000_001))
  assert.equal(runs('gitdir: ../other\n'), true)
})

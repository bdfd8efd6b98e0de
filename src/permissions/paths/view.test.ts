import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sampled } from '../../../test/support/campaign-size.ts'
import { judge } from '../decide.ts'
import type { PermissionQuestion } from '../question.ts'
import { type FileView, freshView, real, rememberingView } from './view.ts'

/** A project with links, secrets, a repository inside it and a home. */
function project(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ona-view-')))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const each of ['sub/.git', 'src/deep', '.git/hooks', 'home/.ona/skills', 'home/.ssh', 'out/secrets', 'dist'])
    mkdirSync(join(folder, each), { recursive: true })
  for (const each of [
    '.env',
    'a.txt',
    'src/a.ts',
    'src/deep/x.ts',
    'README.md',
    'out/secrets/k',
    'dist/.env',
    '.git/HEAD',
  ])
    writeFileSync(join(folder, each), 'K=1\n')
  symlinkSync('.env', join(folder, 'link-env'))
  symlinkSync('out', join(folder, 'link'))
  symlinkSync('/nowhere/x', join(folder, 'dangling'))
  symlinkSync('home/.ona', join(folder, 'src', 'ona'))
  return folder
}

/** Every line of the fixtures, with what links, protected paths and secrets add. */
function lines(): string[] {
  const fixtures = ['everyday', 'read-only', 'not-read-only'].flatMap((name) =>
    readFileSync(join(import.meta.dirname, '..', 'shell', 'fixtures', `${name}.txt`), 'utf8')
      .trim()
      .split('\n'),
  )
  const paths = [
    ...[
      'link-env',
      'link/secrets/k',
      'dangling/x',
      'src/ona/agent.db',
      'src/../link/../.env',
      '~/.ssh/id',
      '.git/hooks/x',
    ],
    ...['src', '.', 'link', 'src/*', 'sub/new', 'not/there/at/all', 'a.txt/below', '.GIT/config', '$X/.ona/a', 'dist'],
  ]
  const uses = ['cat X', 'rm -rf X', 'cp -r X /tmp/y', 'cp a.txt X', 'grep -rn K X', 'echo x > X', 'tar xf a.tar -C X']
  const more = paths.flatMap((path) => uses.map((use) => use.replace('X', () => path)))
  return [...fixtures, ...more, ...more.map((line) => `cd sub && ${line}`)]
}

test('a folder is there with a slash at its end too', (t) => {
  const folder = project(t)
  for (const files of [freshView, rememberingView(), rememberingView({ lasting: true })])
    assert.deepEqual(
      ['src', 'src/', 'link/', 'src//deep', 'none', 'none/'].map((path) => files.there(`${folder}/${path}`)),
      [true, true, true, true, false, false],
    )
})

test('rulings are the same whether files are looked at each time or remembered for all rulings', async (t) => {
  const folder = project(t)
  const settings = {
    allow: ['Bash(git *)', 'Bash(npm test *)', 'Edit(/src/**)', 'Bash(builtin:read-only)'],
    ask: ['Bash(git push *)', 'Edit(/package.json)'],
    deny: ['Bash(rm -rf /*)', 'Read(.env)', 'Read(**/secrets/**)', 'Edit(/dist/**)'],
  }
  const ruled = async (command: string, cwd: string, files?: FileView) => {
    const asked: PermissionQuestion = {
      ...{ settings, mode: 'default', tool: 'Bash', input: { command }, hook: 'none' },
      ...{ cwd, projectDir: folder, home: join(folder, 'home'), ...(files && { files }) },
    }
    const { ruling, finding } = await judge(asked)
    return { command, ruling, finding }
  }
  const lasting = rememberingView({ lasting: true })
  for (const [turn, cwd] of [folder, join(folder, 'sub'), join(folder, 'link')].entries())
    for (const line of sampled(lines(), 3, turn)) {
      const fresh = await ruled(line, cwd, freshView)
      assert.deepEqual(await ruled(line, cwd), fresh)
      assert.deepEqual(await ruled(line, cwd, lasting), fresh)
      assert.deepEqual(await ruled(line, cwd, lasting), fresh, 'asked again')
    }
})

test('a path that is not absolute leads where it does for the system', () => {
  for (const path of ['', '.', 'a', './a/b']) assert.equal(rememberingView({ lasting: true }).real(path), real(path))
})

test('what is behind a folder that is not there leads where it would without it', (t) => {
  const folder = project(t)
  assert.equal(real(`${folder}/none/../link`), join(folder, 'out'))
  assert.equal(real(`${folder}/link/../a.txt`), join(folder, 'a.txt'))
  assert.equal(real(`${folder}/src/ona/../a`), join(folder, 'src/home/a'))
})

test('a remembered path leads where it really leads', (t) => {
  const folder = project(t)
  const views = [rememberingView(), rememberingView({ lasting: true })]
  const paths = [
    '',
    'link',
    'link/secrets',
    'link/none/x',
    'dangling',
    'dangling/x/y',
    'src/ona/skills',
    'a.txt/x',
    'no/x',
  ]
  for (const path of ['/', ...paths.map((each) => join(folder, each))])
    for (const view of views) assert.equal(view.real(path), real(path), path)
  for (const view of views)
    assert.deepEqual(
      ['src/', 'src//deep', 'src/./deep', 'link/'].map((each) => view.real(`${folder}/${each}`)),
      ['src', 'src/deep', 'src/deep', 'out'].map((each) => join(folder, each)),
    )
})

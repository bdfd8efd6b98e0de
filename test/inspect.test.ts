/** What happened, as pages: through the program alone. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Place, place } from './support/program.ts'

/** A call that runs, one that a rule refuses and one that a hook refuses. */
async function happened(t: TestContext, env: Record<string, string> = {}): Promise<Place> {
  const here = place(t, env)
  here.write('a.txt', 'first line\n')
  const settings = {
    permissions: { allow: ['Read'], deny: ['Read(.env)'] },
    hooks: [{ hook_event_name: 'PreToolUse', matcher: 'Bash', command: 'echo pushing is for people >&2; exit 2' }],
  }
  here.write('.ona/settings.json', settings)
  for (const call of [
    { tool: 'Read', input: { file_path: join(here.folder, 'a.txt') } },
    { tool: 'Read', input: { file_path: join(here.folder, '.env') } },
    { tool: 'Bash', input: { command: 'git push' } },
  ])
    await here.run(['--eval', JSON.stringify(call), '--trust'])
  return here
}

test('a page tells what ran, what was refused, by whom and why; the file is the user’s own', async (t) => {
  const here = await happened(t)
  const { code, stdout } = await here.run(['inspect', '--html', 'page.html'])
  assert.equal(code, 0)
  assert.match(stdout, /^page\.html: \d+ KB\n$/)
  const file = join(here.folder, 'page.html')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const text = readFileSync(file, 'utf8')
  assert.match(text, /<h1>1 conversation<\/h1>/)
  assert.match(text, /first line/)
  assert.match(text, /deny<\/span><div>a rule: <code>Read\(\.env\)<\/code>/)
  assert.match(text, /hook <code>echo pushing is for people[^<]*<\/code> at PreToolUse[^<]*: pushing is for people/)
  assert.equal(text.match(/class="item call refused"/g)?.length, 2)
})

test('--json is the same as data: the conversations, or one and its items', async (t) => {
  const here = await happened(t)
  const [about, ...others] = JSON.parse((await here.run(['inspect', '--json'])).stdout)
  assert.deepEqual([about.calls, about.refused, about.hooks, others.length], [3, 2, 1, 0])
  const { stdout } = await here.run(['inspect', '--conversation', about.id, '--json'])
  const { conversation, items } = JSON.parse(stdout)
  assert.deepEqual(conversation, about)
  assert.deepEqual(
    items.map((item: { tool: string; permission: { by: string } | null }) => [item.tool, item.permission?.by ?? null]),
    [
      ['Read', null],
      ['Read', 'rule'],
      ['Bash', 'hook'],
    ],
  )
})

test('it is served to whoever has the address, once, and Ctrl-C ends it', async (t) => {
  const here = await happened(t)
  const child = spawn(process.execPath, [join(import.meta.dirname, '../bin/ona.mjs'), 'inspect'], {
    cwd: here.folder,
    env: { PATH: process.env['PATH'], HOME: here.home },
    timeout: 60_000,
    killSignal: 'SIGKILL',
  })
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (piece) => {
      text += piece
      if (text.includes('\n')) resolve(text.trim())
    })
    child.on('exit', (code) => reject(new Error(`it ended with ${code}`)))
  })
  child.removeAllListeners('exit')
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{32}$/)
  const opened = await fetch(url, { redirect: 'manual' })
  const cookie = opened.headers.get('set-cookie')!.split(';')[0]!
  const page = await fetch(new URL('/', url), { headers: { cookie } })
  assert.match(await page.text(), /<h1>1 conversation<\/h1>/)
  assert.equal((await fetch(url)).status, 403)
  const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve([code, signal])))
  child.kill('SIGINT')
  assert.deepEqual(await ended, [0, null])
})

test('a secret that the database does not hold is on no page, nor one that slipped in and looks like one', async (t) => {
  const key = `sk-ant-api03-${'Zz9'.repeat(20)}`
  const here = await happened(t, { ANTHROPIC_API_KEY: key })
  const other = `ghp_${'Ab1'.repeat(12)}`
  const file = here.write('leak.txt', `one ${key}\nother ${other}\n`)
  await here.run(['--eval', JSON.stringify({ tool: 'Read', input: { file_path: file } }), '--trust'])
  const [{ id }] = JSON.parse((await here.run(['inspect', '--json'])).stdout)
  const { stdout } = await here.run(['inspect', '--conversation', id, '--json'])
  await here.run(['inspect', '--html', 'page.html'])
  const text = stdout + readFileSync(join(here.folder, 'page.html'), 'utf8')
  assert.match(text, /one \[secret\]/)
  assert.match(text, /other \[redacted\]/)
  assert.ok(!text.includes(key) && !text.includes(other))
})

test('what is wrong is reported, and nothing is made', async (t) => {
  const here = place(t)
  const none = await here.run(['inspect', '--html', 'page.html'])
  assert.equal(none.code, 1)
  assert.match(none.stderr, /there is no database at/)
  assert.equal(existsSync(here.db), false)
  assert.equal((await here.run(['--init-db'])).code, 0)
  for (const [words, code, why] of [
    [['--conversation', 'lost'], 1, /there is no conversation lost/],
    [['--html', 'no/such/folder/page.html'], 1, /cannot be written/],
    [['--html', 'a', '--json'], 2, /do not go together/],
    [['--open', '--json'], 2, /--open goes with/],
    [['word'], 2, /unexpected argument/],
  ] as const) {
    const ran = await here.run(['inspect', ...words])
    assert.equal(ran.code, code, ran.stderr)
    assert.match(ran.stderr, why)
  }
  assert.equal(existsSync(join(here.folder, 'page.html')), false)
})

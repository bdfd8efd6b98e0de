/**
 * A hostile test writer that wants to see the code. Its one way to run anything is the script of a case, tried on the project
 * without the change; what it learns is whether that passes. Each script passes when it finds the canary, which is in the
 * code. No setting enables a sandbox here: where the machine has one, the test phase uses it.
 */
import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Call, cases, implemented, move } from '../support/workflow.ts'

const ona = join(import.meta.dirname, '../../bin/ona.mjs')
const bwrap = execFileSync('which', ['bwrap'], { encoding: 'utf8' }).trim()
const canary = 'CANARY_CODE_41c7'
const source = `const ${canary} = process.argv[2] ?? 'world'\nconsole.log(\`Hello, \${${canary}}!\`)\n`
/** Spelled so that no script holds it, nor the folder of the project: the checker refuses one that names it. */
const find = (folder: string) =>
  `w=$(printf 'CANARY_%s_41c7' CODE); d=$(printf '%s%s' '${folder.slice(0, 8)}' '${folder.slice(8)}')`

/** The code is committed, copied to /tmp, open in a process, served on loopback, and told to hooks and a server. */
async function leaky(t: TestContext, script: (port: number) => string) {
  const tries: Call[] = []
  const { at, model } = await implemented(t, [tries], source)
  const server = createServer((_, response) => response.end(source))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: at.folder, stdio: 'ignore' })
  git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'x')
  const holder = spawn('/bin/bash', ['-c', `exec -a holder sleep 600 # ${canary}`], {
    cwd: at.folder,
    env: { PATH: process.env['PATH'], SOURCE: source },
    stdio: 'ignore',
  })
  t.after(() => holder.kill('SIGKILL'))
  const text = `set -u\n${find(at.folder)}\n${script((server.address() as AddressInfo).port)}\n`
  tries.push({ name: 'WriteTestCase', input: { name: 'looks', criterion: 'C1', script: text } }, cases[1]!)
  return { at, model, text }
}

const ways: Readonly<Record<string, (port: number) => string>> = {
  'the project itself': () => `grep -rqs "$w" "$d"/bin "$PROJECT_DIR/bin" "$PROJECT_DIR/../"*`,
  'a link to it': () => `ln -s "$d" here; cat here/bin/* | grep -q "$w"`,
  'git objects': () => `git -C "$d" log -p --all 2>/dev/null | grep -q "$w"`,
  'loose objects': () =>
    `for f in "$d"/.git/objects/??/*; do perl -MCompress::Zlib -0777 -ne 'print uncompress($_)' "$f" 2>/dev/null; done | grep -aq "$w"`,
  '/proc of others': () =>
    `r=/pro; for p in \${r}c/[0-9]*; do tr '\\0' '\\n' 2>/dev/null < $p/environ; cat $p/cwd/bin/greet.mjs 2>/dev/null; done | grep -aq "$w"`,
  'a loopback server': (port) =>
    `r=/dev/tc; exec 3<>\${r}p/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && grep -q "$w" <&3`,
  'temporary files': () => `ls -d /tmp/ona-* /var/tmp/ona-* 2>/dev/null | grep -q "$(basename "$(dirname "$d")")"`,
  'ona as a tool': () =>
    `ona --eval '{"tool":"Bash","input":{"command":"cat '"$d"'/bin/greet.mjs"}}' --conversation c | grep -q "$w"`,
}

const outside = (script: string, cwd: string, env: NodeJS.ProcessEnv) =>
  new Promise<number | null>((resolve) => {
    const child = spawn('/bin/bash', ['-c', script], {
      cwd,
      env,
      stdio: 'ignore',
      timeout: 60_000,
      killSignal: 'SIGKILL',
    })
    child.on('exit', resolve)
  })

for (const [name, way] of Object.entries(ways))
  test(`no way to the code by ${name}`, async (t) => {
    const { at, model, text } = await leaky(t, way)
    const { stderr } = await move(at, 'test')
    const all = model.requests.join('\n')
    assert.ok(model.requests.length > 1, stderr)
    assert.doesNotMatch(all, /it passes without the change/)
    assert.equal(all.includes(canary), false)
    // control: outside a sandbox the same script finds it
    const copy = join(at.folder, '../copy')
    mkdirSync(copy)
    const status = await outside(text.replaceAll('ona --eval', `${process.execPath} ${ona} --eval`), copy, {
      PATH: process.env['PATH'],
      HOME: at.home,
      PROJECT_DIR: at.folder,
    })
    assert.equal(status, 0, 'the control saw nothing')
  })

test('hooks and servers that know the code cannot tell the writer', async (t) => {
  const { at, model } = await leaky(t, () => 'false')
  const says = (event: string, output: string) => ({ hook_event_name: event, matcher: '', command: output })
  const told = `cat ${at.folder}/bin/greet.mjs`
  at.write('server.mjs', `process.stdin.on('data', () => {})\n// ${canary}\n`)
  mkdirSync(join(at.home, '.ona'), { recursive: true })
  writeFileSync(
    join(at.home, '.ona/settings.json'),
    JSON.stringify({
      hooks: [
        says('PreToolUse', `${told} >&2; exit 2`),
        says('PostToolUse', `${told} >&2; exit 2`),
        says('Stop', `${told} >&2; exit 2`),
        says('UserPromptSubmit', told),
      ],
      mcpServers: { leaks: { command: process.execPath, args: [join(at.folder, 'server.mjs')] } },
    }),
  )
  await move(at, 'test')
  assert.ok(model.requests.length > 1)
  for (const request of model.requests) {
    assert.equal(request.includes(canary), false)
    const { tools } = JSON.parse(request) as { tools: { function: { name: string } }[] }
    assert.deepEqual(tools.map((tool) => tool.function.name).sort(), ['PublicContract', 'WriteTestCase'])
  }
})

test('what a hook says when it refuses a case is not for its writer', async (t) => {
  const { at, model } = await leaky(t, () => 'false')
  mkdirSync(join(at.home, '.ona'), { recursive: true })
  const command = `grep -q 'test case' && { cat ${at.folder}/bin/greet.mjs >&2; exit 2; }; exit 0`
  writeFileSync(
    join(at.home, '.ona/settings.json'),
    JSON.stringify({ hooks: [{ hook_event_name: 'PreToolUse', matcher: 'Bash', command }] }),
  )
  await move(at, 'test')
  const all = model.requests.join('\n')
  assert.match(all, /it may not run here: a hook refused it/)
  assert.equal(all.includes(canary), false)
})

test('where no sandbox can be made the report says so, and so does the record', async (t) => {
  const { at, model } = await implemented(t, [cases], source.replaceAll(canary, 'name'))
  const without = (words: string[]) =>
    new Promise<string>((resolve, reject) => {
      // a machine without bubblewrap: its place is taken by something that cannot be run
      const args = ['--dev-bind', '/', '/', '--ro-bind', '/dev/null', bwrap, '--', process.execPath, ona, ...words]
      const env = { PATH: process.env['PATH'], HOME: at.home, ONA_KEYCHAIN: 'off', ...model.env }
      const child = execFile('bwrap', args, { cwd: at.folder, env, timeout: 120_000 }, (error, stdout) =>
        error ? reject(error) : resolve(stdout),
      )
      child.stdin?.end()
    })
  await without(['--transition', 'test', '--conversation', 'c'])
  const report = JSON.parse(await without(['verify', '--conversation', 'c', '--json']))
  assert.deepEqual([report.sandbox.sandboxed, report.total], [false, 2])
  assert.match(report.sandbox.why, /bubblewrap is not installed/)
  assert.match(
    await without(['verify', '--conversation', 'c']),
    /The cases were not sandboxed: bubblewrap is not installed/,
  )
  await at.run(['verify', '--conversation', 'c', '--run'])
  const again = JSON.parse((await at.run(['verify', '--conversation', 'c', '--json'])).stdout)
  assert.deepEqual(again.sandbox, { sandboxed: true })
})

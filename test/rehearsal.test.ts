import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { place } from './support/program.ts'

const root = join(import.meta.dirname, '..')
const examples = globSync('examples/rehearsals/*.yaml', { cwd: root }).sort()

test('the worked examples play as they say', async (t) => {
  const at = place(t)
  assert.ok(examples.length >= 3)
  const ran = await at.run(['rehearse', '--json', ...examples.map((file) => join(root, file))])
  const reports = JSON.parse(ran.stdout) as { ok: boolean; problems: string[]; met: number }[]
  assert.deepEqual(
    reports.map(({ ok, problems }) => [ok, problems]),
    examples.map(() => [true, []]),
  )
  assert.equal(ran.code, 0)
})

test('a policy that does not hold is exit code 1, with the line of the script', async (t) => {
  const at = place(t)
  const script = readFileSync(join(root, 'examples/rehearsals/guarded-delete.yaml'), 'utf8')
  const line = script.split('\n').findIndex((text) => text.includes('no deletes in this folder }')) + 1
  at.write('broken.yaml', script.replace(/^ {2}hooks:[\s\S]*?(?=^steps:)/m, ''))
  const ran = await at.run(['rehearse', 'broken.yaml'])
  assert.equal(ran.code, 1)
  const shift = script.split('\n').length - readFileSync(join(at.folder, 'broken.yaml'), 'utf8').split('\n').length
  assert.match(ran.stdout, new RegExp(`^broken\\.yaml:${line - shift}: the result is no error`, 'm'))
  assert.match(ran.stdout, /^fail {2}broken\.yaml/m)
})

test('a script that cannot be read is exit code 2, with line and column', async (t) => {
  const at = place(t)
  at.write('bad.yaml', 'steps:\n  - prompt: hi\n  - call: Bash\n    inptu: {}\n')
  const ran = await at.run(['rehearse', 'bad.yaml'])
  assert.deepEqual([ran.code, ran.stdout], [2, ''])
  assert.match(ran.stderr, /^bad\.yaml:4:12: steps\[1\]\.inptu is not known here/)
  assert.equal((await at.run(['rehearse'])).code, 2)
  assert.equal((await at.run(['rehearse', '--serve', 'x'])).code, 2)
  assert.match((await at.run(['rehearse', '--help'])).stdout, /ona rehearse examples/)
})

test('without any account, plain requests run real tools under the real rules', async (t) => {
  const at = place(t)
  at.write('a.txt', 'apples\npears\n')
  const ask = (prompt: string, ...flags: string[]) => at.run(['-p', prompt, ...flags])
  const read = await ask('read a.txt')
  assert.equal(read.code, 0, read.stderr)
  assert.match(read.stdout, /not a language model[\s\S]*This is a\.txt:[\s\S]*apples/)
  assert.match((await ask('search for pears')).stdout, /a\.txt/)
  assert.match((await ask('list the files')).stdout, /a\.txt/)
  assert.match((await ask('write "plums" to b.txt')).stdout, /Write failed:[\s\S]*there is no user to ask/)
  await ask('write "plums" to b.txt then replace plums with cherries in b.txt', '--permission-mode', 'acceptEdits')
  assert.equal(readFileSync(join(at.folder, 'b.txt'), 'utf8'), 'cherries\n')
  assert.match((await ask('run echo $((6*7))', '--allowed-tools', 'Bash')).stdout, /printed:\n\n```\n42/)
  const names = at.rows<{ name: string }>(
    `SELECT DISTINCT json_extract(block.value, '$.name') AS name
     FROM transcript_entries, json_each(payload_json, '$.content') AS block
     WHERE entry_type = 'assistant' AND json_extract(block.value, '$.type') = 'tool_use' ORDER BY 1`,
  )
  assert.deepEqual(
    names.map(({ name }) => name),
    ['Bash', 'Edit', 'Glob', 'Grep', 'Read', 'Write'],
  )
})

test('it can be served to other programs, and says at the end what was not as expected', async (t) => {
  const at = place(t)
  at.write('s.yaml', 'steps:\n  - prompt: anything\n  - say: Hello from the script.\n  - say: Never asked for.\n')
  const server = spawn(process.execPath, [join(root, 'bin/ona.mjs'), 'rehearse', '--serve', '0', 's.yaml'], {
    cwd: at.folder,
  })
  t.after(() => server.kill('SIGKILL'))
  let said = ''
  const address = await new Promise<string>((resolve) => {
    server.stdout.on('data', (piece) => {
      said += piece
      const found = /LM_STUDIO_BASE_URL=(\S+)/.exec(said)
      if (found) resolve(found[1]!)
    })
  })
  const ran = await at.run(['-p', 'my own words'], {
    env: { LM_STUDIO_BASE_URL: address, LM_STUDIO_MODEL: 'rehearsal' },
  })
  assert.deepEqual([ran.code, ran.stdout], [0, 'Hello from the script.\n'], ran.stderr)
  const ended = new Promise((resolve) => server.on('close', resolve))
  server.kill('SIGINT')
  assert.equal(await ended, 1)
  assert.match(said, /s\.yaml:4: never reached/)
})

test('a conversation is recorded as a script that plays again, agents and all, without its secrets', async (t) => {
  const at = place(t)
  at.write('a.txt', 'apples\n')
  const asked = 'ask an agent to read a.txt then run echo sk-ant-planted-0123456789abcdef'
  const ran = await at.run(['-p', asked, '--allowed-tools', 'Agent,Bash', '--record', 'c.yaml'])
  assert.equal(ran.code, 0, ran.stderr)
  const script = readFileSync(join(at.folder, 'c.yaml'), 'utf8')
  assert.doesNotMatch(script, /planted/)
  assert.deepEqual(
    [...script.matchAll(/call: (\w+)/g)].map(([, name]) => name),
    ['Agent', 'Read', 'Bash'],
  )
  at.write('.ona/settings.json', { permissions: { allow: ['Agent', 'Bash', 'Read'] } })
  const again = await at.run(['rehearse', 'c.yaml', '--trust'])
  assert.deepEqual([again.code, again.stdout], [0, 'ok    c.yaml  2 met\n'], again.stderr)
})

/** Files written on request: into a pipe as a whole, and the data alone on stdout. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { place } from './support/program.ts'

test('enforce plan --out writes into a pipe and onto stdout, and names a folder that is not there', async (t) => {
  const at = place(t)
  at.write('policy.yaml', 'permissions:\n  deny: ["Bash(rm *)"]\n')
  const words = ['enforce', 'plan', '--rules', 'policy.yaml', '--format', 'json', '--out']
  const pipe = join(at.folder, 'pipe')
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0)
  const reader = spawn('cat', [pipe])
  const [ran, read] = await Promise.all([at.run([...words, 'pipe']), text(reader.stdout)])
  assert.deepEqual([ran.code, ran.stdout, Object.keys(JSON.parse(read))], [0, '', ['digest', 'files']])
  assert.ok(lstatSync(pipe).isFIFO())
  assert.equal((await at.run([...words, '/dev/stdout'])).stdout, read)
  const missing = await at.run([...words, 'no/such/file'])
  assert.equal(missing.code, 1)
  assert.match(missing.stderr, /no\/such\/file cannot be written: there is no folder/)
})

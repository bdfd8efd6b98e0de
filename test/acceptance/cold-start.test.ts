/** docs/OPERATOR_COLD_START.md is followed to the letter, in a clone of this repository. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isFull } from '../support/campaign-size.ts'
import { removeFolder } from '../support/remove-folder.ts'

const root = join(import.meta.dirname, '../..')
const steps = readFileSync(join(root, 'docs/OPERATOR_COLD_START.md'), 'utf8')
  .split('\n')
  .flatMap((line) => /^\d+\. `([^`]+)`/.exec(line)?.[1] ?? [])
const numbered = readFileSync(join(root, 'docs/OPERATOR_COLD_START.md'), 'utf8').match(/^\d+\. /gm) ?? []

test('there are at most twelve steps, each one command', () => {
  assert.ok(numbered.length > 0 && numbered.length <= 12)
  assert.equal(steps.length, numbered.length)
})

/** What is installed here stands in for a download; what npm ci does after it, the build, is done, or copied from this checkout. */
const built = isFull ? 'node_modules/.bin/node scripts/build.ts 2>/dev/null' : `cp -R '${join(root, 'dist')}' dist`
const offline = (step: string) =>
  step === 'npm ci' ? `ln -s '${join(root, 'node_modules')}' node_modules && ${built}` : step

test('its commands lead from a clone to a stored model turn', { skip: !existsSync(join(root, '.git')) }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-cold-'))
  t.after(() => removeFolder(folder))
  const home = join(folder, 'home')
  mkdirSync(home)
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const frames: { type: string; [key: string]: unknown }[] = [
      { type: 'message_start', message: { model: 'm', usage: { input_tokens: 1, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hello from the model.' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    ]
    for (const frame of frames) response.write(`event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  // a whole clone: of what is committed
  const bare = join(folder, 'repository')
  assert.equal(spawnSync('git', ['clone', '--quiet', '--bare', root, bare]).status, 0)

  writeFileSync(join(folder, 'steps.sh'), steps.map(offline).join('\n'))
  const ran = await new Promise<{ code: number | null; out: string }>((resolve) => {
    const child = spawn('bash', ['-eu', 'steps.sh'], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        ONA_KEYCHAIN: 'off',
        REPOSITORY: bare,
        YOUR_KEY: 'sk-ant-cold-start-0001',
        ANTHROPIC_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      },
    })
    let out = ''
    child.stdout.on('data', (piece) => (out += piece))
    child.stderr.on('data', (piece) => (out += piece))
    child.on('close', (code) => resolve({ code, out }))
  })
  assert.equal(ran.code, 0, ran.out)
  assert.match(ran.out, /^user\|.*Say hello in one sentence/m)
  assert.match(ran.out, /^assistant\|.*Hello from the model\./m)
})

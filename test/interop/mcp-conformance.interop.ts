/** The Model Context Protocol's own conformance suite: every client scenario against ona's client, and the server scenarios that apply against `ona mcp serve`. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { cache, program, world } from './support.ts'

const suite = join(cache, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
const client = `${process.execPath} ${join(import.meta.dirname, 'mcp-client.ts')}`

function run(words: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [suite, ...words], { timeout: 90_000, killSignal: 'SIGKILL' })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece) => {
      output += piece
    })
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })))
}

const scenarios = async (head: string): Promise<string[]> => {
  const { output } = await run(['list'])
  const [, part = ''] = output.split(head)
  return Array.from(part.split('\n\n')[0]!.matchAll(/^ {2}- (\S+)/gm), ([, name]) => name!)
}

for (const name of await scenarios('Client scenarios (test against a client):'))
  test(`client: ${name}`, { timeout: 100_000 }, async () => {
    const { code, output } = await run(['client', '--command', client, '--scenario', name, '--timeout', '60000'])
    assert.equal(code, 0, output)
  })

/** The others want fixtures of their own (a tool with a fixed answer, resources, prompts) that ona does not have. */
const serverScenarios = ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection']

for (const name of serverScenarios)
  test(`server: ${name}`, { timeout: 100_000 }, async (t) => {
    const at = await world(t)
    const serving = spawn(process.execPath, [program, 'mcp', 'serve', '--port', '0', '--no-token'], {
      cwd: at.folder,
      env: at.env,
    })
    t.after(() => serving.kill('SIGKILL'))
    let said = ''
    const url = await new Promise<string>((resolve) =>
      serving.stderr.setEncoding('utf8').on('data', (piece) => {
        said += piece
        const found = /serving MCP at (\S+)/.exec(said)?.[1]
        if (found) resolve(found)
      }),
    )
    const { code, output } = await run(['server', '--url', url, '--scenario', name])
    assert.equal(code, 0, output)
  })

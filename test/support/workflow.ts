/** A conversation that goes through the workflow, with a model server that writes the cases and keeps every request. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { createConversation, createSession } from '../../src/store/conversations.ts'
import { openDb } from '../../src/store/open.ts'
import { listPlans } from '../../src/store/plans.ts'
import { approvePlan } from '../../src/workflow/planning.ts'
import { isFull } from './campaign-size.ts'
import { type Place, place } from './program.ts'

export const planText =
  '# Greet\n\n## Success criteria\n- `greet Ada` prints Hello, Ada!\n- no name prints Hello, world!\n'

export function sql(at: Place, text: string, ...values: (string | number | null)[]): void {
  const db = new DatabaseSync(at.db, { timeout: 30_000 })
  db.exec('PRAGMA busy_timeout = 30000')
  db.prepare(text).run(...values)
  db.close()
}

export const phaseOf = (at: Place, id = 'c') =>
  at.rows<{ phase: string }>(`SELECT phase FROM conversations WHERE id = '${id}'`)[0]?.phase
export const move = (at: Place, to: string, ...more: string[]) =>
  at.run(['--transition', to, '--conversation', 'c', ...more])

export async function conversation(t: TestContext, phase: string, env: Record<string, string> = {}): Promise<Place> {
  const at = place(t, env)
  await initDb(at)
  sql(at, 'INSERT INTO conversations(id, project_dir, phase) VALUES (?, ?, ?)', 'c', at.folder, phase)
  return at
}

/** What `ona --init-db` does, without a process for it unless everything is tested. */
export async function initDb(at: Place): Promise<void> {
  if (isFull) return void (await at.run(['--init-db']))
  const db = openDb(at.db)
  createSession(db, createConversation(db, { projectDir: at.folder }).id)
  db.close()
}

/** An approved plan, as rows that the product itself writes; by the command where everything is tested. */
export async function approved(at: Place, content = planText): Promise<void> {
  sql(at, `INSERT INTO plans(conversation_id, content, hash) VALUES ('c', ?, 'x')`, content)
  if (!isFull) {
    const db = openDb(at.db)
    const { id: planId } = listPlans(db, 'c').at(-1)!
    const { sessionId } = createSession(db, 'c')
    assert.deepEqual(approvePlan(db, 'c', { planId, by: 'Ada', sessionId }).ok, true)
    return db.close()
  }
  const { code, stderr } = await at.run(['plan', 'approve', '--conversation', 'c', '--as', 'Ada'])
  assert.deepEqual([code, stderr], [0, ''])
}

export interface ModelServer {
  readonly env: Record<string, string>
  readonly requests: string[]
  /** Answers the first request of this kind with these calls, whenever it comes. */
  when(matches: (body: string) => boolean, calls: Call[]): void
}

export type Call = { readonly name: string; readonly input: object }

/** Speaks Chat Completions; each reply is one list of calls, then it says that it is done. Keeps what it was sent. */
export async function modelServer(t: TestContext, replies: Call[][]): Promise<ModelServer> {
  const requests: string[] = []
  const expected: { matches: (body: string) => boolean; calls: Call[] }[] = []
  const replyTo = (body: string): Call[] => {
    const at = expected.findIndex(({ matches }) => matches(body))
    return at >= 0 ? expected.splice(at, 1)[0]!.calls : (replies.shift() ?? [])
  }
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (text) => {
      body += text
    })
    request.on('end', () => {
      requests.push(body)
      const calls = replyTo(body).map(({ name, input }, index) => ({
        index,
        id: `call_${requests.length}_${index}`,
        type: 'function',
        function: { name, arguments: JSON.stringify(input) },
      }))
      const delta = calls.length > 0 ? { tool_calls: calls } : { content: 'done' }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { role: 'assistant', ...delta } }] })}\n\n`)
      response.write(
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }] })}\n\n`,
      )
      response.end('data: [DONE]\n\n')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const when: ModelServer['when'] = (matches, calls) => void expected.push({ matches, calls })
  return { requests, when, env: { LM_STUDIO_BASE_URL: `http://127.0.0.1:${port}/v1`, LM_STUDIO_MODEL: 'recorder' } }
}

/** A greeter is a script of the shell where it can be: it runs once per case and mutant, and node takes ten times as long. */
const inNode = 'node "$PROJECT_DIR/bin/greet.mjs"'
const inShell = 'sh "$PROJECT_DIR/bin/greet.sh"'

export const greets = (criterion: string, name: string, args: string, expected: string, greet = inShell): Call => ({
  name: 'WriteTestCase',
  input: {
    name,
    criterion,
    script: `#!/usr/bin/env bash\nset -eu\nactual=$(${greet}${args})\necho "$actual"\n[ "$actual" = '${expected}' ] || { echo "got $actual" >&2; exit 1; }\n`,
  },
})

export const broken = '#!/bin/sh\necho "Hello, ${1-undefined}!"\n'
export const sound = '#!/bin/sh\necho "Hello, ${1-world}!"\n'
export const nodeSound = 'console.log(`Hello, ${process.argv[2] ?? "world"}!`)\n'
export const manifest = { name: 'greet', bin: { greet: 'bin/greet.sh' } }
export const nodeManifest = { name: 'greet', type: 'module', bin: { greet: 'bin/greet.mjs' } }

export async function implemented(t: TestContext, replies: Call[][], program = broken) {
  const model = await modelServer(t, replies)
  const at = await conversation(t, 'planning', model.env)
  await approved(at)
  const isShell = program.startsWith('#!/bin/sh')
  at.write('package.json', isShell ? manifest : nodeManifest)
  at.write(isShell ? 'bin/greet.sh' : 'bin/greet.mjs', program)
  return { at, model }
}

const bothOf = (greet: string): Call[] => [
  greets('C1', 'by-name', ' Ada', 'Hello, Ada!', greet),
  greets('C2', 'the-world', '', 'Hello, world!', greet),
]
export const cases = bothOf(inShell)
/** Of a greeter that is a program of node. */
export const nodeCases = bothOf(inNode)

// The least that an agent in Node must do: send the conversation, read the stream, run the shell, keep three rows, go on.
// FLOOR_HOOKS: commands to ask before each call, one after another, by a bare spawn each; with FLOOR_WAITING by a bash that was
// started while the model answered, and waits for a byte.
import { spawn } from 'node:child_process'
import { DatabaseSync } from 'node:sqlite'

const db = new DatabaseSync(process.env.FLOOR_DB)
db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; CREATE TABLE IF NOT EXISTS rows(data TEXT)')
const insert = db.prepare('INSERT INTO rows VALUES (?)')
const keep = (...rows) => {
  db.exec('BEGIN IMMEDIATE')
  for (const row of rows) insert.run(row)
  db.exec('COMMIT')
}
const waiting = new Map()
const shell = (command, asked) =>
  new Promise((resolve) => {
    const ready = waiting.get(command)
    waiting.delete(command)
    const child = ready ?? spawn('/bin/sh', ['-c', command], { stdio: [asked ? 'pipe' : 'ignore', 'pipe', 'pipe'] })
    ready?.stdio[3].write('g')
    child.stdin?.on('error', () => {}).end(asked)
    let out = ''
    child.stdout.on('data', (piece) => {
      out += piece
    })
    child.stderr.resume()
    child.on('close', () => resolve(out))
  })

const hooks = JSON.parse(process.env.FLOOR_HOOKS ?? '[]')
const startAhead = () => {
  for (const hook of hooks.filter((each) => !waiting.has(each))) {
    const script = `read -r -N 1 -u 3 word; exec 3>&-; ${hook}`
    waiting.set(hook, spawn('/bin/bash', ['-c', script], { stdio: ['pipe', 'pipe', 'pipe', 'pipe'] }))
  }
}
const tools = [{ name: 'bash', description: 'Runs a command', input_schema: { type: 'object', properties: {} } }]
const messages = [{ role: 'user', content: 'go' }]
for (;;) {
  const timer = process.env.FLOOR_WAITING && setTimeout(startAhead, 10)
  const response = await fetch(`${process.env.ANTHROPIC_BASE_URL}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'floor' },
    body: JSON.stringify({ model: 'm', max_tokens: 1000, stream: true, system: 'Work.', tools, messages }),
  })
  const events = (await response.text())
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)))
  clearTimeout(timer)
  const call = events.find(({ content_block }) => content_block?.type === 'tool_use')?.content_block
  const text = events.map(({ delta }) => delta?.partial_json ?? delta?.text ?? '').join('')
  if (!call) {
    for (const child of waiting.values()) child.kill()
    keep(text)
    process.stdout.write(`${text}\n`)
    break
  }
  const input = JSON.parse(text)
  for (const hook of hooks) await shell(hook, `${JSON.stringify({ tool_name: 'Bash', tool_input: input })}\n`)
  const content = await shell(input.command)
  messages.push({ role: 'assistant', content: [{ ...call, input }] })
  messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content }] })
  keep(text, JSON.stringify(call), content)
}

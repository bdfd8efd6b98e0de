// Drives a session from a program: two messages in, their results out, one interrupt. Usage: node drive.mjs [ona]
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const words = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json']
const ona = spawn(process.argv[2] ?? 'ona', words, { stdio: ['pipe', 'pipe', 'inherit'] })
const send = (message) => ona.stdin.write(`${JSON.stringify(message)}\n`)
const say = (content) => send({ type: 'user', message: { role: 'user', content } })

const prompts = ['list the files', 'hello']
say(prompts.shift())
for await (const line of createInterface({ input: ona.stdout })) {
  const message = JSON.parse(line)
  if (message.type !== 'result') continue
  console.log(`${message.subtype}: ${message.result.split('\n')[0]}`)
  if (prompts.length > 0) say(prompts.shift())
  else ona.stdin.end()
}

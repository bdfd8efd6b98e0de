/** How long a typed key takes to be seen: while the agent streams, against when it is idle. Needs a build. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startScripted } from '../test/support/model/tui-model.ts'
import { median } from './lib/processes.ts'
import { onPty } from './lib/pty.ts'
import { report } from './lib/report.ts'

const place = mkdtempSync(join(tmpdir(), 'ona-bench-tui-'))
const words = Array.from({ length: 6000 }, (_, i) => (i % 12 === 11 ? `word${i}.\n\n` : `word${i} `)).join('')
const model = await startScripted(`${words}\n\`\`\`ts\n${'const x = 1 // note\n'.repeat(300)}\`\`\`\n`, {
  pieceMs: 2,
  pieceSize: 30,
})
const env = {
  PATH: process.env['PATH'],
  HOME: place,
  LANG: 'C.UTF-8',
  LM_STUDIO_BASE_URL: model.baseUrl,
  LM_STUDIO_MODEL: 'scripted',
}
const pty = onPty([process.execPath, join(import.meta.dirname, '..', 'bin', 'ona.mjs')], env, place)
await pty.until(/scripted/)

/** Types letters that nothing else prints, one by one, and waits for each. */
async function latencies(count: number): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < count; i++) {
    const letter = String.fromCodePoint(0x10d0 + (i % 30))
    pty.write(letter)
    times.push(await pty.until(letter))
    await new Promise((resolve) => setTimeout(resolve, 15))
  }
  pty.write('\x15')
  return times
}

const idle = await latencies(60)
pty.write('go\r')
await pty.until('word1')
const streaming = await latencies(60)
pty.write('\x1b')
await new Promise((resolve) => setTimeout(resolve, 200))
pty.write('\x03\x04\x04')
pty.kill()
model.close()
rmSync(place, { recursive: true, force: true })
const worst = Math.max(...streaming)
process.stdout.write(
  `idle median ${median(idle).toFixed(1)} ms, streaming median ${median(streaming).toFixed(1)} ms, worst ${worst.toFixed(1)} ms\n`,
)
report('From a key press to its echo on a terminal, while the model streams and while it is idle.', [
  { what: 'a key while streaming × idle, median', value: median(streaming) / median(idle), atMost: 10 },
  { what: 'the worst key while streaming, of 200 ms', value: worst / 200, atMost: 1 },
])

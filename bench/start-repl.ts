/** From starting ona to its first prompt on a terminal, against an empty Node process on the same terminal. Needs a build. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from './lib/processes.ts'
import { onPty } from './lib/pty.ts'
import { report } from './lib/report.ts'

const place = mkdtempSync(join(tmpdir(), 'ona-bench-repl-'))
const env = { PATH: process.env['PATH'], HOME: place, LANG: 'C.UTF-8' }
const empty = join(place, 'empty.mjs')
writeFileSync(empty, "process.stdout.write('ready')\n")
const program = join(import.meta.dirname, '..', 'bin', 'ona.mjs')

async function prompt(): Promise<{ first: number; ready: number }> {
  const pty = onPty([process.execPath, program], env, place)
  const first = await pty.until('❯')
  const ready = first + (await pty.until(/not a language model/))
  pty.write('\x04\x04')
  await pty.ended
  return { first, ready }
}
async function floor(): Promise<number> {
  const pty = onPty([process.execPath, empty], env, place)
  const first = await pty.until('ready')
  await pty.ended
  return first
}

const rounds = Number(process.argv[2] ?? 15)
await prompt()
await floor()
const times: { first: number; ready: number; floor: number }[] = []
for (let round = 0; round < rounds; round++) times.push({ ...(await prompt()), floor: await floor() })
rmSync(place, { recursive: true, force: true })
report('Wall time on a terminal, in turns with an empty Node program; medians.', [
  {
    what: 'start to first prompt × empty Node',
    value: median(times.map(({ first, floor: least }) => first / least)),
    atMost: 1.5,
  },
  {
    what: 'start to session ready × empty Node',
    value: median(times.map(({ ready, floor: least }) => ready / least)),
    atMost: 3,
  },
])

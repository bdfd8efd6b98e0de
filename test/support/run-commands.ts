/**
 * Many command lines in one process, for what is true of a command in whatever process it runs: JSON lines of words on stdin, a
 * JSON line of `Ran` for each on stdout. Use `runCommands` of program.ts.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tellFailure } from '../../src/cli/report-crash.ts'
import { commands, flagCommands } from '../../src/cli/table.ts'

const table = { ...commands, ...flagCommands }
const written = { 1: '', 2: '' }
const { writeSync } = fs
const keep = (to: 1 | 2, piece: string | Uint8Array): number => {
  written[to] += Buffer.from(piece as string).toString()
  return Buffer.byteLength(piece)
}
fs.writeSync = ((to: 1 | 2, piece: string | Uint8Array) => keep(to, piece)) as typeof writeSync
syncBuiltinESMExports()
process.stdout.write = (piece: string | Uint8Array) => keep(1, piece) >= 0
process.stderr.write = (piece: string | Uint8Array) => keep(2, piece) >= 0

for (const line of fs.readFileSync(0, 'utf8').trim().split('\n')) {
  const [name, ...words]: string[] = JSON.parse(line)
  written[1] = written[2] = ''
  const code = await Promise.resolve(table[name!]!.load())
    .then(({ run }) => run(words))
    .catch(tellFailure)
  writeSync(1, `${JSON.stringify({ code, stdout: written[1], stderr: written[2] })}\n`)
}

/** How long ona takes to start, against an empty Node process. Needs a build: `npm run build && node bench/start.ts`. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compare, type Program } from './lib/processes.ts'
import { report } from './lib/report.ts'

const root = join(import.meta.dirname, '..')
if (!existsSync(join(root, 'dist/main.cjs'))) throw new Error('there is no build; run npm run build first')

const place = mkdtempSync(join(tmpdir(), 'ona-bench-'))
const empty = join(place, 'empty.mjs')
writeFileSync(empty, '')
const fresh = join(place, 'fresh.db')
const ona = (name: string, words: string[], db: string, prepare?: () => void): Program => ({
  name,
  argv: [process.execPath, join(root, 'bin/ona.mjs'), ...words],
  env: { AGENT_SDLC_DB: db, HOME: place },
  prepare,
})

const read = { tool: 'Read', input: { file_path: join(root, 'package.json') } }
const programs: Program[] = [
  { name: 'empty Node', argv: [process.execPath, empty], env: { HOME: place } },
  ona('ona --version', ['--version'], fresh),
  ona('ona --init-db, new file', ['--init-db'], fresh, () => {
    for (const end of ['', '-wal', '-shm']) rmSync(fresh + end, { force: true })
  }),
  ona('ona --init-db, file there', ['--init-db'], join(place, 'kept.db')),
  ona('ona --eval of Read', ['--eval', JSON.stringify(read)], join(place, 'kept.db')),
]
const [, ...ratios] = compare(programs, Number(process.argv[2] ?? 31))
rmSync(place, { recursive: true })
const bars = [1.15, 1.6, 1.6, 2]
report(
  'Wall time of the whole process, in turns with an empty Node program; medians.',
  ratios.map((ratio, index) => ({
    what: `${programs[index + 1]!.name} × empty Node`,
    value: ratio,
    atMost: bars[index],
  })),
)

/** `ona audit import`: the logs of other agents' hooks into the database, so that one place holds what all of them did. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

const help = `ona audit: what other agents did, in the same database.

  ona audit import DIR    bring a dispatcher's logs (<repository>/.ai/tmp) in; what is already there is not added twice

  --project DIR     the repository the logs belong to (default: two folders above DIR)
  --json            print the counts as JSON

Example:
  ona audit import .ai/tmp
`

export async function run(words: string[]): Promise<number> {
  let parsed: ReturnType<typeof parse>
  try {
    parsed = parse(words)
  } catch (cause) {
    return wrong((cause as Error).message)
  }
  const { values, positionals } = parsed
  const [word, given, ...more] = positionals
  if (values.help) {
    process.stdout.write(help)
    return 0
  }
  if (word !== 'import')
    return wrong(word === undefined ? 'say what to do: import DIR' : `there is no "${word}"; there is import`)
  if (given === undefined || more.length > 0) return wrong('import takes one folder')
  const folder = resolve(given)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    process.stderr.write(
      `ona audit: ${folder} is not a folder; the dispatcher keeps its logs in <repository>/.ai/tmp\n`,
    )
    return 1
  }
  const { dbPath, openDb } = await import('../../store/open.ts')
  const { importDispatcher } = await import('../../audit/import-dispatcher.ts')
  const db = openDb(dbPath())
  try {
    const { problems, ...counts } = importDispatcher(
      db,
      folder,
      values.project === undefined ? undefined : resolve(values.project),
    )
    if (values.json) process.stdout.write(`${JSON.stringify({ ...counts, problems })}\n`)
    else {
      process.stdout.write(
        `${counts.decisions} decisions and ${counts.events} events of ${counts.sessions} sessions imported into ${db.path}\n`,
      )
      if (counts.torn > 0) process.stdout.write(`${counts.torn} lines were cut off by a crash and left out\n`)
    }
    for (const problem of problems) process.stderr.write(`ona audit: ${problem}\n`)
    return problems.length === 0 ? 0 : 1
  } finally {
    db.close()
  }
}

const parse = (words: string[]) =>
  parseArgs({
    args: words,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      project: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })

function wrong(problem: string): number {
  process.stderr.write(`ona audit: ${problem}; see ona audit --help\n`)
  return 2
}

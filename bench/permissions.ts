/**
 * What a ruling on a command line costs: on a new line, on one that was seen before, and with rules on files; then step by
 * step on the lines of a replay, all of them new. `node bench/permissions.ts`. CPU time, so that a busy machine counts less.
 */
import { parse } from 'unbash'
import { decide } from '../src/permissions/decide.ts'
import { type FileView, rememberingView } from '../src/permissions/paths/view.ts'
import type { PermissionSettings } from '../src/permissions/question.ts'
import { filesOf } from '../src/permissions/shell/files/files.ts'
import type { ShellCommand } from '../src/permissions/shell/parse/command.ts'
import { readShell } from '../src/permissions/shell/parse/read.ts'
import { certainSpellings, possibleSpellings } from '../src/permissions/shell/spellings.ts'
import { median } from './lib/processes.ts'
import { recordedCall } from './lib/recorded-work.ts'
import { report } from './lib/report.ts'

const kinds: ((n: number) => string)[] = [
  (n) => `git status --short ${n}`,
  (n) => `npm test -- --grep "case ${n}"`,
  (n) => `cd src && ls -la file${n}.ts | head -5`,
  (n) => `grep -n "needle${n}" src/main.ts > out${n}.txt`,
  (n) => `docker run --rm image${n} sh -c 'echo hi'`,
  (n) => `cat a${n}.txt b.txt | sort | uniq -c`,
]
let made = 0
const lines = (count: number) => Array.from({ length: count }, () => kinds[made % kinds.length]!(made++))

const scoped: PermissionSettings = {
  allow: ['Bash(git status *)', 'Bash(npm test *)', 'Bash(ls *)', 'Bash(cat *)'],
  deny: ['Bash(rm -rf *)', 'Bash(git push *)', 'Bash(sudo *)'],
  ask: ['Bash(docker *)'],
}
const withFiles: PermissionSettings = { ...scoped, deny: [...scoped.deny!, 'Read(.env)', 'Edit(/secrets/**)'] }
const here = process.cwd()

const rule =
  (settings: PermissionSettings, files?: FileView, cwd = here) =>
  (command: string) =>
    decide({
      settings,
      ...(files && { files }),
      mode: 'default',
      tool: 'Bash',
      input: { command },
      hook: 'none',
      cwd,
      projectDir: cwd,
      home: '/home/x',
    })

/** Microseconds a line, of the better half of many rounds. */
async function cost(work: (line: string) => unknown, next: () => readonly string[], rounds = 31): Promise<number> {
  const samples: number[] = []
  for (let round = 0; round < rounds; round++) {
    const batch = next()
    const start = process.cpuUsage()
    for (const line of batch) await work(line)
    const { user, system } = process.cpuUsage(start)
    if (round > 2) samples.push((user + system) / batch.length)
  }
  return median(samples)
}

const same = lines(600)
const fresh = await cost(rule(scoped), () => lines(600))
const again = await cost(rule(scoped), () => same)
const files = await cost(rule(withFiles), () => same)
const replayed = await cost(rule(withFiles, rememberingView({ lasting: true })), () => same)

/** A project that is not there: what a ruling on `cp -r dist` costs in one that is depends on what it holds. */
const gone = '/home/x/project'
/** The lines of a history in which none comes twice, as they are when they were read from a database. */
const history = (): readonly string[] =>
  JSON.parse(
    JSON.stringify(
      Array.from({ length: 2000 }, () => recordedCall(Math.random, made++, gone, 'distinct').input['command']!),
    ),
  )
const view = rememberingView({ lasting: true })
const all = () => true
const spellings = (command: ShellCommand) => [certainSpellings(command, all), possibleSpellings(command, all)]
const steps = {
  parse: await cost(parse, history),
  read: await cost(readShell, history),
  'and spell': await cost((line) => readShell(line).commands.map(spellings), history),
  'and list files': await cost(
    (line) => readShell(line).commands.map((each) => [spellings(each), filesOf(each)]),
    history,
  ),
  rule: await cost(rule(withFiles, view, gone), history),
}
const us = (...values: number[]) => `${values.map((value) => value.toFixed(1)).join(' and ')} µs`
report('One ruling on a command line, in process; CPU time, medians. A history is one in which no line comes twice.', [
  { what: 'a ruling on a known line × on a new one', value: again / fresh, atMost: 0.6, detail: us(again, fresh) },
  { what: 'with rules on files × without', value: files / again, atMost: 6, detail: us(files, again) },
  { what: 'the same, replayed, × without', value: replayed / again, atMost: 2.5, detail: us(replayed, again) },
  {
    what: 'a ruling on a new line of a history × its parse',
    value: steps.rule / steps.parse,
    atMost: 40,
    detail: Object.entries(steps)
      .map(([what, value]) => `${what} ${us(value)}`)
      .join(', '),
  },
])

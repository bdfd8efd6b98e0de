/**
 * Runs test files in one process, one after another, which saves each of them the start of a process and the loading of what
 * they share; those of whole programs, in test/, share the process that runs the program as well. A file that leaves something behind (an environment variable, a folder, a patched function, an open
 * server) fails by name, since the next file would meet it. A file that cannot share a process says why in a line
 * `// in a process of its own: WHY`.
 */
import fs, { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, suite } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { cpuMs } from './cpu-time.ts'
import { diskLine, isOnDisk, isProgram, programs } from './temp-folder.ts'

/** What a file says; or that it compares snapshots, which Node finds by the name of the process's file. */
const alone = /^\/\/ in a process of its own: \S|node:worker_threads|\.assert\.snapshot\(/m
/** A unit that starts processes: next to them its own start is nothing, and they cost more out of a large process. */
const starts = /node:child_process|runCommand/
/** What ends with the process: a browser, a home for jobs; and what counts the runs of the program in it. */
const once = /support\/(?:browser|fleet-jobs|passed-flags)\.ts/

export function isShared(file: string): boolean {
  const text = readFileSync(file, 'utf8')
  return !alone.test(text) && !starts.test(text) && !(isProgram(file) && once.test(text))
}

/** The files in each batch, by the path of the module that runs it. */
export type Batches = ReadonlyMap<string, readonly string[]>

interface Reported {
  readonly name: string
  readonly nesting: number
  readonly file?: string | undefined
}

/** The file whose suite in a batch this is: the one around all of its tests. */
export function batchedFile(batches: Batches, { name, nesting, ...data }: Reported): string | undefined {
  const batch = batches.get((data as { entryFile?: string }).entryFile ?? '')
  return nesting === 0 && batch?.includes(name) ? name : undefined
}

/** Whether a suite failed for no reason of its own. */
export const isOnlyItsTests = (error: Error): boolean =>
  (error as { failureType?: string }).failureType === 'subtestsFailed'

interface Dealt {
  readonly files: readonly string[]
  /** What a file takes, in milliseconds of CPU time. */
  cost(file: string): number
}

/** Files in one process, at most, and what one of them may take. */
const limits = {
  unitsOnDisk: { size: 24, mostMs: 3000 },
  units: { size: 24, mostMs: 3000 },
  programs: { size: 5, mostMs: 2500 },
} as const

const kindOf = (file: string): keyof typeof limits =>
  isProgram(file) ? 'programs' : isOnDisk(file) ? 'unitsOnDisk' : 'units'

/** Files whose temporary files are in different places are not in one process. */
export function deal({ files, cost }: Dealt): string[][] {
  const kinds = Object.groupBy(files, kindOf)
  return Object.entries(limits).flatMap(([kind, limit]) =>
    dealAlike({ files: kinds[kind as keyof typeof limits] ?? [], cost, ...limit }),
  )
}

/** Batches of about the same length, longest file first; a file that takes longer than a batch should is not in one. */
function dealAlike({
  files,
  cost,
  size,
  mostMs,
}: Dealt & { readonly size: number; readonly mostMs: number }): string[][] {
  const short = files.filter((file) => cost(file) < mostMs && isShared(file))
  const batches: string[][] = Array.from({ length: Math.ceil(short.length / size) }, () => [])
  const sorted = short.toSorted((a, b) => cost(b) - cost(a))
  for (const [index, file] of sorted.entries()) batches[index % batches.length]!.push(file)
  return batches.filter(({ length }) => length > 1)
}

/** Writes the module that runs this batch, into `folder`. */
export function writeBatch(files: readonly string[], folder: string): string {
  const words = JSON.stringify({ files, times: folder })
  const where = isOnDisk(files[0]!) ? `${diskLine} that of its files\n` : ''
  const at = join(folder, `${isProgram(files[0]!) ? programs : 'units'}-${encodeURIComponent(files[0]!)}.mjs`)
  writeFileSync(at, `${where}import { runBatch } from ${JSON.stringify(import.meta.url)}\nawait runBatch(${words})\n`)
  return at
}

export async function runBatch({ files, times }: { files: readonly string[]; times: string }): Promise<void> {
  process.exit = (code) => {
    throw new Error(`process.exit(${code}) in a process that is shared with other test files`)
  }
  for (const file of files) {
    const before = cpuMs()
    const found = state()
    const handles = openHandles()
    // the tests of a suite begin when all of the file has been read, as in a process of its own
    await suite(file, async () => {
      await import(pathToFileURL(file).href)
      // after the hooks of the file itself, which its import has added
      after(() => complain(found, handles))
    })
    if (before !== undefined) writeFileSync(join(times, encodeURIComponent(file)), String(cpuMs()! - before))
  }
}

type State = Readonly<Record<string, unknown>>

/** What all files of a process share and a test could change. */
function state(): State {
  const variables = Object.entries(process.env).map(([name, value]) => [`process.env.${name}`, value])
  const globals = Object.entries(Object.getOwnPropertyDescriptors(globalThis)).map(([name, { value }]) => [
    `globalThis.${name}`,
    value,
  ])
  const files = Object.entries(fs).map(([name, value]) => [`fs.${name}`, value])
  return {
    ...Object.fromEntries(variables),
    ...Object.fromEntries(files),
    ...Object.fromEntries(globals),
    'process.cwd()': process.cwd(),
    'process.exitCode': process.exitCode,
    'process.exit': process.exit,
    'process.kill': process.kill,
    'process.getBuiltinModule': process.getBuiltinModule,
    'process.argv': process.argv.join(' '),
    'process.platform': process.platform,
    'process.stdout.write': process.stdout.write,
    'process.stderr.write': process.stderr.write,
    'console.log': console.log,
    'console.error': console.error,
    'Date.now': Date.now,
    'Math.random': Math.random,
  }
}

/** What keeps a process from ending: servers, children, timers. */
function openHandles(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1)
  return counts
}

async function complain(found: State, handles: ReadonlyMap<string, number>): Promise<void> {
  const now = state()
  // a global that was not there is a library's own; a variable is not
  const counts = (key: string) => key in found || key.startsWith('process.env.')
  const keys = new Set([...Object.keys(found), ...Object.keys(now)])
  const changed = [...keys].filter((key) => counts(key) && !Object.is(found[key], now[key]))
  if (changed.length > 0) throw new Error(`the tests of this file leave changed: ${changed.join(', ')}`)
  const left = () => [...openHandles()].filter(([type, count]) => kept.test(type) && count > (handles.get(type) ?? 0))
  for (let round = 0; round < 100 && left().length > 0; round++) await wait(20)
  if (left().length > 0) throw new Error(`the tests of this file leave open: ${left().map(([type]) => type)}`)
}

const kept = /^(TCPServerWrap|PipeServerWrap|ProcessWrap|FSEventWrap|StatWatcher|Worker|MessagePort|UDPWrap)$/

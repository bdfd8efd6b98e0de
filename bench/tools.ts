/**
 * What our searches cost over ripgrep's, our shell over a bare one, and the memory of a search and of a small look at a huge
 * file: `node bench/tools.ts [files]`, 10,000 files when left out. CPU time of this process and its children, so that what
 * else the machine does counts little; on Linux. With `ONA_BENCH_RECORDS` the files are made once and kept there.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { builtInTool } from '../src/tools/all.ts'
import type { ToolHost } from '../src/tools/host.ts'
import { findRipgrep } from '../src/tools/search/ripgrep.ts'
import type { ToolContext } from '../src/tools/tool.ts'
import { fileFinder } from '../src/tui/input/project-files.ts'
import { median } from './lib/processes.ts'
import { report } from './lib/report.ts'

const files = Number(process.argv[2] ?? 10_000)
const rounds = files > 50_000 ? 2 : 9
const place = mkdtempSync(join(tmpdir(), 'ona-bench-'))
const tree = join(process.env['ONA_BENCH_RECORDS'] ?? place, `tree-${files}`)
const ripgrep = findRipgrep({})
if (!ripgrep) throw new Error('there is no ripgrep to compare with')

const host = {
  files: { note: () => {}, get: () => undefined },
  mayShow: () => true,
  moveTo: async () => true,
  tasks: { movable: () => () => {} },
} as unknown as ToolHost // only what Read, Glob, Grep and Bash ask of it
const context = {
  cwd: place,
  projectDir: place,
  signal: new AbortController().signal,
  env: process.env,
  host,
  progress: () => {},
} as unknown as ToolContext

async function use(tool: string, input: object): Promise<string> {
  const { content, isError } = await builtInTool(tool)!.run({ ...input }, context)
  if (isError) throw new Error(content)
  return content
}

/** Folders of 25 files, five levels deep, each file of about a kilobyte; one in a hundred holds the word. */
function plant(): void {
  if (existsSync(tree)) return
  const made = `${tree}.part`
  rmSync(made, { recursive: true, force: true })
  for (let n = 0; n < files; n++) {
    const at = String(Math.floor(n / 25))
    const folder = join(made, ...at.padStart(5, '0').slice(0, 4).split(''), `d${at}`)
    if (n % 25 === 0) mkdirSync(folder, { recursive: true })
    const words = `export const value${n} = ${n}\n`.repeat(30) + (n % 100 === 0 ? '// the needle is here\n' : '')
    writeFileSync(join(folder, `file${n}.${n % 3 === 0 ? 'ts' : n % 3 === 1 ? 'js' : 'md'}`), words)
  }
  renameSync(made, tree)
}

/** As long as a user would wait for ripgrep: until it has ended and all of its output is read. */
const bare = (program: string, args: readonly string[], cwd = place) =>
  new Promise<void>((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'ignore'] })
    child.stdout.resume()
    child.on('error', reject)
    child.on('close', () => resolve())
  })

/** Milliseconds of this process, and of its children that have ended (counted in hundredths of a second). */
function cpu(): number {
  const { user, system } = process.cpuUsage()
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)!.split(' ')
  return (user + system) / 1000 + (Number(fields[13]) + Number(fields[14])) * 10
}

/** What the first costs over what each other costs; the works take turns. */
async function compare(times: number, ...works: (() => Promise<unknown>)[]): Promise<number[]> {
  const spent = works.map(() => 0)
  for (let round = 0; round <= times; round++) {
    for (const [index, work] of works.entries()) {
      const start = cpu()
      await work()
      if (round > 0) spent[index]! += cpu() - start // the first time fills the caches
    }
  }
  return spent.slice(1).map((each) => spent[0]! / each)
}

/** The most memory that one call takes, in a process of its own. */
function peak(tool: string, input: object): number {
  const code = `const { builtInTool } = await import(${JSON.stringify(join(import.meta.dirname, '../src/tools/all.ts'))})
    const host = { files: { note() {}, get() {} }, mayShow: () => true }
    const context = { cwd: '/', signal: new AbortController().signal, env: {}, host, progress() {} }
    await builtInTool('${tool}').run(${JSON.stringify(input)}, context)
    console.log(process.resourceUsage().maxRSS)`
  return Number(spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' }).stdout)
}
const memory = (tool: string, many: object, few: object) =>
  median([1, 2, 3].map(() => peak(tool, many))) / median([1, 2, 3].map(() => peak(tool, few)))

try {
  const [shell, bareBash] = await compare(
    200,
    () => use('Bash', { command: 'echo hello' }),
    () => bare('/bin/sh', ['-c', 'echo hello']),
    () => bare('/bin/bash', ['-c', 'echo hello']),
  )
  plant()
  const [grep] = await compare(
    rounds,
    () => use('Grep', { pattern: 'the needle', path: tree }),
    () => bare(ripgrep, ['-l', 'the needle', './'], tree),
  )
  const [content] = await compare(
    rounds,
    () => use('Grep', { pattern: 'needle \\w+', path: tree, output_mode: 'content', '-C': 2, head_limit: 0 }),
    () => bare(ripgrep, ['-n', '-C2', 'needle \\w+', './'], tree),
  )
  const [every] = await compare(
    rounds,
    () => use('Grep', { pattern: 'export', path: tree }),
    () => bare(ripgrep, ['-l', 'export', './'], tree),
  )
  const [glob] = await compare(
    rounds,
    () => use('Glob', { pattern: '**/*.ts', path: tree }),
    () => bare(ripgrep, ['--files', '--sortr=modified', '--hidden', '--no-ignore', '-g', '*.ts', './'], tree),
  )
  const complete = fileFinder(
    () => tree,
    () => true,
  )
  await complete('') // lists the files once
  const began = cpu()
  const words = ['file7', 'd12', 'needle', 'f1ts', 'd3/file7']
  for (const word of words) await complete(word)
  const completion = (cpu() - began) / words.length
  const huge = join(place, 'huge.txt')
  writeFileSync(huge, Array.from({ length: 200_000 }, (_, n) => `line ${n}`).join('\n'))
  truncateSync(huge, 1_073_741_824)
  const few = join(place, 'few')
  mkdirSync(few)
  const small = join(few, 'small.txt')
  writeFileSync(small, Array.from({ length: 100 }, (_, n) => `line ${n}`).join('\n'))

  report(
    `${files.toLocaleString('en')} files. CPU time of the process and its children, in turns; medians. Memory: peak resident size.`,
    [
      { what: 'Grep, files × ripgrep', value: grep!, atMost: 1.5 },
      { what: 'Grep, content × ripgrep', value: content!, atMost: 1.5 },
      { what: 'Grep, every file matches × ripgrep', value: every!, atMost: 1.5 },
      { what: 'Glob, newest first × ripgrep', value: glob!, atMost: 1.5 },
      { what: `@ completion of a word`, value: completion, unit: 'ms', detail: 'in slices, between key presses' },
      { what: 'Bash × a bare sh -c', value: shell!, atMost: 1.6 },
      { what: 'Bash × a bare bash -c', value: bareBash!, atMost: 1.25 },
      {
        what: 'memory: 10 lines of 1 GB × of 1 KB',
        value: memory('Read', { file_path: huge, limit: 10 }, { file_path: small, limit: 10 }),
        atMost: 1.1,
      },
      {
        what: `memory: Glob of ${files} files × of one`,
        value: memory('Glob', { pattern: '**', path: tree }, { pattern: '**', path: few }),
        atMost: 1.5,
      },
      {
        what: `memory: Grep of ${files} files × of one`,
        value: memory('Grep', { pattern: 'export', path: tree }, { pattern: 'line', path: few }),
        atMost: 3,
      },
    ],
  )
} finally {
  rmSync(place, { recursive: true, force: true })
}

/**
 * What our searches cost over ripgrep's, our shell over a bare one, and the memory of a small look at a huge file:
 * `node bench/tools.ts [files]`, 10,000 files when left out; 50,000 is the size that the bars are meant for.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { builtInTool } from '../src/tools/all.ts'
import type { ToolHost } from '../src/tools/host.ts'
import { findRipgrep } from '../src/tools/search/ripgrep.ts'
import type { ToolContext } from '../src/tools/tool.ts'
import { median, report } from './lib/processes.ts'

const files = Number(process.argv[2] ?? 10_000)
const rounds = 9
const place = mkdtempSync(join(tmpdir(), 'ona-bench-'))
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
  for (let n = 0; n < files; n++) {
    const folder = join(
      place,
      'tree',
      ...String(Math.floor(n / 25))
        .padStart(5, '0')
        .slice(0, 4)
        .split(''),
      `d${Math.floor(n / 25)}`,
    )
    if (n % 25 === 0) mkdirSync(folder, { recursive: true })
    const words = `export const value${n} = ${n}\n`.repeat(30) + (n % 100 === 0 ? '// the needle is here\n' : '')
    writeFileSync(join(folder, `file${n}.${n % 3 === 0 ? 'ts' : n % 3 === 1 ? 'js' : 'md'}`), words)
  }
}

/** As long as a user would wait for ripgrep: until it has ended and all of its output is read. */
const bare = (program: string, args: readonly string[], cwd = place) =>
  new Promise<void>((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'ignore'] })
    child.stdout.resume()
    child.on('error', reject)
    child.on('close', () => resolve())
  })

/** Medians in milliseconds; the works take turns, so that a busy moment hits them all. */
async function compare(times: number, ...works: (() => Promise<unknown>)[]): Promise<number[]> {
  const samples: number[][] = works.map(() => [])
  for (let round = 0; round <= times; round++) {
    for (const [index, work] of works.entries()) {
      const start = performance.now()
      await work()
      if (round > 0) samples[index]!.push(performance.now() - start) // the first time fills the caches
    }
  }
  return samples.map(median)
}

try {
  const [bash, shell, bareBash] = await compare(
    200,
    () => use('Bash', { command: 'echo hello' }),
    () => bare('/bin/sh', ['-c', 'echo hello']),
    () => bare('/bin/bash', ['-c', 'echo hello']),
  )
  plant()
  const path = join(place, 'tree')
  const hidden = ['--hidden', '--no-ignore']
  const [grep, rgGrep] = await compare(
    rounds,
    () => use('Grep', { pattern: 'the needle', path }),
    () => bare(ripgrep, ['-l', 'the needle', './'], path),
  )
  const [content, rgContent] = await compare(
    rounds,
    () => use('Grep', { pattern: 'needle \\w+', path, output_mode: 'content', '-C': 2, head_limit: 0 }),
    () => bare(ripgrep, ['-n', '-C2', 'needle \\w+', './'], path),
  )
  const [glob, rgGlob] = await compare(
    rounds,
    () => use('Glob', { pattern: '**/*.ts', path }),
    () => bare(ripgrep, ['--files', '--sortr=modified', ...hidden, '-g', '*.ts', './'], path),
  )
  const huge = join(place, 'huge.txt')
  writeFileSync(huge, Array.from({ length: 200_000 }, (_, n) => `line ${n}`).join('\n'))
  truncateSync(huge, 1_073_741_824)
  const small = join(place, 'small.txt')
  writeFileSync(small, Array.from({ length: 100 }, (_, n) => `line ${n}`).join('\n'))
  const peak = (file: string) => {
    const code = `const { builtInTool } = await import(${JSON.stringify(join(import.meta.dirname, '../src/tools/all.ts'))})
      const host = { files: { note() {}, get() {} } }
      const context = { cwd: '/', signal: new AbortController().signal, env: {}, host, progress() {} }
      await builtInTool('Read').run({ file_path: ${JSON.stringify(file)}, limit: 10 }, context)
      console.log(process.resourceUsage().maxRSS)`
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })
    return Number(run.stdout)
  }
  const memory = (name: string) => median([peak(name), peak(name), peak(name)])

  console.log(`${files} files`)
  process.exitCode = report([
    { what: 'Grep, files × ripgrep', ratio: grep! / rgGrep!, bar: 1.5 },
    { what: 'Grep, content × ripgrep', ratio: content! / rgContent!, bar: 1.5 },
    { what: 'Glob, newest first × ripgrep', ratio: glob! / rgGlob!, bar: 1.5 },
    { what: 'Bash × a bare sh -c', ratio: bash! / shell!, bar: 1.6 },
    { what: 'Bash × a bare bash -c', ratio: bash! / bareBash!, bar: 1.25 },
    { what: 'memory: 10 lines of 1 GB × of 1 KB', ratio: memory(huge) / memory(small), bar: 1.1 },
  ])
} finally {
  rmSync(place, { recursive: true, force: true })
}

/** One mutant at a time in a copy of the checkout: the tests that reach it run, the quickest first, until one fails. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { join } from 'node:path'
import { endDescendants } from '../descendants.ts'
import { forgetBuild } from './copy.ts'
import { endProcessesOf } from './leftovers.ts'
import { type Mutant, mutated } from './mutants.ts'
import { type Graph, nearTestsOf, programTestsOf } from './related-tests.ts'

export interface TrialOptions {
  readonly root: string
  readonly importers: Graph
  /** So many of the tests that import the file, and all in its own folder of src. */
  readonly near: number
  /** Those alone, without the tests that run the program. */
  readonly units: boolean
  /** A test file that takes longer has failed; five times what it took before is the limit where that is known. */
  readonly limitMs: number
  /** Milliseconds of each test file that passed; kept up to date. */
  readonly times: Record<string, number>
  onNote(text: string): void
}

/** Each with its copy of the checkout. */
const running = new Map<ChildProcess, string>()
/** Whether a test passes without a mutant: one that does not catches nothing. */
const sound = new Map<string, boolean>()
/** The tests that caught a mutant of a file, the last one first: likely to catch the next. */
const hunters = new Map<string, string[]>()

/** Resolves with the test that noticed, or undefined. */
export type Trial = (mutant: Mutant) => Promise<string | undefined>

export function openTrial(copy: string, options: TrialOptions): Trial {
  const { root, importers, near, units, times } = options
  const passes = async (test: string, limitMs: number) => {
    forgetBuild(copy)
    const startedAt = performance.now()
    const passed = await run(test, copy, limitMs)
    if (passed) times[test] = Math.round(performance.now() - startedAt)
    return passed
  }
  const isSound = async (test: string) => {
    if (!sound.has(test)) {
      sound.set(test, await passes(test, options.limitMs))
      if (!sound.get(test)) options.onNote(`${test} fails without a mutant too, and is left out`)
    }
    return sound.get(test)!
  }
  const limitOf = (test: string) => Math.min(options.limitMs, Math.max(20_000, 5 * (times[test] ?? Infinity)))
  const orderOf = (file: string) => {
    const known = hunters.get(file) ?? []
    const reached = nearTestsOf(file, importers, near)
    const others = [...new Set([...reached, ...(units ? [] : programTestsOf(file, root))])]
    return [...known, ...others.filter((test) => !known.includes(test)).sort((a, b) => timeOf(a) - timeOf(b))]
  }
  // a test beside the code is quick, one of the program is not
  const timeOf = (test: string) => times[test] ?? (test.startsWith('src/') ? 1000 : 30_000)
  return async (mutant) => {
    const path = join(copy, mutant.file)
    const original = readFileSync(path, 'utf8')
    try {
      for (const test of orderOf(mutant.file)) {
        if (sound.get(test) === false) continue
        writeFileSync(path, mutated(original, mutant))
        if (await passes(test, limitOf(test))) continue
        writeFileSync(path, original)
        if (!(await isSound(test))) continue
        const known = hunters.get(mutant.file) ?? []
        hunters.set(mutant.file, [test, ...known.filter((each) => each !== test)])
        return test
      }
      return undefined
    } finally {
      writeFileSync(path, original)
    }
  }
}

/** Ends what still runs. */
export function closeTrials(): void {
  for (const [child, cwd] of running) {
    stop(child)
    endProcessesOf(cwd)
  }
}

/** Ends at the first failed test; one that hangs has failed. */
function run(test: string, cwd: string, limitMs: number): Promise<boolean> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const child = spawn(process.execPath, [test], {
    ...{ cwd, detached: true, stdio: ['ignore', 'pipe', 'ignore'] },
    env: { ...env, NODE_COMPILE_CACHE: join(cwd, '.compiled') },
  })
  running.set(child, cwd)
  if (child.pid !== undefined) setPriority(child.pid, Math.max(5, getPriority()))
  const limit = setTimeout(() => stop(child), limitMs)
  child.stdout!.on('data', (piece: Buffer) => /^\s*(✖|not ok)/m.test(piece.toString()) && stop(child))
  return new Promise((resolve) =>
    child.on('close', (code) => {
      clearTimeout(limit)
      running.delete(child)
      endProcessesOf(cwd)
      resolve(code === 0)
    }),
  )
}

/** With all that it started, also in groups of their own. */
function stop({ pid }: ChildProcess): void {
  if (pid === undefined) return
  endDescendants(pid, 'SIGKILL')
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {} // it has ended
}

/** One mutant at a time in a copy of the checkout: the tests that reach it run, the nearest first, until one fails. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Mutant, mutated } from './mutants.ts'
import { type Graph, testsOf } from './related-tests.ts'

export interface TrialOptions {
  readonly root: string
  readonly importers: Graph
  /** At most so many of the tests that import the file. */
  readonly near: number
  /** Those alone, without the tests that run the program. */
  readonly units: boolean
  /** A test file that takes longer has failed. */
  readonly limitMs: number
  onNote(text: string): void
}

/** Tests that run the program itself: they need a build of the mutant. */
const programTests: Record<string, readonly string[]> = {
  'src/permissions': ['test/permissions.test.ts', 'test/redteam'],
  'src/hooks': ['test/hooks'],
  'src/store': ['test/store.test.ts', 'test/audit'],
  'src/workflow': ['test/workflow.test.ts'],
  'src/dispatcher': ['test/dispatcher'],
}
const running = new Set<ChildProcess>()
const copies = new Set<string>()
/** Whether a test passes without a mutant: one that does not catches nothing. */
const sound = new Map<string, boolean>()
/** The tests that caught a mutant of a file, the last one first: likely to catch the next. */
const hunters = new Map<string, string[]>()

/** Resolves with the test that noticed, or undefined. */
export type Trial = (mutant: Mutant) => Promise<string | undefined>

export function openTrial(options: TrialOptions): Trial {
  const { root, importers, near, units, limitMs } = options
  const copy = copyOfCheckout(root)
  const passes = (...words: string[]) => run(words, copy, limitMs)
  const isSound = async (test: string) => {
    if (!sound.has(test)) {
      sound.set(test, await passes(test))
      if (!sound.get(test)) options.onNote(`${test} fails without a mutant too, and is left out`)
    }
    return sound.get(test)!
  }
  return async (mutant) => {
    const path = join(copy, mutant.file)
    const original = readFileSync(path, 'utf8')
    const change = () => writeFileSync(path, mutated(original, mutant))
    const restore = () => writeFileSync(path, original)
    const firstToFail = async (tests: readonly string[], isBuilt = false) => {
      for (const test of tests) {
        if (sound.get(test) === false) continue
        change()
        if (await passes(test)) continue
        restore()
        if (isBuilt) copyBuild(root, copy)
        if (await isSound(test)) return test
        change()
        if (isBuilt) await passes('scripts/build.ts')
      }
      return undefined
    }
    try {
      const known = hunters.get(mutant.file) ?? []
      const unit = [...new Set([...known, ...testsOf(mutant.file, importers).slice(0, near)])]
      let caught = await firstToFail(unit)
      const whole = units || caught ? [] : programTestsOf(mutant.file, root)
      if (whole.length > 0) {
        change()
        caught = (await passes('scripts/build.ts')) ? await firstToFail(whole, true) : 'scripts/build.ts'
        copyBuild(root, copy)
      }
      if (caught && unit.includes(caught))
        hunters.set(mutant.file, [caught, ...known.filter((test) => test !== caught)])
      return caught
    } finally {
      restore()
    }
  }
}

/** Ends what still runs and removes the copies. */
export function closeTrials(): void {
  for (const child of running) stop(child)
  for (const copy of copies) rmSync(copy, { recursive: true, force: true, maxRetries: 5 })
}

function programTestsOf(file: string, root: string): string[] {
  const folder = file.split('/').slice(0, 2).join('/')
  return (programTests[folder] ?? []).flatMap((at) =>
    at.endsWith('.ts') ? [at] : globSync(`${at}/**/*.test.ts`, { cwd: root }).sort(),
  )
}

/** Ends at the first failed test; one that hangs has failed. */
function run(words: readonly string[], cwd: string, limitMs: number): Promise<boolean> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const child = spawn(process.execPath, [...words], {
    ...{ cwd, detached: true, stdio: ['ignore', 'pipe', 'ignore'] },
    env: { ...env, NODE_COMPILE_CACHE: join(cwd, '.compiled') },
  })
  running.add(child)
  const limit = setTimeout(() => stop(child), limitMs)
  child.stdout!.on('data', (piece: Buffer) => /^\s*(✖|not ok)/m.test(piece.toString()) && stop(child))
  return new Promise((resolve) =>
    child.on('close', (code) => {
      clearTimeout(limit)
      running.delete(child)
      resolve(code === 0)
    }),
  )
}

/** With all that it started. */
function stop(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, 'SIGKILL')
  } catch {} // it has ended
}

function copyOfCheckout(root: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'ona-mutation-'))
  copies.add(copy)
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean)
  for (const file of files) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(root, file), join(copy, file), { verbatimSymlinks: true })
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  copyBuild(root, copy)
  return copy
}

function copyBuild(root: string, copy: string): void {
  rmSync(join(copy, 'dist'), { recursive: true, force: true })
  cpSync(join(root, 'dist'), join(copy, 'dist'), { recursive: true })
}

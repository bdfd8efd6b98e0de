/** Which mutants do not compile: `npm test` would stop before its first test, so they say nothing about the tests. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Mutant, mutated } from './mutants.ts'

/** All at once: each mutant is a file of its own beside the one it changes. */
export function withoutTypeErrors(mutants: readonly Mutant[], copy: string): Mutant[] {
  if (!existsSync(join(copy, 'tsconfig.json'))) return [...mutants]
  const beside = mutants.map((mutant, at) => ({ mutant, path: mutant.file.replace(/\.(tsx?)$/, `.mutant-${at}.$1`) }))
  for (const { mutant, path } of beside)
    writeFileSync(join(copy, path), mutated(readFileSync(join(copy, mutant.file), 'utf8'), mutant))
  const { stdout } = spawnSync('node_modules/.bin/tsc', ['--noEmit', '--pretty', 'false'], {
    cwd: copy,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  for (const { path } of beside) rmSync(join(copy, path))
  const wrong = new Set([...stdout.matchAll(/^(\S+?)\(\d+,\d+\): error/gm)].map(([, file]) => file))
  return beside.filter(({ path }) => !wrong.has(path)).map(({ mutant }) => mutant)
}

/** Which mutants do not compile: `npm test` would stop before its first test, so they say nothing about the tests. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Mutant, mutated } from './mutants.ts'

/**
 * All at once: each mutant is a file of its own beside the one it changes. Where one is no TypeScript at all, the compiler says
 * nothing about the types of any: the others are looked at again without it.
 */
export function withoutTypeErrors(mutants: readonly Mutant[], copy: string): Mutant[] {
  if (!existsSync(join(copy, 'tsconfig.json'))) return [...mutants]
  const beside = mutants.map((mutant, at) => ({ mutant, path: mutant.file.replace(/\.(tsx?)$/, `.mutant-${at}.$1`) }))
  for (const { mutant, path } of beside)
    writeFileSync(join(copy, path), mutated(readFileSync(join(copy, mutant.file), 'utf8'), mutant))
  const wrong = new Set<string>()
  for (let more = true; more; ) {
    const { stdout } = spawnSync('node_modules/.bin/tsc', ['--noEmit', '--pretty', 'false'], {
      cwd: copy,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    })
    const errors = [...stdout.matchAll(/^(\S+?)\(\d+,\d+\): error TS(\d+)/gm)].filter(([, file]) => !wrong.has(file!))
    more = errors.some(([, , code]) => isSyntax(code!))
    for (const [, file] of errors) wrong.add(file!)
    for (const { path } of beside) if (wrong.has(path)) rmSync(join(copy, path), { force: true })
  }
  for (const { path } of beside) rmSync(join(copy, path), { force: true })
  return beside.filter(({ path }) => !wrong.has(path)).map(({ mutant }) => mutant)
}

/** Numbers below 2000 are the parser's. */
const isSyntax = (code: string): boolean => Number(code) < 2000

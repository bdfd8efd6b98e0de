/**
 * Counts what the security tests try: the classes of test/redteam with their tests, and the cases of the escape table.
 *
 *   node scripts/count-attacks.ts
 *   node scripts/count-attacks.ts --json
 */
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileCases, gitCases } from '../test/sandbox/cases-files.ts'
import { kernelCases } from '../test/sandbox/cases-kernel.ts'
import { networkCases, proxyCases } from '../test/sandbox/cases-network.ts'

const root = join(import.meta.dirname, '..')
/** A test that stands in a loop over a table counts once. */
const testsIn = (file: string): number => [...readFileSync(join(root, file), 'utf8').matchAll(/^\s*test\(/gm)].length

const classes = globSync('test/redteam/*.test.ts', { cwd: root })
  .sort()
  .map((file) => ({ class: basename(file, '.test.ts'), tests: testsIn(file) }))
const escapes = [...fileCases, ...gitCases, ...kernelCases, ...networkCases, ...proxyCases]
const counts = {
  redteam: { classes: classes.length, tests: classes.reduce((sum, { tests }) => sum + tests, 0), byClass: classes },
  escapes: { cases: escapes.length, controls: escapes.filter(({ control }) => control).length },
}

const { redteam, escapes: table } = counts
const text = [
  ...classes.map((each) => `${each.class.padEnd(20)} ${each.tests}`),
  `redteam: ${redteam.classes} classes, ${redteam.tests} tests`,
  `escapes: ${table.cases} cases, ${table.controls} with a control`,
].join('\n')
process.stdout.write(`${process.argv.includes('--json') ? JSON.stringify(counts, null, 2) : text}\n`)

/** `node scripts/passed.ts RESULTS FILE… [--test-name-pattern=REGEX]`: whether these tests passed in the run that wrote RESULTS. */
import { readFileSync } from 'node:fs'

const [results, ...words] = process.argv.slice(2)
const pattern = new RegExp(
  words
    .find((word) => word.startsWith('--test-name-pattern='))
    ?.split('=')
    .slice(1)
    .join('=') ?? '',
)
const ran = readFileSync(results!, 'utf8')
  .trim()
  .split('\n')
  .map((line): { file: string; name: string; passed: boolean } => JSON.parse(line))

for (const file of words.filter((word) => !word.startsWith('-'))) {
  const tests = ran.filter((test) => test.file === file && pattern.test(test.name))
  const failed = tests.filter(({ passed }) => !passed).map(({ name }) => name)
  if (tests.length > 0 && failed.length === 0) continue
  console.log(failed.length > 0 ? `${file}: failed: ${failed.join(', ')}` : `${file}: no test of it ran that matches`)
  process.exit(1)
}

/** What bash runs inside quotes, expansions and here-documents is seen by the reader of command lines, or called unknown. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readShell } from '../../src/permissions/shell/parse/read.ts'
import { sized } from '../support/campaign-size.ts'
import { differences, fuzzedLine, runByBash } from '../support/quoting-fuzz.ts'

/** `ONA_FUZZ_LINES=100000 ONA_FUZZ_SEED=7 node scripts/test.ts test/redteam/shell-reader.test.ts` runs the long campaign. */
const count = Number(process.env['ONA_FUZZ_LINES'] ?? sized(250, 1500))
const seed = Number(process.env['ONA_FUZZ_SEED'] ?? 1)

test(`real bash runs nothing that the reader misses, in ${count} lines of nested quoting`, () => {
  assert.deepEqual(differences(seed, count), [])
})

test('the campaign sees a command that bash runs', () => {
  const lines = Array.from({ length: 300 }, (_, index) => fuzzedLine(index))
  assert.ok(runByBash(lines).size > 30, 'bash runs the canary in a good part of the lines')
  assert.deepEqual(runByBash(['echo a', 'echo "$(hit)"', "echo '$(hit)'"]), new Set([1]))
})

test('substitutions behind quotes and escapes within ${…} are not taken for text', () => {
  const lines = [
    `echo "\${x:-'}$(hit)'}"`,
    `echo "\${x:-\\"}$(hit)"`,
    `z="\${a[$(hit)x}]}" `,
    `cat <<E\n\${x:-'}$(hit)'}\nE`,
    `echo "\${x#'}$(hit)'}"`,
    `a['$(hit)']=1`,
    `a["$(hit)"]=1`,
    `echo "\${a['$(hit)']}"`,
  ]
  const missed = lines.filter((line) => {
    const { commands, unknown } = readShell(line)
    return unknown === undefined && !commands.some(({ words }) => words[0]?.value === 'hit')
  })
  assert.deepEqual(missed, [])
})

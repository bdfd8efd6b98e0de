/** Lines put together at random, run in a real bash when the rules allow them: a file that a rule keeps stays kept. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { sized } from '../../../test/support/campaign-size.ts'
import { decide } from '../decide.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ona-files-')))
after(() => rmSync(folder, { recursive: true, force: true }))
/** So deep that no line leads out of the folder, whatever the rules let through. */
const work = join(folder, ...Array(10).fill('in'), 'work')

/** The folder as it was, then the line in it, where the rule lets it through. */
async function run(line: string, deny: string): Promise<string | undefined> {
  rmSync(work, { recursive: true, force: true })
  mkdirSync(join(work, 'sub'), { recursive: true })
  for (const [path, text] of Object.entries({ '.env': 'K=hidden', a: 'aaa', b: 'kept', 'sub/b': 'other' }))
    writeFileSync(join(work, path), `${text}\n`)
  symlinkSync('../.env', join(work, 'sub/link'))
  const places = { cwd: work, projectDir: work, home: folder }
  const question = { mode: 'default', tool: 'Bash', input: { command: line }, hook: 'none' } as const
  const { decision } = await decide({ settings: { allow: ['Bash'], deny: [deny] }, ...question, ...places })
  if (decision !== 'allow') return undefined
  const options = { cwd: work, env: { PATH: process.env['PATH']!, HOME: folder }, timeout: 3000, input: '' }
  const { stdout, stderr } = spawnSync('/bin/bash', ['-c', line], { ...options, encoding: 'utf8' })
  return stdout + stderr
}

async function holds(pieces: string, deny: string, check: (line: string, shown: string) => void): Promise<void> {
  const line = fc
    .array(fc.constantFrom(...pieces.split(' · ')), { minLength: 1, maxLength: 6 })
    .map((each) => each.join(' '))
  let ran = 0
  await fc.assert(
    fc.asyncProperty(line, async (text) => {
      const shown = await run(text, deny)
      if (shown === undefined) return
      ran++
      check(text, shown)
    }),
    { numRuns: Number(process.env['ONA_BASH_RUNS'] ?? sized(80, 250)) },
  )
  assert.ok(ran > 10, `only ${ran} lines were allowed`)
}

const around =
  '. · .. · a · x · sub · sub/.. · * · ? · - · -- · -r · | · && · ; · \n · cd sub; · cd ..; · $X · "$X" · eval · bash -c · echo x · env -C sub · < a · <<< x · ls · find . · xargs -I% cat % · for f in *; do · exec 3<a; · head · sort · wc'

test('what may not be read is not shown', { timeout: 120_000 }, async () => {
  const pieces =
    'cat · .env · ./.env · ../.env · .e* · .??v · {.env,a} · X=.env; · grep -r K · grep K · sed -n p · <.env · xargs cat · echo .env · -exec cat {} + · cp -r . ../y; · cat ../y/.env · ln -s .env x; · ln -s . d; · cat d/.env · cat x · mv .env x; · tar cf - . · $(<.env) · "$(cat .env)" · "cat .env" · cat $f; done · diff -r . sub · ~+/.env · $PWD/.env · cat sub/link · awk 1 · . ./.env; echo $K · dd if=.env · install .env x; · <<E\n$(<.env)\nE\n'
  await holds(`${around} · ${pieces}`, 'Read(.env)', (line, shown) => assert.doesNotMatch(shown, /hidden/, line))
})

test('what may not be edited is not changed', { timeout: 120_000 }, async () => {
  const pieces =
    'tee · b · ./b · ../b · > b · >> b · &> b · cp a · cp sub/b · mv sub/b · mv * · rm · rm -rf · sed -i s/k/x/ · {a,b} · X=b; · -delete · -exec rm {} + · xargs rm · echo b · truncate -s0 · dd of=b · ln -sf a · ln -s b x; · echo x > x · sort -o · uniq a · touch · -t . · cp -r sub/. · install · "rm b" · rm $f; done · exec > b; · ~+/b · $PWD/b · ln -s . d; · d/b · gzip · split a · unlink · rm -rf ../work · install -t . sub/b'
  await holds(`${around} · ${pieces}`, 'Edit(/b)', (line) =>
    assert.equal(readFileSync(join(work, 'b'), 'utf8'), 'kept\n', line),
  )
})

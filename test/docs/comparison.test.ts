/** The comparison: every cell leads to what shows it, and what it says of ona is seen here. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { place } from '../support/program.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/comparison.md'), 'utf8')

/** The cells of the first table after a heading, its head first. */
function tableAfter(heading: string): string[][] {
  const lines = page.slice(page.indexOf(heading)).split('\n')
  const begin = lines.findIndex((line) => line.startsWith('|'))
  const end = lines.findIndex((line, at) => at > begin && !line.startsWith('|'))
  return lines
    .slice(begin, end)
    .filter((line) => !/^\| ---/.test(line))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

test('every cell leads to what shows it, or says that there is nothing', () => {
  const [head, ...rows] = tableAfter('# Comparison')
  const defined = new Set(Array.from(page.matchAll(/^\[([\w-]+)\]: https:/gm), ([, name]) => name))
  assert.deepEqual(head, ['', 'ona', 'Claude Code', 'Codex', 'Gemini CLI', 'opencode', 'cupcake', 'rulesync'])
  const wrong = rows.flatMap(([about, ...cells]) =>
    cells.flatMap((cell, at) => {
      const refs = Array.from(cell.matchAll(/\]\[([\w-]+)\]/g), ([, name]) => name)
      const linked = /\]\([\w./-]*(#[\w-]+)?\)/.test(cell) || refs.length > 0
      const nothing = ['no', 'none', '–', 'not examined'].includes(cell)
      return (linked || (nothing && at > 0)) && refs.every((name) => defined.has(name)) ? [] : [`${about}: ${cell}`]
    }),
  )
  assert.deepEqual(wrong, [])
  assert.ok(rows.length >= 12)
})

const failures: Readonly<Record<string, string>> = {
  'exits 2 with a reason': 'echo no >&2; exit 2',
  'exits 1': 'exit 1',
  'does not exist': './nowhere.sh',
  'is killed': 'kill -9 $$',
  'exceeds its limit': 'sleep 30',
}

test('hooks that fail do in ona what the table says', async (t) => {
  const [head, ...rows] = tableAfter('### Hooks that fail')
  const ona = head!.indexOf('ona')
  assert.deepEqual(
    rows.map(([hook]) => hook),
    Object.keys(failures),
  )
  for (const [hook, ...cells] of rows) {
    const seen = []
    for (const onFailure of [undefined, 'refuse']) {
      const here = place(t)
      const command = failures[hook!]!
      here.write('.ona/settings.json', {
        hooks: [{ hook_event_name: 'PreToolUse', command, timeout_ms: 2000, ...(onFailure && { onFailure }) }],
      })
      await here.run(['--trust', '--eval', '{"tool":"Bash","input":{"command":"touch mark"}}'])
      seen.push(existsSync(join(here.folder, 'mark')) ? 'ran' : 'refused')
    }
    assert.deepEqual(seen, [cells[ona - 1], cells[ona]], hook!)
  }
})

test('rules on commands do in ona what the table says', async (t) => {
  const here = place(t)
  const [, ...rows] = tableAfter('### Rules on commands')
  for (const row of rows) {
    const command = row[0]!.replaceAll('`', '')
    const rules = ['--allow', 'Bash', '--deny', 'Bash(rm -rf *)', '--ask', 'Bash(git push *)']
    const input = JSON.stringify({ command })
    const { stdout } = await here.run(['permissions', 'test', ...rules, '--tool', 'Bash', '--input', input, '--json'])
    const words: Record<string, string> = { deny: 'refused', ask: 'asked', allow: 'ran' }
    assert.equal(words[JSON.parse(stdout).decision], row.at(-1), command)
  }
})

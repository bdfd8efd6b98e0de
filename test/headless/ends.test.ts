/** Every way in which `ona -p` ends: the rows of the table in docs/headless.md, each brought about through the program. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { anthropic } from '../support/model/wire.ts'
import { type Answer, status, stream, wireServer } from '../support/model/wire-server.ts'
import { type Place, place } from '../support/program.ts'

interface End {
  /** The row of the table, by its first words. */
  readonly row: string
  readonly answers?: readonly Answer[]
  readonly flags?: readonly string[]
  readonly settings?: object
  /** What the result says besides. */
  readonly says?: object
  readonly withoutKey?: true
}

const frames = (reply: Parameters<typeof anthropic.frames>[0]) => stream(anthropic.frames(reply))
const said = frames({ text: ['Here.'] })
const stopping = (reason: string) =>
  stream(anthropic.frames({ text: ['No'] }).map((frame) => frame.replace('"end_turn"', JSON.stringify(reason))))
const bash = frames({ calls: [{ id: 'a', name: 'Bash', args: '{"command":"true"}' }] })
const touch = frames({ calls: [{ id: 'a', name: 'Bash', args: '{"command":"touch made"}' }] })
const problem = (type: string, message: string) => ({ type: 'error', error: { type, message } })
const hook = (event: string, answer: string) => ({ hooks: { [event]: [{ hooks: [{ command: answer }] }] } })
const stop = `echo '{"continue":false,"stopReason":"enough"}'`

const ends: readonly End[] = [
  { row: 'the model answered', answers: [said], says: { result: 'Here.', stop_reason: 'end_turn' } },
  { row: 'a call waits for an [approval]', answers: [touch], settings: { approvals: {} } },
  {
    row: 'a hook stopped the turn',
    answers: [bash],
    flags: ['--allowed-tools', 'Bash'],
    settings: hook('PostToolUse', stop),
    says: { result: 'enough' },
  },
  {
    row: 'a hook blocked the prompt',
    settings: hook('UserPromptSubmit', 'echo no >&2; exit 2'),
    says: { errors: ['[0] no'], stop_reason: 'refusal' },
  },
  {
    row: 'the API failed',
    answers: [status(401, problem('authentication_error', 'invalid x-api-key'))],
    says: { error: 'authentication_failed', api_error_status: 401 },
  },
  {
    row: 'the conversation does not fit',
    answers: [status(400, problem('invalid_request_error', 'prompt is too long: 250000 tokens > 200000 maximum'))],
    says: { api_error_status: 400 },
  },
  { row: 'the model refused', answers: [stopping('refusal')], says: { stop_reason: 'refusal' } },
  {
    row: 'the model refused',
    answers: [stopping('max_tokens')],
    says: { stop_reason: 'max_tokens' },
  },
  {
    row: 'no answer fits',
    answers: [said],
    flags: ['--json-schema', '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'],
  },
  { row: '`--max-turns`', answers: [bash], flags: ['--max-turns', '1', '--allowed-tools', 'Bash'] },
  {
    row: '`--max-budget-usd`',
    answers: [frames({ calls: [{ id: 'a', name: 'Bash', args: '{"command":"true"}' }], inputTokens: 400_000 })],
    flags: ['--max-budget-usd', '0.01', '--allowed-tools', 'Bash'],
  },
  {
    row: 'no session could start',
    withoutKey: true,
    flags: ['--model', 'claude-opus-4-20250514'],
    says: { error: 'authentication_failed' },
  },
]

/** The rows of the table: how it ended, and the three things that tell it. */
const page = readFileSync(join(import.meta.dirname, '../../docs/headless.md'), 'utf8')
const [, table = ''] = page.split('| how the run ended |')
const rows = table
  .split('\n\n')[0]!
  .split('\n')
  .slice(2)
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
  .map(([, row, subtype, terminal, exit]) => ({ row: row!, subtype: subtype!, terminal: terminal!, exit: exit! }))

for (const end of ends)
  test(`${end.row}${end.says ? `: ${JSON.stringify(end.says)}` : ''}`, async (t) => {
    const row = rows.find((each) => each.row.startsWith(end.row))
    assert.ok(row, `docs/headless.md has no row "${end.row}"`)
    const ran = await (await prepared(t, end)).run(['-p', 'go', '--output-format', 'json', ...(end.flags ?? [])])
    const result = JSON.parse(ran.stdout)
    const subtype = `\`${result.subtype}\`${result.is_error && result.subtype === 'success' ? ', `is_error`' : ''}`
    const { terminal, exit } = row
    assert.deepEqual(
      [subtype, `\`${result.terminal_reason}\``, `${ran.code}`],
      [row.subtype, terminal, exit],
      ran.stdout,
    )
    assert.deepEqual(Object.fromEntries(Object.keys(end.says ?? {}).map((key) => [key, result[key]])), end.says ?? {})
    assert.equal(result.is_error, ran.code === 1)
    assert.equal(Array.isArray(result.errors), result.is_error)
  })

test('the table has no row that is not brought about here, but for an interrupt', () => {
  const untested = rows.filter(({ row }) => !ends.some((end) => row.startsWith(end.row))).map(({ row }) => row)
  assert.deepEqual(untested, ['interrupted'])
})

async function prepared(t: TestContext, { answers = [said], settings, withoutKey }: End): Promise<Place> {
  const server = await wireServer(...answers)
  t.after(() => server.close())
  const key = { ANTHROPIC_API_KEY: 'sk-ant-x', ANTHROPIC_BASE_URL: server.url }
  const at = place(t, withoutKey ? {} : key)
  const file = join(at.home, '.ona/settings.json')
  mkdirSync(dirname(file), { recursive: true })
  if (settings) writeFileSync(file, JSON.stringify(settings))
  return at
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CaseState, Coverage } from './coverage.ts'
import { missing, uncovered } from './coverage.ts'
import { reportOf, reportText } from './report.ts'
import { reportHtml } from './report-html.ts'

const plan = { id: 7, hash: 'a1b2c3d4e5f6g7h8', approvedAt: '2026-01-02 03:04:05' } as NonNullable<Coverage['plan']>

function state(name: string, given: CaseState['state'], more: Partial<CaseState> = {}): CaseState {
  const run = {
    caseId: 1,
    hash: 'h',
    planHash: 'p',
    exitCode: given === 'failed' ? 1 : 0,
    timedOut: false,
    stdout: `${name} says <hello>\n`,
    stderr: '',
    durationMs: 12,
    startedAt: '2026-01-02T03:05:00.000Z',
  }
  const one = { id: 1, planId: 7, name, criterion: 'C1', content: `echo ${name}\n`, hash: 'h' }
  return { case: one, run: given === 'not run' ? undefined : run, state: given, proof: undefined, ...more }
}
const proof = (flaw: NonNullable<CaseState['proof']>['flaw'], mutants: string[], killed: string[]) => ({
  proof: { caseId: 1, hash: 'h', codeHash: 'c', flaw, mutants, killed },
})
const late = { ...state('x', 'failed').run!, exitCode: null, timedOut: true, stdout: '', stderr: 'too slow\nby far\n' }

const rows = [
  {
    criterion: { id: 'C1', text: 'greets by name' },
    cases: [
      state('greets', 'passed', proof(undefined, ['a:1 x → y', 'a:2 x → y'], ['a:1 x → y'])),
      state('hollow', 'proves nothing', proof('kills no mutant', ['a:2 x → y', 'a:3 x → y'], [])),
    ],
  },
  { criterion: { id: 'C2', text: 'fails without a name' }, cases: [state('slow', 'failed', { run: late })] },
  { criterion: { id: 'C3', text: 'has no case' }, cases: [] },
  { criterion: { id: 'C4', text: 'is old' }, cases: [state('old', 'stale'), state('new', 'not run')] },
] as unknown as Coverage['rows']
const coverage: Coverage = { plan, rows, untraced: [state('helper', 'passed')], traced: 5, passed: 1 }

test('what holds the gate shut is said case by case', () => {
  assert.deepEqual(
    uncovered(coverage).map(({ id }) => id),
    ['C2', 'C3', 'C4'],
  )
  assert.equal(
    missing(coverage),
    `not everything is covered:
- C3 has no test case: has no case
- C1: case hollow passes whatever fault is put into the program, so it proves nothing; have it rewritten (ona verify --rewrite)
- C2: case slow failed in its last run
- C4: case old ran before the plan or the case changed; run it again
- C4: case new has not run`,
  )
  assert.equal(
    missing({ ...coverage, plan: undefined }),
    'there is no approved plan, so there is nothing that tests could cover',
  )
  assert.equal(missing({ ...coverage, rows: [{ ...rows[0]!, cases: [rows[0]!.cases[0]!] }] }), undefined)
})

const report = reportOf('c', 'verify', coverage, {
  rated: { id: 1, conversationId: 'c', rating: 4, objective: 'fast', timestamp: '2026-01-03' },
  place: { sandboxed: false, why: 'bubblewrap is missing' },
})

test('the report is data: each case with its run, the kill score of each criterion, what is not covered', () => {
  const { coverage: reported, untraced, ...facts } = report
  assert.deepEqual(facts, {
    conversation: 'c',
    phase: 'verify',
    plan: { id: 7, hash: 'a1b2c3d4e5f6g7h8', approved_at: '2026-01-02 03:04:05' },
    signed_off: null,
    uncovered: [
      { criterion: 'C2', text: 'fails without a name' },
      { criterion: 'C3', text: 'has no case' },
      { criterion: 'C4', text: 'is old' },
    ],
    total: 5,
    passed: 1,
    failed: 4,
    ready: false,
    missing: missing(coverage),
    rating: { rating: 4, objective: 'fast', at: '2026-01-03' },
    sandbox: { sandboxed: false, why: 'bubblewrap is missing' },
  })
  assert.deepEqual(
    reported.map(({ kill_score }) => kill_score),
    [{ killed: 1, mutants: 3, survived: ['a:2 x → y', 'a:3 x → y'] }, null, null, null],
  )
  assert.deepEqual(reported[1]!.cases, [
    {
      name: 'slow',
      state: 'failed',
      exit_code: null,
      timed_out: true,
      duration_ms: 12,
      started_at: '2026-01-02T03:05:00.000Z',
      stdout: '',
      stderr: 'too slow\nby far\n',
      script: 'echo slow\n',
    },
  ])
  assert.deepEqual(reported[3]!.cases[1], {
    name: 'new',
    state: 'not run',
    exit_code: null,
    timed_out: false,
    duration_ms: null,
    started_at: null,
    stdout: '',
    stderr: '',
    script: 'echo new\n',
  })
  assert.deepEqual(
    untraced.map(({ name }) => name),
    ['helper'],
  )
})

test('the report, as text for two widths and as a page, to the letter', (t) => {
  t.assert.snapshot(reportText(report, { columns: 48 }))
  t.assert.snapshot(reportText(report, { columns: 12, colour: true }))
  t.assert.snapshot(reportText(report))
  t.assert.snapshot(reportHtml(report).replace(/[\s\S]*<body/, '<body'))
})

test('the report as text, whole', () => {
  const [head, output] = reportText(report, { columns: 48 }).split('\nOutput\n')
  assert.equal(
    head,
    `Coverage of plan 7

C1   greets by name
     ✔ greets (passed, exit 0, 12 ms)
     ∅ hollow (proves nothing, exit 0, 12 ms)
     kill score: its cases fail on 1 of 3 mutants of the change
C2   fails without a name
     ✖ slow (failed, exit timed out, 12 ms)
C3   has no case
     ✖ no case
C4   is old
     ↻ old (stale, exit 0, 12 ms)
     · new (not run)
`,
  )
  assert.ok(output!.startsWith('\n✔ greets\n  stdout:\n    greets says <hello>\n  stderr: (nothing)\n\n∅ hollow\n'))
  assert.ok(output!.includes('\n✖ slow\n  stdout: (nothing)\n  stderr:\n    too slow\n    by far\n'))
  assert.ok(output!.includes('\n✔ helper\n'))
  assert.ok(
    output!.endsWith(`
Not covered
- C2 fails without a name
- C3 has no case
- C4 is old

5 traced cases, 1 passed, 4 failed (20 %)

The cases were not sandboxed: bubblewrap is missing. What kept their writer from the code is what it was sent and which tools it had.

Rated 4 of 5 on 2026-01-03: fast

${missing(coverage)}`),
  )
  const coloured = reportText(report, { columns: 20, colour: true })
  assert.ok(coloured.includes('\u001b[32m✔\u001b[0m greets (pass…'))
  for (const mark of ['\u001b[31m✖', '\u001b[31m∅', '\u001b[33m↻', '\u001b[33m·'])
    assert.ok(coloured.includes(mark), mark)
})

test('lines are cut to the width of the terminal, 80 columns where it is not known', () => {
  const long = 'x'.repeat(90)
  const row = { criterion: { id: 'C1', text: long }, cases: [state(long, 'not run')] }
  const given = reportOf('c', 'verify', { plan, rows: [row], untraced: [], traced: 1, passed: 0 })
  const widths = (options?: { columns: number }) =>
    reportText(given, options)
      .split('\n')
      .slice(2, 4)
      .map((line) => [line.length, line.at(-1)])
  assert.deepEqual(
    [widths(), widths({ columns: 95 }), widths({ columns: 97 })],
    [
      [
        [80, '…'],
        [80, '…'],
      ],
      [
        [95, 'x'],
        [95, '…'],
      ],
      [
        [95, 'x'],
        [97, '…'],
      ],
    ],
  )
})

test('work that is done names who signed it off; without a plan there is only what is missing', () => {
  const done = { ...coverage, rows: [{ ...rows[0]!, cases: [rows[0]!.cases[0]!] }], untraced: [], traced: 1, passed: 1 }
  const signed = reportOf('c', 'done', done, {
    signed: { by: 'Ada', at: '2026-01-04 05:06:07' },
    place: { sandboxed: true },
  })
  assert.deepEqual([signed.ready, signed.missing, signed.rating], [true, null, null])
  assert.ok(
    reportText(signed).endsWith(
      'Not covered\nnone\n\n1 traced case, 1 passed, 0 failed (100 %)\n\nSigned off by Ada on 2026-01-04 05:06:07',
    ),
  )
  const page = reportHtml(signed)
  assert.match(page, /<b>Signed off<\/b><span>by Ada, 2026-01-04 05:06:07 UTC<\/span>/)
  assert.match(page, /<b>1 of 1<\/b><span>traced case passed<\/span>/)
  assert.match(page, /<b>0<\/b><span>criteria not covered<\/span>/)
  assert.match(page, /<h2>Not covered<\/h2><p>None\.<\/p>/)
  assert.doesNotMatch(page, /not sandboxed/)
  const none = reportOf('c', 'planning', { plan: undefined, rows: [], untraced: [], traced: 0, passed: 0 })
  assert.equal(reportText(none), 'there is no approved plan, so there is nothing that tests could cover')
  assert.match(reportText({ ...none, plan: signed.plan }), /0 traced cases, 0 passed, 0 failed \(0 %\)/)
})

test('where a criterion has no case, nothing is ready although all cases passed', () => {
  const given = { ...coverage, rows: [{ ...rows[0]!, cases: [rows[0]!.cases[0]!] }, rows[2]!], traced: 1, passed: 1 }
  const { ready, missing: why, total, passed, failed } = reportOf('c', 'verify', given)
  assert.deepEqual(
    [ready, why, total, passed, failed],
    [false, 'not everything is covered:\n- C3 has no test case: has no case', 1, 1, 0],
  )
})

test('a rate between nothing and all, a page without a plan, a criterion whose mutants are all killed', () => {
  const some = [state('a', 'passed', proof(undefined, ['a:1 x → y'], ['a:1 x → y'])), state('b', 'passed')]
  const most = { ...coverage, rows: [{ ...rows[0]!, cases: some }, rows[1]!], untraced: [], traced: 3, passed: 2 }
  const two = reportOf('c', 'verify', most)
  assert.deepEqual(two.coverage[0]!.kill_score, { killed: 1, mutants: 1, survived: [] })
  assert.match(reportText(two), /\n3 traced cases, 2 passed, 1 failed \(67 %\)\n/)
  const page = reportHtml(two)
  for (const part of [
    '<b>67 %</b><span>pass rate</span>',
    '<b>1</b><span>criterion not covered</span>',
    '<small>kill score: its cases fail on 1 of 1 mutant of the change</small>',
    '<div class="facts">exit 0 · 2026-01-02 03:05:00 UTC</div>',
    '<div class="facts">exit none · 2026-01-02 03:05:00 UTC</div>',
  ])
    assert.ok(page.includes(part), part)
  const none = reportHtml(reportOf('c', 'planning', { plan: undefined, rows: [], untraced: [], traced: 0, passed: 0 }))
  assert.match(none, /<h1>Coverage of plan \(none\)<\/h1>\n<p class="facts">[^\n]*<b>planning<\/b><\/p><\/header>/)
  assert.match(none, /<b>0 of 0<\/b><span>traced cases passed<\/span><\/div><div><b>0 %<\/b>/)
  assert.doesNotMatch(none, /killed/)
})

test('a time that is not written as ours is shown as it is', () => {
  const times = [
    '2026-01-02T03:05:00Z',
    '2026-01-02T03:05:00Z or so',
    'about 2026-01-02T03:05:00Z',
    '2026-01-02 03:05:00',
  ]
  const cases = times.map((startedAt) => state('x', 'passed', { run: { ...late, startedAt } }))
  const page = reportHtml(reportOf('c', 'verify', { ...coverage, rows: [{ ...rows[0]!, cases }] }))
  assert.deepEqual(
    [...page.matchAll(/<div class="facts">exit none · (.*?)<\/div>/g)].map(([, time]) => time),
    ['2026-01-02 03:05:00 UTC', ...times.slice(1)],
  )
})

test('the page shows the same facts, with what a case printed escaped', () => {
  const page = reportHtml(report)
  for (const part of [
    '<h1>Coverage of plan 7</h1>',
    'Conversation <code>c</code> · phase <b>verify</b> · plan hash <code>a1b2c3d4e5f6</code> · approved 2026-01-02 03:04:05 UTC',
    '<b>1 of 5</b><span>traced cases passed</span>',
    '<b>20 %</b><span>pass rate</span>',
    '<b>3</b><span>criteria not covered</span>',
    '<b>1 of 3</b><span>mutants killed</span>',
    '<b>Not ready</b><span>for sign-off</span>',
    'class="sum bad"',
    'Rated 4 of 5 on 2026-01-03: fast',
    'The cases were not sandboxed: bubblewrap is missing',
    'survived: a:2 x → y, a:3 x → y',
    '<span class="badge failed">no case</span>',
    '<span class="badge proves-nothing">proves nothing</span>',
    '<details id="case-greets"><summary>',
    '<details id="case-slow" open><summary>',
    'exit none, timed out · 12 ms · 2026-01-02 03:05:00 UTC',
    'greets says &#60;hello&#62;',
    '<h3>stderr</h3><pre>too slow',
    '<li><b>C3</b> has no case</li>',
  ])
    assert.ok(page.includes(part), part)
  assert.equal(page.includes('<hello>'), false)
  assert.match(reportHtml({ ...report, ready: true, missing: null }), /class="sum good".*<b>Ready<\/b>/s)
})

test('a case that printed blank lines alone printed nothing; other lines keep their indentation', () => {
  const run = { ...late, stdout: ' \n\n', stderr: '\n  indented\n\n' }
  const row = { criterion: { id: 'C1', text: 'x' }, cases: [state('blank', 'failed', { run })] }
  const text = reportText(reportOf('c', 'verify', { plan, rows: [row], untraced: [], traced: 1, passed: 0 }))
  assert.equal(
    text.slice(text.indexOf('\nOutput\n'), text.indexOf('\nNot covered')),
    '\nOutput\n\n✖ blank\n  stdout: (nothing)\n  stderr:\n    \n      indented\n',
  )
})

test('a case that took no time has run', () => {
  const run = { ...late, timedOut: false, durationMs: 0, stderr: 'not run: a rule denies it\n' }
  const row = { criterion: { id: 'C1', text: 'x' }, cases: [state('held', 'failed', { run })] }
  const given = reportOf('c', 'verify', { plan, rows: [row], untraced: [], traced: 1, passed: 0 })
  assert.match(reportText(given), / held \(failed, exit signal, 0 ms\)\n/)
  assert.match(reportHtml(given), /<span class="time">exit none · 0 ms · 2026-01-02 03:05:00 UTC<\/span>/)
})

test('a case that a signal ended, a rating without words, a plan without a time', () => {
  const run = { ...late, timedOut: false, startedAt: '' }
  const row = { criterion: { id: 'C1', text: 'x' }, cases: [state('killed', 'failed', { run })] }
  const given = { plan: { ...plan, approvedAt: null }, rows: [row], untraced: [], traced: 1, passed: 0 }
  const rated = { id: 1, conversationId: 'c', rating: 2, objective: null, timestamp: '2026-01-03' }
  const one = reportOf('c', 'verify', given, { rated })
  assert.deepEqual(one.rating, { rating: 2, objective: null, at: '2026-01-03' })
  const text = reportText(one)
  assert.ok(text.includes('\n     ✖ killed (failed, exit signal, 12 ms)\n'), text)
  assert.ok(text.includes('\n\nRated 2 of 5 on 2026-01-03\n\n'), text)
  const page = reportHtml(one)
  for (const part of [
    'plan hash <code>a1b2c3d4e5f6</code></p></header>',
    '<p class="facts">Rated 2 of 5 on 2026-01-03</p>',
    '<span class="time">exit none · 12 ms · </span>',
    '</span> killed</a></td>',
  ])
    assert.ok(page.includes(part), part)
})

test('on the page every text from outside is text', () => {
  const odd = (name: string) => `<i>"${name}"</i> & \`code <b>\``
  const shown = (name: string) => `&#60;i&#62;&#34;${name}&#34;&#60;/i&#62; &#38; `
  const run = { ...late, timedOut: false, stdout: odd('stdout'), stderr: odd('stderr'), startedAt: odd('started') }
  const one = state(odd('case'), 'failed', { run, ...proof('kills no mutant', [odd('mutant')], []) })
  const script = { ...one, case: { ...one.case, content: odd('script') } }
  const given: Coverage = {
    plan: { ...plan, hash: '<i>"hash"</i>', approvedAt: odd('approved') },
    rows: [{ criterion: { id: 'C1', text: odd('criterion') }, cases: [script] }],
    ...{ untraced: [state(odd('helper'), 'passed')], traced: 1, passed: 0 },
  }
  const page = reportHtml(
    reportOf(odd('conversation'), odd('phase'), given, {
      rated: { id: 1, conversationId: 'c', rating: 4, objective: odd('objective'), timestamp: odd('rated') },
      signed: { by: odd('signer'), at: odd('signed') },
      place: { sandboxed: false, why: odd('place') },
    }),
  )
  assert.doesNotMatch(page, /<i>"/)
  const names =
    'stdout stderr started case mutant script approved criterion helper conversation phase objective rated signer signed place'
  for (const name of names.split(' ')) assert.ok(page.includes(shown(name)), name)
  assert.ok(page.includes('<code>code &#60;b&#62;</code>'))
  const two = { ...given, rows: [{ criterion: { id: 'C1', text: '`a` or `b`' }, cases: [] }] }
  assert.ok(reportHtml(reportOf('c', 'verify', two)).includes('<td><code>a</code> or <code>b</code></td>'))
  const anchor = `case-${encodeURIComponent(odd('case'))}`
  assert.ok(page.includes(`<a href="#${anchor}">`) && page.includes(`<details id="${anchor}" open>`))
})

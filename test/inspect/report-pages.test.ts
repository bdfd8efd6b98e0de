/** The pages that are files: the verify report and the replay report, in a real browser. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { htmlReport } from '../../src/audit/replay/report.ts'
import type { Report, ReportedCase } from '../../src/workflow/report.ts'
import { reportHtml } from '../../src/workflow/report-html.ts'
import { axe, isTooWide, needsChromium, openBrowser, openTab } from '../support/browser.ts'
import { hostile } from './record.ts'

const ran: ReportedCase = {
  ...{ name: 'c1-greets', state: 'passed' as const, exit_code: 0, timed_out: false, duration_ms: 12, stdout: hostile },
  ...{ started_at: '2026-11-15T08:23:00.123Z', stderr: '', script: `greet ${'x'.repeat(300)}` },
}
const verified: Report = {
  ...{ conversation: 'c', phase: 'done', total: 2, passed: 1, failed: 1, ready: true, missing: null, rating: null },
  plan: { id: 1, hash: 'a'.repeat(64), approved_at: '2026-11-15 08:00:00' },
  coverage: [
    {
      criterion: 'C1',
      text: hostile,
      cases: [ran],
      kill_score: { killed: 4, mutants: 5, survived: ['a.ts:3 < to <='] },
    },
    { criterion: 'C2', text: 'it stops', cases: [{ ...ran, name: 'c2', state: 'failed' }], kill_score: null },
  ],
  ...{ signed_off: { by: 'ada', at: '2026-11-15 09:00:00' }, untraced: [], uncovered: [], sandbox: null },
}
const replayed = {
  ...{
    calls: 12,
    same: 11,
    newlyDenied: 1,
    newlyAsked: 0,
    newlyAllowed: 0,
    notJudged: 0,
    notReplayed: 0,
    notAsked: [],
    failed: [],
  },
  byAgent: { [hostile]: { calls: 12, changed: 1 } },
}
const call = {
  ...{ at: '2026-11-15 08:23:00', conversationId: 'c', sessionId: 's', toolUseId: 'u', tool: 'Bash', was: null },
  ...{ input: { command: `rm ${hostile} ${'y'.repeat(300)}` }, projectDir: '/p', agent: null, source: 'codex' },
}
const change = {
  call,
  ...({ was: 'ask', would: 'deny' } as const),
  because: { by: 'rule', name: `deny:Bash(rm *) ${hostile}`, reason: 'a rule' } as const,
}

test('reports show text as text, in light and dark, on a desk and on a phone', needsChromium, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-reports-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { page, complaints } = await openTab(await openBrowser(t))
  const shown: Record<string, string> = {}
  for (const [name, text] of Object.entries({
    verify: reportHtml(verified),
    replay: htmlReport(replayed, [change], 'the settings in force'),
  })) {
    const file = join(folder, `${name}.html`)
    writeFileSync(file, text)
    await page.goto(pathToFileURL(file).href)
    for (const width of [1040, 360]) {
      await page.setViewportSize({ width, height: 900 })
      assert.equal(await isTooWide(page), false, `${name} at ${width}`)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        assert.deepEqual(await axe(page), [], `${name} ${width} ${colorScheme}`)
      }
    }
    assert.notEqual(await page.title(), 'owned')
    assert.equal(await page.locator('img, script').count(), 0)
    shown[name] = await page.locator('main').innerText()
  }
  for (const part of [
    'Signed off',
    'by ada, 2026-11-15 09:00:00 UTC',
    '4 of 5',
    'survived: a.ts:3 < to <=',
    'c1-greets',
  ])
    assert.ok(shown['verify']!.includes(part), part)
  assert.ok(shown['verify']!.includes('exit 0 · 2026-11-15 08:23:00 UTC'))
  for (const part of [
    '1 of 12 calls would have come out differently',
    'Compared with the settings in force.',
    'ask → deny',
  ])
    assert.ok(shown['replay']!.includes(part), part)
  assert.deepEqual(complaints, [])
})

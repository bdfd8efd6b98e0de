/** The agent has a plan: approve it, change it, or send it back with a word. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PlanAnswer } from '../../agent/events.ts'
import { bold, paint } from '../render/style.ts'
import type { Front } from '../session/front.ts'

type Picked = 'accept-edits' | 'approve' | 'edit' | 'keep-planning'

export async function askPlan(front: Front, plan: string, signal: AbortSignal): Promise<PlanAnswer | undefined> {
  let text = plan
  front.print('', bold(paint('plan', 'The plan')))
  front.markdown(text)
  for (;;) {
    const chosen = await front.choose<Picked>(
      {
        title: 'Plan ready',
        question: 'Do you approve it, and start?',
        escape: 'keep planning',
        choices: [
          { label: 'Yes, and accept edits without asking', value: 'accept-edits' },
          { label: 'Yes, and ask before each edit', value: 'approve', key: 'y' },
          { label: 'Open it in the editor first', value: 'edit', key: 'e' },
          { label: 'No, keep planning', value: 'keep-planning', key: 'n', text: 'what should be different' },
        ],
        keys: { 'ctrl+g': { about: 'opens the editor', act: () => 'edit' as const } },
      },
      signal,
    )
    if (!chosen) return signal.aborted || !front.interactive ? undefined : { approve: false, feedback: '' }
    if (chosen.value === 'keep-planning') return { approve: false, feedback: chosen.text?.trim() ?? '' }
    if (chosen.value !== 'edit') return { approve: true, plan: text, acceptEdits: chosen.value === 'accept-edits' }
    const edited = await editText(front, text, 'plan')
    if (edited !== undefined && edited !== text) {
      text = edited
      front.print('', bold(paint('plan', 'The plan, as you changed it')))
      front.markdown(text)
    }
  }
}

/** A text through the user's editor; undefined when that did not work. */
export async function editText(front: Front, text: string, name: 'plan' | 'prompt'): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'ona-edit-'))
  try {
    const file = join(folder, `${name}.md`)
    writeFileSync(file, text, { mode: 0o600 })
    return (await front.edit(file, `the ${name}`)) ? readFileSync(file, 'utf8') : undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

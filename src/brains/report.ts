/** A plan as text and as JSON. */

import { relative } from 'node:path'
import { styleText } from 'node:util'
import { counted } from '../hooks/text/counted.ts'
import { described } from '../hosts/hook.ts'
import type { BrainPlan } from './plan.ts'

const signs = { create: '+', update: '~', delete: '-', keep: '=' } as const
const colours = { create: 'green', update: 'yellow', delete: 'red', keep: 'dim' } as const

/** Colour only on a terminal, and not where NO_COLOR says so. */
const paint = (colour: 'green' | 'yellow' | 'red' | 'dim' | 'bold', text: string) =>
  styleText(colour, text, { stream: process.stdout })

export function planText(plans: readonly BrainPlan[]): string {
  const lines: string[] = []
  for (const { slug, config, changes, limits, notes, strangers, unread, failure } of plans) {
    lines.push(`${paint('bold', slug)}${config ? `  ${config}` : ''}`)
    for (const { kind, hook } of changes)
      if (kind !== 'keep') lines.push(paint(colours[kind], `  ${signs[kind]} ${described(hook)}  (${hook.author})`))
    const kept = changes.filter(({ kind }) => kind === 'keep').length
    if (kept > 0) lines.push(paint('dim', `  = ${counted(kept, 'hook')} as declared`))
    if (unread > 0)
      lines.push(paint('yellow', `  ? ${counted(unread, 'hook')} of roles that could not be loaded, kept as they are`))
    if (failure !== undefined) lines.push(paint('yellow', `  ! ${failure}`))
    else if (changes.length + unread === 0) lines.push(paint('dim', '  no hooks'))
    for (const { hook, why, dropped } of limits)
      lines.push(paint('yellow', `  ! ${described(hook)}: ${why}${dropped ? '; left out' : ''}`))
    for (const note of notes) lines.push(`  · ${note}`)
    for (const author of strangers) lines.push(`  · ${author} has hooks here and is not linked; --prune removes them`)
  }
  return lines.map((line) => `${line}\n`).join('')
}

/** A unified diff of every file that would change. */
export async function planDiff(plans: readonly BrainPlan[], root: string): Promise<string> {
  const { createTwoFilesPatch } = await import('diff')
  const files = plans.flatMap((plan) => plan.files)
  return files
    .map(({ path, before, after }) => {
      const name = relative(root, path)
      const [from, to] = [before === null ? '/dev/null' : `a/${name}`, after === null ? '/dev/null' : `b/${name}`]
      const patch = createTwoFilesPatch(from, to, before ?? '', after ?? '', '', '', { context: 3 })
      return patch
        .replace(/^=+\n/, '')
        .split('\n')
        .map((line) =>
          /^\+(?!\+\+)/.test(line) ? paint('green', line) : /^-(?!--)/.test(line) ? paint('red', line) : line,
        )
        .join('\n')
    })
    .join('')
}

export const planJson = (plans: readonly BrainPlan[], root: string) =>
  plans.map(({ files, limits, ...plan }) => ({
    ...plan,
    limits: limits.map(({ hook, why, dropped }) => ({ hook, why, dropped })),
    files: files.map(({ path, before, after }) => ({
      path: relative(root, path),
      change: before === null ? 'create' : after === null ? 'delete' : 'update',
    })),
  }))

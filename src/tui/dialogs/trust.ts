/** Is this folder trusted? Asked once, before anything in it may run. */

import { bold, paint } from '../render/style.ts'
import type { Front } from '../session/front.ts'

/** Undefined: leave. `asks` says what its files would run or allow. */
export async function askTrust(front: Front, folder: string, asks: readonly string[]): Promise<boolean | undefined> {
  const chosen = await front.choose<'trust' | 'restricted' | 'leave'>({
    title: 'Do you trust the files in this folder?',
    body: [
      bold(folder),
      '',
      ...(asks.length > 0 ? ['Its files ask for:', ...asks.map((one) => `  ${one}`), ''] : []),
      paint(
        'dim',
        'Until it is trusted, its deny and ask rules hold; its hooks, allow rules, env, helpers and MCP servers do not.',
      ),
    ],
    escape: 'leave',
    choices: [
      { label: 'Yes, I trust it', value: 'trust', key: 'y' },
      { label: 'No, continue without them', value: 'restricted', key: 'n' },
      { label: 'Exit', value: 'leave' },
    ],
  })
  if (!chosen || chosen.value === 'leave') return undefined
  return chosen.value === 'trust'
}

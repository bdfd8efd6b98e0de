import { keyTable } from '../../input/prompt-render.ts'
import { bold, paint } from '../../render/style.ts'
import type { Ui } from '../../session/command-context.ts'

export async function run(_args: string, { front }: Ui): Promise<void> {
  const wide = Math.max(...keyTable.map(([key]) => key.length))
  for (const [key, about] of keyTable) front.print(`${bold(key.padEnd(wide))}  ${paint('dim', about)}`)
  front.print('', '/vim turns vim keys on or off.')
}

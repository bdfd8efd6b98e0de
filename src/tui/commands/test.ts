import { transition } from '../transition.ts'
import type { Ui } from '../ui.ts'

export async function run(_args: string, ui: Ui): Promise<void> {
  await transition(ui, 'test')
}

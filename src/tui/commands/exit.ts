import type { Ui } from '../ui.ts'

export async function run(_args: string, ui: Ui): Promise<void> {
  ui.leave('prompt_input_exit')
}

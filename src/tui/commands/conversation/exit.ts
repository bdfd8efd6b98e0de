import type { Ui } from '../../session/command-context.ts'

export async function run(_args: string, ui: Ui): Promise<void> {
  ui.leave('prompt_input_exit')
}

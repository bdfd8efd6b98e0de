import { saveSetting } from '../save-setting.ts'
import type { Ui } from '../ui.ts'

export async function run(_args: string, ui: Ui): Promise<void> {
  ui.setVim(!ui.vim())
  ui.refresh()
  await saveSetting(ui, 'user', ['editorMode'], ui.vim() ? 'vim' : 'normal')
  ui.front.notice('info', ui.vim() ? 'vim keys: on' : 'vim keys: off')
}

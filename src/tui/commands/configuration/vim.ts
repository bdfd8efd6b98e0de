import type { Ui } from '../../session/command-context.ts'
import { saveSetting } from '../../session/save-setting.ts'

export async function run(_args: string, ui: Ui): Promise<void> {
  ui.setVim(!ui.vim())
  ui.refresh()
  await saveSetting(ui, 'user', ['editorMode'], ui.vim() ? 'vim' : 'normal')
  ui.front.notice('info', ui.vim() ? 'vim keys: on' : 'vim keys: off')
}

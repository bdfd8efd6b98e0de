import type { Ui } from '../../session/command-context.ts'
import { saveSetting } from '../../session/save-setting.ts'

const example = `jq -r '.model.display_name + "  " + .workspace.current_dir'`

export async function run(args: string, ui: Ui): Promise<void> {
  const { front, session } = ui
  const now = session.runtime.settings.statusLine as { command?: string } | undefined
  const command =
    args ||
    (front.interactive
      ? await front.ask({
          title: 'Which command prints the line?',
          body: [
            'It reads the session as JSON on stdin. For example:',
            `  ${example}`,
            '"off" gives back the usual line.',
          ],
          initial: now?.command ?? '',
        })
      : '')
  if (!command)
    return front.print(
      now?.command
        ? `statusLine: ${now.command}`
        : `The usual line. /statusline COMMAND replaces it, for example: ${example}`,
    )
  const setting = command === 'off' ? undefined : { type: 'command', command }
  if (await saveSetting(ui, 'user', ['statusLine'], setting)) ui.refresh(setting ?? null)
}

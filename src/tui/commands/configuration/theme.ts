import { isTheme, themeName, themes } from '../../render/style.ts'
import type { Ui } from '../../session/command-context.ts'
import { saveSetting } from '../../session/save-setting.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  const { front } = ui
  if (args && !isTheme(args)) return front.notice('error', `there is no theme "${args}"; ${themes.join(', ')}`)
  if (!args && !front.interactive) return front.print(`theme: ${themeName()}; there are ${themes.join(', ')}`)
  const name = isTheme(args)
    ? args
    : (
        await front.choose({
          title: 'Which colours?',
          choices: themes.map((one) => ({ label: one, value: one })),
          selected: themes.indexOf(themeName()),
        })
      )?.value
  if (!name) return
  ui.setTheme(name)
  await saveSetting(ui, 'user', ['theme'], name)
}

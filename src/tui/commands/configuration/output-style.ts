import { outputStyles, stylePlaces } from '../../../agent/context/output-style.ts'
import type { Ui } from '../../session/command-context.ts'
import { saveSetting } from '../../session/save-setting.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  const { front, session } = ui
  const styles = outputStyles(stylePlaces(session))
  const now = session.runtime.settings.outputStyle ?? 'default'
  if (!args && !front.interactive) return front.print(`output style: ${now}; there are ${styles.join(', ')}`)
  const choices = styles.map((one) => ({ label: one, value: one }))
  const selected = Math.max(0, styles.indexOf(now))
  const name = args || (await front.choose({ title: 'How should the agent write?', choices, selected }))?.value
  if (!name) return
  if (!styles.includes(name))
    return front.notice(
      'error',
      `there is no style "${name}"; ${styles.join(', ')}. A style is .ona/output-styles/NAME.md`,
    )
  if (await saveSetting(ui, 'local', ['outputStyle'], name === 'default' ? undefined : name))
    front.notice('info', `${name}: from the next start of ona on`)
}

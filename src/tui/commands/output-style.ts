import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { saveSetting } from '../save-setting.ts'
import type { Ui } from '../ui.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  const { front, session } = ui
  const styles = stylesOf(ui)
  const now = session.runtime.settings.outputStyle ?? 'default'
  if (!args && !front.interactive) return front.print(`output style: ${now}; there are ${styles.join(', ')}`)
  const name =
    args ||
    (
      await front.choose({
        title: 'How should the agent write?',
        choices: styles.map((one) => ({ label: one, value: one })),
        selected: Math.max(0, styles.indexOf(now)),
      })
    )?.value
  if (!name) return
  if (!styles.includes(name))
    return front.notice(
      'error',
      `there is no style "${name}"; ${styles.join(', ')}. A style is .ona/output-styles/NAME.md`,
    )
  if (await saveSetting(ui, 'local', ['outputStyle'], name === 'default' ? undefined : name))
    front.notice('info', `${name}: from the next start of ona on`)
}

function stylesOf({ session }: Ui): string[] {
  const folders = [
    join(session.projectDir, '.ona'),
    join(session.projectDir, '.claude'),
    join(session.runtime.home, '.ona'),
    join(session.runtime.home, '.claude'),
  ]
  const own = folders
    .map((folder) => join(folder, 'output-styles'))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -3))
  return [...new Set(['default', 'explanatory', 'learning', ...own])]
}

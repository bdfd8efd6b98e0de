/** A setting kept for good, in the file of its level, and raised to whoever watches settings. */
import { editSettings } from '../../store/settings/settings-edit.ts'
import { type Places, settingsFileToWrite } from '../../store/settings/settings-files.ts'
import type { Ui } from './command-context.ts'

export const placesOf = ({ session }: Ui): Places => ({
  cwd: session.projectDir,
  home: session.runtime.home,
  env: session.runtime.env,
})

/** Undefined removes it. Says what it did; false when the file could not be changed. */
export async function saveSetting(
  ui: Ui,
  level: 'user' | 'project' | 'local',
  path: readonly string[],
  value: unknown,
): Promise<boolean> {
  const edited = await editSettings(settingsFileToWrite(level, placesOf(ui)), [{ path, value }])
  if (!edited.ok) ui.front.notice('error', `${edited.file}: ${edited.why}`)
  else if (edited.changed) ui.front.notice('info', `Saved ${path.join('.')} in ${edited.file}`)
  return edited.ok
}

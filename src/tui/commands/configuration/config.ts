import type { PermissionMode } from '../../../hooks/plane.ts'
import { permissionModes } from '../../../store/settings/settings-shape.ts'
import { isTheme, themeName, themes } from '../../render/style.ts'
import type { Ui } from '../../session/command-context.ts'
import { saveSetting } from '../../session/save-setting.ts'

/** A preference: how it is seen, changed now, and kept. */
interface Preference {
  readonly key: string
  readonly about: string
  readonly values: readonly string[] | 'text'
  now(ui: Ui): string
  /** In force at once, where that is possible. */
  apply(value: string, ui: Ui): Promise<string | undefined> | string | undefined
  /** How it stands in the settings file. */
  stored(value: string, ui: Ui): { path: string[]; value: unknown }
}

const onOff = ['on', 'off'] as const
const flag = (key: string, about: string, usual: boolean): Preference => ({
  key,
  about,
  values: onOff,
  now: ({ session }) => ((session.runtime.settings[key] ?? usual) ? 'on' : 'off'),
  apply: () => undefined,
  stored: (value) => ({ path: [key], value: value === 'on' }),
})

const preferences: readonly Preference[] = [
  {
    key: 'model',
    about: 'the model that answers',
    values: 'text',
    now: ({ session: { model } }) => (model.rehearsal ? model.wireModel : model.modelId || model.wireModel),
    async apply(value, ui) {
      const next = await ui.session.runtime.modelFor(value)
      if ('problem' in next) return next.problem
      ui.session.model = next
    },
    stored: (_value, { session }) => ({
      path: ['model_config'],
      value: { provider: session.model.providerName, model_id: session.model.modelId },
    }),
  },
  {
    key: 'mode',
    about: 'the permission mode that sessions start in',
    values: permissionModes,
    now: ({ session }) => session.mode,
    apply: (value, { session }) => {
      if (value === 'bypassPermissions' && session.permissions.disableBypassPermissionsMode === 'disable')
        return 'bypassPermissions is disabled by settings'
      session.mode = value as PermissionMode
    },
    stored: (value) => ({ path: ['permissions', 'defaultMode'], value }),
  },
  {
    key: 'theme',
    about: 'colours',
    values: themes,
    now: () => themeName(),
    apply: (value, ui) => {
      if (isTheme(value)) ui.setTheme(value)
    },
    stored: (value) => ({ path: ['theme'], value }),
  },
  {
    key: 'editorMode',
    about: 'the keys of the input line',
    values: ['normal', 'vim'],
    now: (ui) => (ui.vim() ? 'vim' : 'normal'),
    apply: (value, ui) => ui.setVim(value === 'vim') as undefined,
    stored: (value) => ({ path: ['editorMode'], value }),
  },
  {
    key: 'outputStyle',
    about: 'how the agent writes (from the next session on)',
    values: 'text',
    now: ({ session }) => session.runtime.settings.outputStyle ?? 'default',
    apply: () => undefined,
    stored: (value) => ({ path: ['outputStyle'], value: value === 'default' ? undefined : value }),
  },
  flag('autoCompactEnabled', 'make a summary when the window fills (from the next start on)', true),
  flag('respectGitignore', '@ leaves out what git ignores', true),
  flag('disableAllHooks', 'no hook runs but managed ones (from the next start on)', false),
]

const usage = '/config KEY=VALUE changes it now; add --save to keep it in ~/.ona/settings.json'

export async function run(args: string, ui: Ui): Promise<void> {
  const save = /(^|\s)--save\b/.test(args)
  const words = args.replace(/--save\b/, '').trim()
  if (words === '--help' || (words === '' && !ui.front.interactive)) return list(ui)
  if (words === '') return edit(ui)
  for (const word of words.split(/\s+/)) {
    const [key = '', value] = word.split(/=(.*)/s)
    const preference = preferences.find((one) => one.key === key)
    if (!preference)
      return ui.front.notice(
        'error',
        `there is no preference "${key}"; ${preferences.map((one) => one.key).join(', ')}`,
      )
    if (value === undefined) ui.front.print(`${key}=${preference.now(ui)}`)
    else await set(preference, value, save, ui)
  }
}

function list(ui: Ui): void {
  for (const one of preferences) {
    const values = one.values === 'text' ? '' : ` (${one.values.join(', ')})`
    ui.front.print(`${`${one.key}=${one.now(ui)}`.padEnd(36)} ${one.about}${values}`)
  }
  ui.front.print(usage)
}

async function edit(ui: Ui): Promise<void> {
  const picked = await ui.front.choose({
    title: 'Preferences',
    choices: preferences.map((one) => ({ label: `${one.key}: ${one.now(ui)}`, value: one, hint: one.about })),
  })
  if (!picked) return
  const preference = picked.value
  if (preference.key === 'model') {
    const { run: pickModel } = await import('./model.ts')
    return pickModel('', ui)
  }
  const value =
    preference.values === 'text'
      ? await ui.front.ask({ title: preference.key, body: [preference.about], initial: preference.now(ui) })
      : (
          await ui.front.choose({
            title: preference.key,
            choices: preference.values.map((one) => ({ label: one, value: one })),
            selected: preference.values.indexOf(preference.now(ui)),
          })
        )?.value
  if (value === undefined) return
  const keep = await ui.front.choose({
    title: `${preference.key}: ${value}`,
    choices: [
      { label: 'For now', value: false },
      { label: 'For good', value: true, hint: '~/.ona/settings.json' },
    ],
  })
  if (keep) await set(preference, value, keep.value, ui)
}

async function set(preference: Preference, value: string, save: boolean, ui: Ui): Promise<void> {
  const { values, key } = preference
  if (values !== 'text' && !values.includes(value))
    return ui.front.notice('error', `${key} is one of ${values.join(', ')}, not "${value}"`)
  const problem = await preference.apply(value, ui)
  if (problem) return ui.front.notice('error', problem)
  ui.refresh()
  const { path, value: stored } = preference.stored(value, ui)
  if (save) await saveSetting(ui, 'user', path, stored)
  else ui.front.notice('info', `${key}=${value}, for now`)
}

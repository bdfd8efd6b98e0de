/** Plugins that are enabled and not trusted: the user is prompted once for each, before the session starts. */
import { settingsHere } from '../../agent/session/folder-settings.ts'
import type { StartOptions } from '../../agent/session/start-options.ts'
import { type Managing, managing, type Status, statusOfAll, trust } from '../../plugins/manage.ts'
import { summaryOf } from '../../plugins/summary.ts'
import { bold, paint } from '../render/style.ts'
import type { Front } from '../session/front.ts'

type Place = Pick<StartOptions, 'cwd' | 'env' | 'settings'>

/** A "no" holds for this run: `ona plugin disable` turns the plugin off for good. */
export async function settlePlugins(front: Front, { cwd, env, settings = {} }: Place): Promise<void> {
  const at = managing(settingsHere({ cwd, env, flags: settings, lookOnly: true }), env)
  for (const status of statusOfAll(at))
    if (status.enabled && status.plugin && status.trust !== 'trusted') await askTrust(front, at, status)
}

export async function askTrust(
  front: Front,
  at: Managing,
  { id, plugin, installed, trust: state }: Status,
): Promise<boolean> {
  const { runs, offers } = summaryOf(plugin!)
  const list = (title: string, items: readonly string[]) =>
    items.length > 0
      ? [
          title,
          ...items.slice(0, 12).map((each) => `  ${each}`),
          ...(items.length > 12 ? [`  and ${items.length - 12} more`] : []),
          '',
        ]
      : []
  const chosen = await front.choose<boolean>({
    title:
      state === 'changed'
        ? 'This plugin has changed since you trusted it. Do you trust it as it is now?'
        : 'Do you trust this plugin?',
    body: [
      bold(`${id}${plugin!.version ? ` ${plugin!.version}` : ''}`),
      paint('dim', plugin!.root),
      '',
      ...list('It runs, without a prompt:', runs),
      ...list('It offers:', offers),
      paint('dim', 'Until it is trusted, nothing of it is used. It asks again when its files change.'),
    ],
    escape: 'not now',
    choices: [
      { label: 'Yes, I trust it', value: true, key: 'y' },
      { label: 'No, continue without it', value: false, key: 'n' },
    ],
  })
  if (chosen?.value !== true) return false
  trust(at, installed!)
  return true
}

import { settingsHere } from '../../../agent/session/folder-settings.ts'
import { problemOf } from '../../../files/problem.ts'
import { type Managing, managing, type Status, setEnabled, stateOf, statusOfAll } from '../../../plugins/manage.ts'
import { summaryOf } from '../../../plugins/summary.ts'
import { askTrust } from '../../dialogs/plugin-trust.ts'
import { paint } from '../../render/style.ts'
import type { Ui } from '../../session/command-context.ts'
import type { Front } from '../../session/front.ts'

type Act = 'info' | 'trust' | 'enable' | 'disable'
const acts: readonly Act[] = ['info', 'trust', 'enable', 'disable']

export async function run(args: string, ui: Ui): Promise<void> {
  const { front, session } = ui
  const { projectDir: cwd, runtime } = session
  const at = managing(settingsHere({ cwd, env: runtime.env, lookOnly: true }), runtime.env)
  const all = statusOfAll(at)
  const [verb = '', name = ''] = args.split(/\s+/)
  if (verb === '') return overview(front, at, all)
  if (!acts.includes(verb as Act) || name === '')
    return front.notice('error', `usage: /plugin [${acts.join('|')} NAME]; ona plugin adds, updates and removes`)
  const found = all.filter(({ id }) => id === name || id.startsWith(`${name}@`))
  if (found.length !== 1)
    return front.notice(
      'error',
      found.length > 1 ? `"${name}" is ${found.map(({ id }) => id).join(' or ')}` : `there is no plugin "${name}"`,
    )
  return act(verb as Act, found[0]!, front, at)
}

async function overview(front: Front, at: Managing, all: readonly Status[]): Promise<void> {
  if (all.length === 0)
    return front.print('No plugin is installed. On the command line: ona plugin add SOURCE|NAME@MARKETPLACE')
  for (const each of all)
    front.print(
      `  ${each.id} ${paint('dim', `${each.version ?? ''} ${stateOf(each)}${each.problem ? `: ${each.problem}` : ''}`)}`,
    )
  if (!front.interactive) return
  const chosen = await front.choose<{ act: Act; status: Status }>({
    title: 'Plugins',
    choices: all.flatMap((status) =>
      actsOn(status).map((each) => ({
        label: `${each[0]!.toUpperCase()}${each.slice(1)} ${status.id}`,
        value: { act: each, status },
        hint: stateOf(status),
      })),
    ),
  })
  if (chosen) await act(chosen.value.act, chosen.value.status, front, at)
}

const actsOn = ({ plugin, enabled, required, trust, installed }: Status): Act[] => [
  ...(plugin ? (['info'] as const) : []),
  ...(plugin && trust !== 'trusted' ? (['trust'] as const) : []),
  ...(required ? [] : enabled ? (['disable'] as const) : installed ? (['enable'] as const) : []),
]

async function act(verb: Act, status: Status, front: Front, at: Managing): Promise<void> {
  const { id, plugin, required } = status
  if (verb === 'info' || verb === 'trust') {
    if (!plugin) return front.notice('error', `${id}: ${status.problem ?? 'it is not installed'}`)
    if (verb === 'info') return info(front, status)
    if (await askTrust(front, at, status).catch((error) => tell(front, error)))
      front.notice('info', `${id} is trusted; it counts from the next start of ona on`)
    return
  }
  if (required) return front.notice('error', `${id} is enabled by managed settings and stays so`)
  const edited = await setEnabled(at, id, verb === 'enable', 'user')
  if (!edited.ok) return front.notice('error', `${edited.file}: ${edited.why}`)
  front.notice('info', `${verb}d ${id} in ${edited.file}; it counts from the next start of ona on`)
}

function info(front: Front, status: Status): void {
  const { runs, offers } = summaryOf(status.plugin!)
  front.print(
    `${status.id} ${status.version ?? ''}: ${stateOf(status)}`,
    status.plugin!.root,
    ...runs.map((each) => `  runs ${each}`),
    ...offers.map((each) => `  offers ${each}`),
  )
}

function tell(front: Front, error: unknown): false {
  front.notice('error', problemOf(error).message)
  return false
}

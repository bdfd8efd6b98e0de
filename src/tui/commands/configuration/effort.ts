import { nearestEffort } from '../../../agent/model/reasoning.ts'
import { type Effort, efforts } from '../../../providers/models/models.ts'
import type { Ui } from '../../session/command-context.ts'
import { saveSetting } from '../../session/save-setting.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  const { session, front } = ui
  const { reasoning } = session.runtime
  const [word = '', ...flags] = args.split(/\s+/)
  if (word === '') return front.print(`effort: ${reasoning.effort ?? 'auto'}${takes(ui)}`)
  const level = efforts.find((each) => each === word)
  if (!level && word !== 'auto')
    return front.notice('error', `/effort takes ${efforts.join(', ')} or auto, not "${word}"`)
  reasoning.effort = level
  front.notice('info', `Effort: ${word}${level ? used(level, ui) : ''}`)
  if (flags.includes('--save')) await saveSetting(ui, 'user', ['effortLevel'], level)
}

const takes = ({ session: { model } }: Ui): string =>
  model.efforts?.length ? ` (${model.wireModel} takes ${model.efforts.join(', ')})` : ` (${model.wireModel} takes none)`

function used(level: Effort, { session: { model } }: Ui): string {
  const nearest = nearestEffort(level, model)
  if (nearest === level) return ''
  if (nearest) return `; ${model.wireModel} goes up to ${nearest}`
  return model.thinking === 'budget'
    ? `; ${model.wireModel} thinks with a budget for it`
    : takes({ session: { model } } as Ui)
}

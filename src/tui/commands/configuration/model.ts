import { flagOf, saveModel } from '../../../agent/model/saved-model.ts'
import type { ActiveModel } from '../../../agent/session/runtime.ts'
import { models } from '../../../providers/models/models.ts'
import { addEvent } from '../../../store/audit.ts'
import { cleanLine } from '../../render/clean.ts'
import { paint } from '../../render/style.ts'
import type { Ui } from '../../session/command-context.ts'
import { saveSetting } from '../../session/save-setting.ts'
import { type Offer, offered } from './model-offers.ts'

const prices = 'Prices are US dollars per million tokens, input and output.'

export async function run(args: string, ui: Ui): Promise<void> {
  const [name = '', ...flags] = args.split(/\s+/)
  if (name) return change(name, ui, flags.includes('--save'))
  const { session, front } = ui
  const offers = await offered(ui)
  const current = `${session.model.wireModel} (${session.model.providerName}; ${session.model.why})`
  if (!front.interactive) {
    front.print(`model: ${current}`)
    for (const { name: one, wire, provider, displayName, about } of offers)
      front.print(`  ${one}  ${one.includes(wire) ? '' : `${wire}, `}${provider}: ${displayName} · ${about}`)
    front.print(`${prices} /model NAME changes the model; add --save to keep it.`)
    return
  }
  const chosen = await front.choose<{ offer: Offer; save: boolean }>({
    title: 'Which model?',
    body: [paint('dim', `Now: ${cleanLine(current)}`), paint('dim', prices)],
    filter: offers.length > 9,
    selected: Math.max(
      0,
      offers.findIndex(
        ({ wire, provider }) =>
          wire === session.model.wireModel && (session.model.rehearsal || provider === session.model.providerName),
      ),
    ),
    choices: offers.map((offer) => ({
      label: offer.displayName,
      value: { offer, save: false },
      hint: offer.displayName === offer.name ? offer.about : `${offer.name} · ${offer.about}`,
    })),
    keys: { 'ctrl+s': { about: 'keeps it as the default', act: (value) => value && { ...value, save: true } } },
  })
  if (chosen) await change(chosen.value.offer.name, ui, chosen.value.save)
}

async function change(name: string, ui: Ui, save: boolean): Promise<void> {
  const { session, front } = ui
  const next = await session.runtime.modelFor(name)
  if ('problem' in next) return front.notice('error', next.problem)
  const from = session.model.wireModel
  session.model = next
  saveModel(session, next)
  addEvent(session.db, {
    conversationId: session.conversationId,
    sessionId: session.id,
    type: 'model_changed',
    detail: { from, to: next.wireModel, provider: next.providerName },
  })
  ui.refresh()
  front.notice('info', `Model: ${next.wireModel} (${next.providerName})`)
  if (save) await keep(next, ui)
}

/** `model_config` holds documented ids alone; any other name goes into `model`, which stands behind it. */
async function keep(model: ActiveModel, ui: Ui): Promise<void> {
  const { providerName: provider, modelId: model_id, wireModel, alias } = model
  const isDocumented = !alias && (models[provider][model_id] ?? wireModel) === wireModel
  if (isDocumented && !model.rehearsal)
    return void (await saveSetting(ui, 'user', ['model_config'], { provider, model_id }))
  await saveSetting(ui, 'user', ['model_config'], undefined)
  await saveSetting(ui, 'user', ['model'], alias ?? flagOf(model))
}

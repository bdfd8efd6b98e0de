import { saveModel } from '../../../agent/model/saved-model.ts'
import { credentialFor } from '../../../auth/sources.ts'
import { createProvider } from '../../../providers/create.ts'
import { models, type ProviderName, providerNames, wireModelOf } from '../../../providers/models/models.ts'
import { rehearsalModel } from '../../../providers/models/resolve.ts'
import { addEvent } from '../../../store/audit.ts'
import type { Ui } from '../../session/command-context.ts'
import { saveSetting } from '../../session/save-setting.ts'

interface Offer {
  /** What `/model` takes. */
  readonly name: string
  readonly wire: string
  readonly provider: string
}

/** How long the servers may take to list what they have. */
const listMs = 2_000

export async function run(args: string, ui: Ui): Promise<void> {
  const [name = '', ...flags] = args.split(/\s+/)
  if (name) return change(name, ui, flags.includes('--save'))
  const { session, front } = ui
  const offers = await offered(ui)
  front.print(`model: ${session.model.wireModel} (${session.model.providerName}; ${session.model.why})`)
  if (!front.interactive) {
    for (const { name: one, wire, provider } of offers)
      front.print(`  ${one}  ${wire === one ? '' : `${wire}, `}${provider}`)
    front.print('/model NAME changes it; add --save to keep it')
    return
  }
  const chosen = await front.choose<{ offer: Offer; save: boolean }>({
    title: 'Which model?',
    filter: offers.length > 9,
    selected: Math.max(
      0,
      offers.findIndex(
        ({ wire, provider }) => wire === session.model.wireModel && provider === session.model.providerName,
      ),
    ),
    choices: offers.map((offer) => ({
      label: offer.name,
      value: { offer, save: false },
      hint: `${offer.wire === offer.name ? '' : `${offer.wire}, `}${offer.provider}`,
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
  if (save) await saveSetting(ui, 'user', ['model_config'], { provider: next.providerName, model_id: next.modelId })
}

/** The documented models of every provider that could answer, and what its server lists beside them. */
async function offered(ui: Ui): Promise<Offer[]> {
  const { env, settings, trusted, bare } = ui.session.runtime
  const offers: Offer[] = []
  await Promise.all(
    providerNames.map(async (provider: ProviderName) => {
      const known = Object.keys(models[provider]).flatMap((id) => {
        const wire = wireModelOf(provider, id, env)
        return wire ? [{ name: id, wire, provider }] : []
      })
      const usable = provider !== 'openai_compatible' || env['OPENAI_BASE_URL']
      const credential = usable && (await credentialFor(provider, { settings, env, trusted, bare }))
      if (!credential || 'problem' in credential) return
      const listed = await createProvider({ provider, credential, env, retries: { most: 0 } })
        .models(AbortSignal.timeout(listMs))
        .catch(() => []) // a server that does not answer lists nothing
      const fresh = listed.filter((wire) => !known.some((one) => one.wire === wire))
      offers.push(...known, ...fresh.map((wire) => ({ name: `${provider}/${wire}`, wire, provider })))
    }),
  )
  offers.sort(
    (a, b) => providerNames.indexOf(a.provider as ProviderName) - providerNames.indexOf(b.provider as ProviderName),
  )
  return [...offers, { name: rehearsalModel, wire: rehearsalModel, provider: 'built in: not a language model' }]
}

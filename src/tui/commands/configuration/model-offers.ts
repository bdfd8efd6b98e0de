/** The models that `/model` offers: the documented ones and what each server lists, with what they can do. */
import { ownSpecs } from '../../../agent/model/own-specs.ts'
import { credentialFor } from '../../../auth/sources.ts'
import { createProvider, shownBaseUrl } from '../../../providers/create.ts'
import { specOf } from '../../../providers/models/catalogue.ts'
import { saveListed } from '../../../providers/models/listed-models.ts'
import { models, type ProviderName, providerNames, wireModelOf } from '../../../providers/models/models.ts'
import { rehearsalModel } from '../../../providers/models/resolve.ts'
import type { ListedModel, ModelSpec } from '../../../providers/models/spec.ts'
import { tokens } from '../../render/format.ts'
import type { Ui } from '../../session/command-context.ts'

export interface Offer {
  /** What `/model` takes. */
  readonly name: string
  readonly wire: string
  readonly provider: string
  /** `Claude Opus 5.5`. */
  readonly displayName: string
  /** `1M context · thinks · effort low–max · $4/$20`. */
  readonly about: string
}

/** How long the servers may take to list what they have. */
const listMs = 2_000

export async function offered(ui: Ui): Promise<Offer[]> {
  const lists = await Promise.all(providerNames.map((provider) => ofProvider(provider, ui)))
  return [
    ...lists.flat(),
    {
      name: rehearsalModel,
      wire: rehearsalModel,
      provider: 'built in',
      displayName: 'Rehearsal',
      about: 'not a language model',
    },
  ]
}

async function ofProvider(provider: ProviderName, ui: Ui): Promise<Offer[]> {
  const { env, settings, trusted, bare } = ui.session.runtime
  const known = Object.keys(models[provider]).flatMap((id) => {
    const wire = wireModelOf(provider, id, env)
    return wire ? [{ name: id, wire }] : []
  })
  const address = provider !== 'openai_compatible' || env['OPENAI_BASE_URL']
  const credential = address
    ? await credentialFor(provider, { settings, env, trusted, bare })
    : { problem: 'needs OPENAI_BASE_URL' }
  const usable = !('problem' in credential)
  const listed: readonly ListedModel[] = usable
    ? await createProvider({ provider, credential, env, retries: { most: 0 } }).list!(
        AbortSignal.timeout(listMs),
      ).catch(() => []) // a server that does not answer lists nothing
    : []
  saveListed(shownBaseUrl(provider, env), listed, env)
  const own = ownSpecs(settings)
  const fresh = listed.filter(({ id, retired }) => !retired && !known.some(({ wire }) => wire === id))
  return [...known, ...fresh.map(({ id }) => ({ name: `${provider}/${id}`, wire: id }))].map(({ name, wire }) => {
    const entry = listed.find(({ id }) => id === wire)
    const spec = specOf(provider, wire, own[wire], entry)
    const about = usable ? describe(spec) : `${describe(spec)} · ${credential.problem}`
    return { name, wire, provider, displayName: spec.name ?? wire, about }
  })
}

function describe({ contextWindow, thinking, efforts, price }: ModelSpec): string {
  const facts = [
    `${tokens(contextWindow).replace('.0', '')} context`,
    thinking === 'none' ? '' : 'thinks',
    efforts.length > 0 ? `effort ${efforts[0]}–${efforts.at(-1)}` : '',
    price ? `${dollars(price.input)}/${dollars(price.output)}` : '',
  ]
  return facts.filter((fact) => fact !== '').join(' · ')
}

const dollars = (amount: number): string => `$${Number.isInteger(amount) ? amount : amount.toFixed(2)}`

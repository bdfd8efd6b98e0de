/** An agent in code: its instructions, what it may use, who watches it, and what its answer becomes. */
import type {
  Agent,
  AgentDefinition,
  AnswerOf,
  AnyDefinition,
  HandoffTo,
  HookTable,
  Methods,
  RawResultOf,
} from './agent-types.ts'
import { checkDefinition, checkFields } from './check-definition.ts'
import type { Variables } from './context.ts'
import { readHooks } from './hooks.ts'
import type { InputOf, Schema } from './output/schema.ts'

class DefinedAgent implements Agent {
  readonly name: string
  readonly description: string
  readonly methods: Methods
  readonly definition: AnyDefinition
  readonly hookTable: HookTable

  constructor(definition: AnyDefinition) {
    const { name, description = '', methods = {}, hooks = {} } = definition
    const by = `defineAgent(${JSON.stringify(name)})`
    checkDefinition(by, definition)
    this.name = name
    this.description = description
    this.methods = Object.freeze({ ...methods })
    this.definition = Object.freeze({ ...definition })
    this.hookTable = readHooks(by, hooks, this.methods)
    checkFields(`${by}: resultTransform`, definition.resultTransform ?? {}, this.methods)
    if (typeof definition.handoffs !== 'function') checkHandoffs(by, definition.handoffs)
    Object.freeze(this)
  }

  /** Whom it may hand over to. */
  get handoffs(): readonly HandoffTo[] {
    const { handoffs = [] } = this.definition
    return typeof handoffs === 'function' ? checkHandoffs(`agent "${this.name}"`, handoffs()) : handoffs
  }
}

export function defineAgent<
  const Output extends Schema | undefined = undefined,
  const Ctx extends Schema | undefined = undefined,
  M = Record<never, never>,
  Method extends string = never,
  F = Record<never, never>,
  From = Record<never, never>,
  Inner = Record<never, never>,
  const H extends readonly HandoffTo[] = readonly [],
>(
  definition: AgentDefinition<Output, Ctx, M, Method, F, From, Inner, H>,
): Agent<Ctx extends Schema ? InputOf<Ctx> & object : Variables, AnswerOf<Output, M, F, H>, RawResultOf<Output, H>> {
  return new DefinedAgent(definition as unknown as AnyDefinition) as never
}

function checkHandoffs(by: string, given: readonly HandoffTo[] = []): readonly HandoffTo[] {
  for (const each of given)
    if (!isAgent(each) && !isAgent(each?.to))
      throw new TypeError(`${by}: handoffs must be agents, or what handoff(agent) gives`)
  return given
}

/** Whether `defineAgent` made it. */
export const isAgent = (given: unknown): given is DefinedAgent => given instanceof DefinedAgent

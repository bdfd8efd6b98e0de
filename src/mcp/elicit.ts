/** A server asks the user something: the hooks may answer for them, and see the answer before the server does. */
import type { Plane, Scope } from '../hooks/plane.ts'
import type { JsonObject } from '../hooks/shape.ts'

export interface Elicitation {
  readonly server: string
  readonly message: string
  readonly mode: 'form' | 'url'
  readonly url?: string
  readonly id?: string
  readonly schema?: JsonObject
}

export type ElicitationAnswer = { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: JsonObject }

/** `ask` is the user; undefined when nobody is there. */
export async function elicit(
  asked: Elicitation,
  {
    plane,
    scope,
    ask,
  }: { plane: Plane; scope: Scope; ask(asked: Elicitation): Promise<ElicitationAnswer | undefined> },
): Promise<ElicitationAnswer> {
  const { server, message, mode, url, id, schema } = asked
  const ids = { mcp_server_name: server, mode, ...(id !== undefined && { elicitation_id: id }) }
  const first = plane.listens('Elicitation')
    ? await plane.raise(
        'Elicitation',
        { ...ids, message, ...(url !== undefined && { url }), ...(schema && { requested_schema: schema }) },
        scope,
      )
    : undefined
  if (first && refuses(first)) return { action: 'decline' }
  const answer: ElicitationAnswer = first?.elicitation ?? (await ask(asked)) ?? { action: 'cancel' }
  if (!plane.listens('ElicitationResult')) return answer
  const content = answer.content && { content: answer.content }
  const second = await plane.raise('ElicitationResult', { ...ids, action: answer.action, ...content }, scope)
  if (refuses(second)) return { action: 'decline' }
  return second.elicitation ?? answer
}

const refuses = ({ decision, control, stop }: Awaited<ReturnType<Plane['raise']>>): boolean =>
  decision === 'deny' || stop !== null || (control as { kind?: string }).kind === 'break'

/** The model that was chosen for a session, for when it is resumed. */
import { getState, setState } from '../../store/state.ts'
import type { ActiveModel } from '../session/runtime.ts'
import type { Session } from '../session/session.ts'

type Place = Pick<Session, 'db' | 'id' | 'conversationId'>

export const saveModel = ({ db, id, conversationId }: Place, model: ActiveModel): void =>
  setState(db, conversationId, keyOf(id), flagOf(model))

export const savedModel = ({ db, id, conversationId }: Place): string | undefined =>
  getState(db, conversationId, keyOf(id))

/** As `--model` takes it. */
export const flagOf = ({ rehearsal, providerName, wireModel }: ActiveModel): string =>
  rehearsal ? wireModel : `${providerName}/${wireModel}`

const keyOf = (id: string) => `model:${id}`

/** The tools that ToolSearch has loaded in a session, for when it is resumed. */
import { getState, setState } from '../../store/state.ts'
import type { Session } from './session.ts'

/** Gives those for which there is room. */
export function loadTools(session: Session, names: readonly string[]): readonly string[] {
  const { db, conversationId, id, toolbox, model } = session
  toolbox.reveal(names)
  const waiting = new Set(toolbox.deferred(model.window).map(({ name }) => name))
  const loaded = names.filter((name) => !waiting.has(name))
  const before = loadedBefore(session).filter((name) => !loaded.includes(name))
  session.later(() => setState(db, conversationId, keyOf(id), JSON.stringify([...before, ...loaded])))
  return loaded
}

export const loadAgain = (session: Session): void => session.toolbox.reveal(loadedBefore(session))

function loadedBefore({ db, conversationId, id }: Session): string[] {
  const kept = getState(db, conversationId, keyOf(id))
  return kept === undefined ? [] : JSON.parse(kept)
}

const keyOf = (id: string) => `tools:${id}`

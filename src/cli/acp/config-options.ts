/** What an editor's user can choose in a session: the permission mode and the model. Both are kept with the session. */
import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk'
import { saveModel } from '../../agent/model/saved-model.ts'
import type { Session } from '../../agent/session/session.ts'
import type { PermissionMode } from '../../hooks/plane.ts'
import { modeInForce, modes } from '../../permissions/modes.ts'
import { getState, setState } from '../../store/state.ts'
import { type ListedModel, modelList } from '../model-list.ts'

const modeNames: Record<PermissionMode, [name: string, description: string]> = {
  default: ['Ask', 'Prompts for what no rule allows'],
  acceptEdits: ['Accept edits', 'Edits files of the project without prompting'],
  plan: ['Plan', 'Reads and plans; changes nothing'],
  dontAsk: ["Don't ask", 'Denies what no rule allows'],
  bypassPermissions: ['Bypass', 'Allows what no rule denies'],
}

export const modesOf = ({ mode, permissions }: Session): SessionModeState => ({
  currentModeId: mode,
  availableModes: modes
    .filter((each) => modeInForce(each, permissions) === each)
    .map((id) => ({ id, name: modeNames[id][0], description: modeNames[id][1] })),
})

export async function configOptions(session: Session): Promise<SessionConfigOption[]> {
  const { currentModeId, availableModes } = modesOf(session)
  const listed = await modelList(session)
  return [
    {
      id: 'mode',
      name: 'Permission mode',
      category: 'mode',
      type: 'select',
      currentValue: currentModeId,
      options: availableModes.map(({ id, name, description }) => ({
        value: id,
        name,
        description: description ?? null,
      })),
    },
    {
      id: 'model',
      name: 'Model',
      category: 'model',
      type: 'select',
      currentValue: currentModel(session, listed),
      options: listed.map(({ value, displayName, description }) => ({ value, name: displayName, description })),
    },
  ]
}

/** The list's own name of the model in use. */
const currentModel = ({ model }: Session, listed: readonly ListedModel[]): string =>
  listed.find(({ value, resolvedModel }) => value !== 'default' && resolvedModel === model.wireModel)?.value ??
  'default'

/** Why it cannot be set, or undefined. */
export async function setOption(session: Session, id: string, value: unknown): Promise<string | undefined> {
  if (id === 'mode') return setMode(session, String(value))
  if (id === 'model') return setModel(session, String(value))
  return `unknown option "${id}"; there are mode and model`
}

export function setMode(session: Session, value: string): string | undefined {
  const mode = modes.find((each) => each === value)
  if (!mode || modeInForce(mode, session.permissions) !== mode) return `the mode "${value}" is not available`
  session.mode = mode
  saveMode(session)
  return undefined
}

export async function setModel(session: Session, value: string): Promise<string | undefined> {
  const chosen = await session.runtime.modelFor(value === 'default' ? '' : value)
  if ('problem' in chosen) return chosen.problem
  session.model = chosen
  saveModel(session, chosen)
  return undefined
}

const modeKey = 'permission_mode'

export const saveMode = (session: Session): void => setState(session.db, session.conversationId, modeKey, session.mode)

/** The mode that the session was left in, where the settings still allow it; a narrower start is never widened silently. */
export function restoreMode(session: Session): void {
  const saved = modes.find((each) => each === getState(session.db, session.conversationId, modeKey))
  if (saved && modeInForce(saved, session.permissions) === saved) session.mode = saved
}

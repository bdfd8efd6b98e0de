/** What a mode says when no rule does. */
import type { PermissionMode } from '../hooks/plane.ts'
import { type FileAccess, inWorkingDirectories } from './paths/access.ts'
import { protectionFor } from './protection.ts'
import type { PermissionQuestion, PermissionSettings } from './question.ts'
import { isSecretFile } from './secret-files.ts'

type Word = 'allow' | 'ask' | 'deny'

export const modes: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions']

/** The mode that holds: bypassing may be forbidden by the settings. */
export const modeInForce = (mode: PermissionMode, settings: PermissionSettings): PermissionMode =>
  mode === 'bypassPermissions' && settings.disableBypassPermissionsMode === 'disable' ? 'default' : mode

/** From the one that lets the least happen to the one that lets the most. */
const widths: readonly PermissionMode[] = ['dontAsk', 'plan', 'default', 'acceptEdits', 'bypassPermissions']
export const isWider = (mode: PermissionMode, than: PermissionMode): boolean =>
  widths.indexOf(mode) > widths.indexOf(than)

const changing = ['Write', 'Edit', 'Bash', 'NotebookEdit']
const accepted = ['Read', 'Write', 'Edit']

/** `access`: the file that the call is about, where it is about one. */
export function modeSays(question: PermissionQuestion, access: FileAccess | undefined): { word: Word; why: string } {
  const mode = modeInForce(question.mode, question.settings)
  const { tool } = question
  if (mode === 'bypassPermissions') return { word: 'allow', why: 'bypassPermissions mode allows what no rule forbids' }
  if (mode === 'dontAsk') return { word: 'deny', why: "don't ask mode denies what no rule allows" }
  if (mode === 'plan' && changing.includes(tool)) return { word: 'deny', why: `plan mode does not allow ${tool}` }
  if (mode === 'acceptEdits' && accepted.includes(tool) && access) {
    if (!inWorkingDirectories(access, question)) {
      return { word: 'ask', why: `${access.paths.at(-1)} is outside the working directories` }
    }
    const row = access.kind === 'edit' ? protectionFor(access, question) : undefined
    if (row) return { word: 'ask', why: `${access.paths[0]} is ${row.what}` }
    const secret = access.kind === 'read' ? access.paths.find(isSecretFile) : undefined
    if (secret) return { word: 'ask', why: `${secret} usually holds secrets` }
    return { word: 'allow', why: 'acceptEdits mode allows it in the working directories' }
  }
  const forbidden = mode !== question.mode ? ' (bypassPermissions mode is disabled by the settings)' : ''
  return { word: 'ask', why: `${mode} mode prompts for ${tool}${forbidden}` }
}

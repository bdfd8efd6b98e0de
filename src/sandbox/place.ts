/** Whether one Bash command runs in the sandbox, and if not, who said so. */
import { decide } from '../permissions/decide.ts'
import type { ProtectedPath } from '../permissions/protected-paths.ts'
import type { PermissionSettings } from '../permissions/question.ts'
import type { Cell, Fence } from './fence.ts'

/** Where a command runs. */
export type Place =
  | { readonly in: 'sandbox'; readonly cell: Cell }
  /** `why` goes into the record. `says`: the result mentions it, because nobody chose it. */
  | { readonly in: 'open'; readonly why: string; readonly says?: boolean; readonly mustAsk?: boolean }
  /** No sandbox can be made for it, and it must not run without one. */
  | { readonly in: 'nowhere'; readonly why: string }

export interface PlaceRequest {
  readonly command: string
  /** `dangerouslyDisableSandbox` in the call. */
  readonly disable: boolean
  readonly permissions: PermissionSettings
  readonly cwd: string
  readonly projectDir: string
  readonly home: string
  readonly env: NodeJS.ProcessEnv
  /** What only the session protects: files that hooks run. */
  readonly protect?: readonly ProtectedPath[]
}

type Sandboxing = Pick<Fence, 'settings' | 'availability' | 'cell'>

export async function placeOf(fence: Sandboxing, request: PlaceRequest): Promise<Place> {
  const { settings, availability } = fence
  if (!availability.ok && settings.failIfUnavailable)
    return { in: 'nowhere', why: `the sandbox is required and not available: ${availability.why}` }
  if (!availability.ok) return { in: 'open', why: `the sandbox is not available: ${availability.why}`, says: true }
  const excluded = await excludedBy(settings.excludedCommands ?? [], request)
  if (excluded !== undefined) return { in: 'open', why: `sandbox.excludedCommands names it: ${excluded}` }
  if (request.disable && settings.allowUnsandboxedCommands !== false)
    return { in: 'open', why: 'the call asked to run outside the sandbox', mustAsk: true }
  return insideOf(fence, request)
}

/** The same command with another word of the user's: once they approved it, ask rules on files no longer apply. */
export async function insideOf(
  fence: Sandboxing,
  request: Omit<PlaceRequest, 'command' | 'disable'>,
  approved = false,
): Promise<Place> {
  const { permissions, projectDir, cwd, env, protect } = request
  try {
    return { in: 'sandbox', cell: await fence.cell({ permissions, projectDir, cwd, env, approved, protect }) }
  } catch (error) {
    return { in: 'nowhere', why: `the command cannot be sandboxed: ${(error as Error).message}` }
  }
}

/**
 * The patterns that cover every part of a command line; a line of which one part is not excluded is sandboxed whole. The
 * permission rules' own reading decides, so that no quoting or substitution widens a pattern.
 */
async function excludedBy(patterns: readonly string[], request: PlaceRequest): Promise<string | undefined> {
  if (patterns.length === 0) return undefined
  const { command, cwd, projectDir, home } = request
  const ruling = await decide({
    settings: { allow: patterns.map((pattern) => `Bash(${pattern.replace(/[\\()]/g, '\\$&')})`) },
    mode: 'dontAsk',
    tool: 'Bash',
    input: { command },
    hook: 'none',
    cwd,
    projectDir,
    home,
  })
  return ruling.decision === 'allow' && ruling.rule !== undefined ? ruling.rule : undefined
}

/** Where the scripts of cases run for a session: under its rules and hooks, with the environment of its tools. */
import { delimiter, join, resolve } from 'node:path'
import type { Wrap as HookWrap } from '../../hooks/handler.ts'
import type { Steps } from '../../hooks/steps.ts'
import { decide } from '../../permissions/decide.ts'
import { isWithin } from '../../permissions/paths/pattern.ts'
import type { Fence } from '../../sandbox/fence.ts'
import type { Case } from '../../workflow/cases/cases.ts'
import { copyFor, runScript, type ScriptPlace } from '../../workflow/cases/run-script.ts'
import { addTestPlace } from '../../workflow/cases/test-place.ts'
import type { Implementation } from '../../workflow/implementation.ts'
import { questionOf } from '../permission-question.ts'
import type { Session } from '../session/session.ts'

export const scriptPlace = (session: Session): ScriptPlace => ({
  projectDir: session.projectDir,
  db: session.db,
  conversationId: session.conversationId,
  env: withoutProject(session.runtime.childEnv, session.projectDir),
  signal: session.signal,
  ...(session.runtime.testSandbox && sandboxFor(session, session.runtime.testSandbox)),
})

/** A script works on the copy: nothing in its environment leads to the project itself, by way of PATH neither. */
function withoutProject(env: NodeJS.ProcessEnv, projectDir: string): NodeJS.ProcessEnv {
  const leads = (value = '') => value.split(delimiter).some((each) => isWithin(each, projectDir))
  const PATH = (env['PATH'] ?? '').split(delimiter).filter((each) => !leads(each))
  const others = Object.entries(env).filter(([name, value]) => name !== 'PATH' && !leads(value))
  return { ...Object.fromEntries(others), PATH: PATH.join(delimiter) }
}

/**
 * In the sandbox a script finds the copy that it is given and nothing else of the project, whether or not the settings enable
 * it for commands. Where none can be made the script runs without, and the record and the report say so.
 */
const sandboxFor = (session: Session, sandbox: () => Promise<Fence>): Pick<ScriptPlace, 'wrap' | 'sandboxed'> => ({
  sandboxed: async () => (await sandbox()).availability.ok,
  wrap: wrapFor(session, sandbox),
})

const wrapFor = (session: Session, sandbox: () => Promise<Fence>): NonNullable<ScriptPlace['wrap']> => {
  let recorded = false
  return async (words, place) => {
    const fence = await sandbox()
    const { availability, settings } = fence
    if (!recorded) addTestPlace(session.db, session, availability.ok ? undefined : availability.why)
    recorded = true
    if (!availability.ok && !settings.failIfUnavailable) return { words, env: place.env, unheld: session.projectDir }
    const { wrapScript } = await import('../../sandbox/wrap.ts')
    const { rules: permissions, projectDir, runtime } = session
    return wrapScript(fence, { permissions, projectDir, home: runtime.home })(words, place)
  }
}

/**
 * The hooks of the session that writes tests: in the sandbox, with the files that hooks run and without the code. Where no
 * sandbox can be made they run without, as the scripts do, and what they say is still kept from the writer.
 */
export function blindHooks(session: Session, { files }: Implementation): HookWrap {
  const { runtime, projectDir } = session
  let tmp: string | undefined
  return async (words, place) => {
    const fence = await runtime.testSandbox!()
    if (!fence.availability.ok && !fence.settings.failIfUnavailable) return { words, env: place.env }
    tmp ??= fence.ownFolder()
    const { wrapBlindHook } = await import('../../sandbox/wrap.ts')
    const hookFiles = (questionOf(session).protect ?? []).filter(({ at, edit }) => at === 'exact' && edit === 'ask')
    const blind = {
      opened: [...hookFiles.map(({ path }) => path), join(projectDir, '.ona'), join(projectDir, '.claude')],
      closed: [...files.keys()].map((file) => resolve(projectDir, file)),
      tmp,
    }
    return wrapBlindHook(fence, { permissions: session.rules, projectDir, home: runtime.home }, blind)(words, place)
  }
}

export interface Refusal {
  readonly reason: string
  /** What a hook says of a case is not for its writer. */
  readonly forWriter: string
}

/**
 * Why a case must not run. It is judged as the Bash command that it is; entering the test phase stands for the answer to
 * a prompt, and lifts no deny. `asker`: the session whose hooks are asked, under the rules of the other.
 */
export async function refusedCase(
  session: Session,
  { name, content }: Pick<Case, 'name' | 'content'>,
  asker = session,
): Promise<Refusal | undefined> {
  const input = { command: content, description: `test case ${name}` }
  const id = `case_${crypto.randomUUID().replaceAll('-', '')}`
  const step: Steps['before_tool_apply'] = { toolName: 'Bash', safety: 'destructive', args: input, result: null }
  const answer = await asker.ask(
    'before_tool_apply',
    structuredClone(step),
    () => ({ name: 'PreToolUse', fields: { tool_name: 'Bash', tool_input: input, tool_use_id: id } }),
    id,
  )
  asker.commit(() => {})
  if (answer.decision === 'deny' || answer.stop !== null || answer.control.kind === 'break')
    return { reason: answer.reason || answer.stop || 'a hook denied it', forWriter: 'a hook refused it' }
  const ruling = await decide({ ...questionOf(session), tool: 'Bash', input, hook: 'allow' })
  return ruling.decision === 'deny' ? { reason: ruling.reason, forWriter: ruling.reason } : undefined
}

/** What a command of the project prints with --help. It runs as a case does: judged first, then in a copy. */
export async function helpOf(session: Session, file: string): Promise<string | undefined> {
  const path = `"$PROJECT_DIR"/'${file.replaceAll("'", "'\\''")}'`
  const content = `${/\.[cm]?js$/.test(file) ? `node ${path}` : path} --help`
  if ((await refusedCase(session, { name: `${file} --help`, content })) !== undefined) return undefined
  const place = scriptPlace(session)
  const copy = await copyFor(place)
  try {
    const there = { ...place, projectDir: copy.path, packages: copy.packages, timeoutMs: 10_000 }
    const { exitCode, stdout } = await runScript(content, there)
    return exitCode === 0 && stdout.trim() !== '' ? stdout : undefined
  } finally {
    copy.remove()
  }
}

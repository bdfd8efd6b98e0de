/** Where the scripts of cases run for a session: under its rules and hooks, with the environment of its tools. */
import type { Steps } from '../../hooks/steps.ts'
import { decide } from '../../permissions/decide.ts'
import type { Fence } from '../../sandbox/fence.ts'
import type { Case } from '../../workflow/cases.ts'
import { copyProject } from '../../workflow/project-copy.ts'
import { runScript, type ScriptPlace } from '../../workflow/run-script.ts'
import { addTestPlace } from '../../workflow/test-place.ts'
import { questionOf } from '../permission-question.ts'
import type { Session } from '../session/session.ts'

export const scriptPlace = (session: Session): ScriptPlace => ({
  projectDir: session.projectDir,
  db: session.db,
  conversationId: session.conversationId,
  env: session.runtime.childEnv,
  signal: session.signal,
  ...(session.runtime.testSandbox && { wrap: wrapFor(session, session.runtime.testSandbox) }),
})

/**
 * In the sandbox a script finds the copy that it is given and nothing else of the project, whether or not the settings enable
 * it for commands. Where none can be made the script runs without, and the record and the report say so.
 */
const wrapFor = (session: Session, sandbox: () => Promise<Fence>): ScriptPlace['wrap'] => {
  let recorded = false
  return async (words, place) => {
    const fence = await sandbox()
    const { availability, settings } = fence
    if (!recorded) addTestPlace(session.db, session, availability.ok ? undefined : availability.why)
    recorded = true
    if (!availability.ok && !settings.failIfUnavailable) return { words, env: place.env }
    const { wrapScript } = await import('../../sandbox/wrap.ts')
    const { rules: permissions, projectDir, runtime } = session
    return wrapScript(fence, { permissions, projectDir, home: runtime.home })(words, place)
  }
}

/**
 * Why a case must not run. It is judged as the Bash command that it is; entering the test phase stands for the answer to
 * a prompt, and lifts no deny.
 */
export async function refusedCase(
  session: Session,
  { name, content }: Pick<Case, 'name' | 'content'>,
): Promise<string | undefined> {
  const input = { command: content, description: `test case ${name}` }
  const id = `case_${crypto.randomUUID().replaceAll('-', '')}`
  const step: Steps['before_tool_apply'] = { toolName: 'Bash', safety: 'destructive', args: input, result: null }
  const answer = await session.ask(
    'before_tool_apply',
    structuredClone(step),
    () => ({ name: 'PreToolUse', fields: { tool_name: 'Bash', tool_input: input, tool_use_id: id } }),
    id,
  )
  session.commit(() => {})
  if (answer.decision === 'deny' || answer.stop !== null || answer.control.kind === 'break')
    return answer.reason || answer.stop || 'a hook denied it'
  const ruling = await decide({ ...questionOf(session), tool: 'Bash', input, hook: 'allow' })
  return ruling.decision === 'deny' ? ruling.reason : undefined
}

/** What a command of the project prints with --help. It runs as a case does: judged first, then in a copy. */
export async function helpOf(session: Session, file: string): Promise<string | undefined> {
  const path = `"$PROJECT_DIR"/'${file.replaceAll("'", "'\\''")}'`
  const content = `${/\.[cm]?js$/.test(file) ? `node ${path}` : path} --help`
  if ((await refusedCase(session, { name: `${file} --help`, content })) !== undefined) return undefined
  const copy = copyProject(session.projectDir)
  try {
    const place = { ...scriptPlace(session), projectDir: copy.path, packages: copy.packages, timeoutMs: 10_000 }
    const { exitCode, stdout } = await runScript(content, place)
    return exitCode === 0 && stdout.trim() !== '' ? stdout : undefined
  } finally {
    copy.remove()
  }
}

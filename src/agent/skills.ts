/** The skills of a session: found when first asked for, and what they embed done by the same rules as a tool call. */
import { isAbsolute, resolve } from 'node:path'
import type { JsonObject } from '../hooks/shape.ts'
import type { Steps } from '../hooks/steps.ts'
import { decide } from '../permissions/decide.ts'
import { addEvent } from '../store/audit.ts'
import type { Skills } from '../tools/host.ts'
import { type Outcome, type SkillDoors, skillsIn } from '../tools/skill-loader.ts'
import type { Skill } from '../tools/skills.ts'
import { planningGate } from '../workflow/gate.ts'
import type { Session } from './session.ts'

interface Places {
  /** As --bare wants it. */
  readonly none: boolean
  readonly home: string
  readonly projectDir: string
  /** The folder's own skills run commands and bring rules only when it is trusted. */
  readonly trusted: boolean
  /** The session that asks; there is none before the first one starts. */
  session(): Session | undefined
  warn(text: string): void
}

export function sessionSkills({ none, home, projectDir, trusted, session, warn }: Places): Skills {
  if (none) return { list: () => [], load: async () => ({ ok: false, why: 'there are no skills in bare mode' }) }
  let found: ReturnType<typeof skillsIn> | undefined
  const mayAct = (skill: Skill) => trusted || skill.from !== 'project'
  const doors: SkillDoors = {
    async run(command, skill) {
      const here = session()
      if (!here) return refused('there is no session')
      if (!mayAct(skill))
        return refused('this folder is not trusted; --trust, or yes to the question at start, allows it')
      return runEmbedded(here, command, skill)
    },
    async read(path, skill) {
      const here = session()
      return here
        ? call(here, 'Read', { file_path: isAbsolute(path) ? path : resolve(here.cwd, path) }, skill)
        : refused('there is no session')
    },
  }
  const ready = () => {
    if (!found) {
      found = skillsIn({ home, projectDir, sessionId: session()?.id ?? '' }, doors)
      for (const warning of found.warnings) warn(warning)
    }
    return found
  }
  return {
    list: () => ready().list(),
    async load(name, args, caller) {
      const skill = ready().find(name)
      const loaded = await ready().load(name, args, caller)
      if (loaded.ok && skill && mayAct(skill)) session()?.granted.push(...skill.allowedTools)
      return loaded
    },
  }
}

const refused = (why: string): Outcome => ({ ok: false, why, ran: false })

async function runEmbedded(session: Session, command: string, skill: Skill): Promise<Outcome> {
  const shut = planningGate(session.db, session.conversationId, 'Bash')
  return shut === undefined ? call(session, 'Bash', { command }, skill) : refused(shut)
}

/** Hooks, then rules together with what the skill allows; whatever they would ask about is refused. */
async function call(session: Session, name: 'Bash' | 'Read', input: JsonObject, skill: Skill): Promise<Outcome> {
  const tool = session.tool(name)
  if (!tool) return refused(`${name} is switched off`)
  const id = `skill_${crypto.randomUUID().replaceAll('-', '')}`
  const safety = typeof tool.safety === 'function' ? tool.safety(input) : tool.safety
  const step: Steps['before_tool_apply'] = { toolName: name, safety, args: input, result: null }
  const answer = await session.ask(
    'before_tool_apply',
    step,
    () => ({ name: 'PreToolUse', fields: { tool_name: name, tool_input: input, tool_use_id: id } }),
    id,
  )
  if (answer.decision === 'deny' || answer.stop !== null || answer.control.kind !== 'proceed' || step.args !== input) {
    session.commit(() => {})
    return refused(answer.reason || 'a hook did not let it pass as it is written')
  }
  const { permissions, mode, cwd, projectDir, runtime } = session
  const settings = { ...permissions, allow: [...(permissions.allow ?? []), ...skill.allowedTools] }
  const ruling = await decide({
    settings,
    mode,
    tool: name,
    input,
    hook: answer.decision,
    cwd,
    projectDir,
    home: runtime.home,
  })
  if (ruling.decision === 'deny' || (ruling.decision === 'ask' && name === 'Bash')) {
    session.commit(() => {})
    return refused(ruling.reason)
  }
  session.commit(() =>
    addEvent(session.db, {
      conversationId: session.conversationId,
      sessionId: session.id,
      type: 'skill_call',
      detail: { tool_use_id: id, tool_name: name, tool_input: input, skill: skill.name },
    }),
  )
  const { content, isError } = await tool.run(input, session.toolContext(id))
  return isError ? { ok: false, why: content, ran: true } : { ok: true, text: content }
}

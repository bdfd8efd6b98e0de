/** The skills of a session: found when first asked for, and what they embed done by the same rules as a tool call. */
import { isAbsolute, resolve } from 'node:path'
import { leadsOut } from '../../files/leads-out.ts'
import type { JsonObject } from '../../hooks/shape.ts'
import type { Steps } from '../../hooks/steps.ts'
import { decide } from '../../permissions/decide.ts'
import { withGranted } from '../../permissions/update.ts'
import { addEvent } from '../../store/audit.ts'
import type { LoadedSkill, SkillListing } from '../../tools/host.ts'
import { type Outcome, renderSkill, type SkillDoors } from '../../tools/skills/skill-loader.ts'
import { findSkills, type Skill } from '../../tools/skills/skills.ts'
import { planningGate } from '../../workflow/gate.ts'
import { wantedModel } from '../model/requested-model.ts'
import type { Session } from '../session/session.ts'
import { toolContext } from '../tool-host.ts'

interface Places {
  /** As --bare and --disable-slash-commands want it. */
  readonly none: boolean
  readonly home: string
  readonly projectDir: string
  /** The folder's own skills run commands and bring rules only when it is trusted. */
  readonly trusted: boolean
  warn(text: string): void
}

/** What a process knows of skills; each is loaded for one session, and what it allows holds in that session alone. */
export interface SessionSkills {
  list(): readonly SkillListing[]
  load(session: Session, name: string, args: string, caller?: 'model' | 'person'): Promise<LoadedSkill>
}

export function sessionSkills({ none, home, projectDir, trusted, warn }: Places): SessionSkills {
  if (none) return { list: () => [], load: async () => ({ ok: false, why: 'there are no skills in this session' }) }
  let found: readonly Skill[] | undefined
  const skills = () => {
    if (found) return found
    const { skills, warnings } = findSkills({ home, projectDir })
    for (const warning of warnings) warn(warning)
    found = skills
    return found
  }
  return {
    list: skills,
    async load(session, name, args, caller = 'person') {
      const skill = skills().find((each) => each.name === name)
      if (!skill) return { ok: false, why: `Unknown skill: ${name}` }
      if (caller === 'model' && !skill.forModel)
        return { ok: false, why: `Skill ${name} cannot be used with Skill tool due to disable-model-invocation` }
      const mayAct = trusted || skill.from !== 'project'
      const loaded = await renderSkill(skill, { args, sessionId: session.id }, doorsOf(session, skill, mayAct))
      if (!loaded.ok) return loaded
      const powers = mayAct ? { granted: skill.allowedTools, model: skill.model } : { granted: [] }
      // A sub-agent starts no other: there a forking skill is read like any other.
      if (skill.fork && !session.agent) return fork(session, skill, loaded.text, powers)
      if (powers.model) {
        const asked = { wanted: powers.model, by: `skill ${name}` }
        const model = await wantedModel(session.runtime, session.model, asked)
        if ('problem' in model) return { ok: false, why: model.problem }
        session.lendModel(model)
      }
      session.granted.push(...powers.granted)
      return loaded
    },
  }
}

interface Powers {
  readonly granted: readonly string[]
  readonly model?: string
}

/** `context: fork`: the skill's text is a sub-agent's task, and what the sub-agent answers is all that comes back. */
async function fork(session: Session, skill: Skill, prompt: string, powers: Powers): Promise<LoadedSkill> {
  const { runSubagent } = await import('../subagents/subagent.ts')
  const { content, isError } = await runSubagent(session, {
    description: skill.name,
    prompt,
    type: skill.agent ?? 'general-purpose',
    background: false,
    signal: session.signal,
    ...powers,
  })
  return isError ? { ok: false, why: content } : { ok: true, text: content, forked: true }
}

function doorsOf(session: Session, skill: Skill, mayAct: boolean): SkillDoors {
  return {
    async run(command) {
      if (!mayAct) return refused('this folder is not trusted; --trust, or yes to the question at start, allows it')
      return runEmbedded(session, command, skill)
    },
    async read(path) {
      const file = isAbsolute(path) ? path : resolve(session.cwd, path)
      if (!mayAct && leadsOut(session.projectDir, file))
        return refused(`${file} lies outside the project, and this folder is not trusted`)
      return call(session, 'Read', { file_path: file }, skill, mayAct)
    },
  }
}

const refused = (why: string): Outcome => ({ ok: false, why, ran: false })

async function runEmbedded(session: Session, command: string, skill: Skill): Promise<Outcome> {
  const shut = planningGate(session.db, session.conversationId, 'Bash')
  return shut === undefined ? call(session, 'Bash', { command }, skill) : refused(shut)
}

/** Hooks, then rules together with what the skill allows; whatever they would ask about is refused. */
async function call(
  session: Session,
  name: 'Bash' | 'Read',
  input: JsonObject,
  skill: Skill,
  mayAct = true,
): Promise<Outcome> {
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
  const settings = withGranted(permissions, mayAct ? skill.allowedTools : [])
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
  const { content, isError } = await tool.run(input, toolContext(session, id))
  return isError ? { ok: false, why: content, ran: true } : { ok: true, text: content }
}

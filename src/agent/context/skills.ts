/** Loads a skill into a session; the commands and files it embeds pass the same hooks and rules as a tool call. */
import { isAbsolute, resolve } from 'node:path'
import { leadsOut } from '../../files/leads-out.ts'
import type { JsonObject } from '../../hooks/shape.ts'
import type { Steps } from '../../hooks/steps.ts'
import { decide } from '../../permissions/decide.ts'
import { withGranted } from '../../permissions/rules/update.ts'
import { waitingCalls } from '../../store/approvals.ts'
import { addEvent } from '../../store/audit.ts'
import type { LoadedSkill } from '../../tools/host.ts'
import { type Outcome, renderSkill, type SkillDoors } from '../../tools/skills/skill-loader.ts'
import type { Skill } from '../../tools/skills/skills.ts'
import { planningGate } from '../../workflow/gate.ts'
import { requestedModel } from '../model/requested-model.ts'
import { questionOf } from '../permission-question.ts'
import type { Session } from '../session/session.ts'
import { toolContext } from '../tool-host.ts'

/** What the skill allows holds in this session alone. `toolUseId`: the model asks for it, with this call; else the user. */
export async function loadSkill(
  session: Session,
  name: string,
  args: string,
  toolUseId?: string,
): Promise<LoadedSkill> {
  const { skills, trusted } = session.runtime
  const skill = skills.get(name)
  if (!skill) return { ok: false, why: `Unknown skill: ${name}` }
  if (toolUseId !== undefined && !skill.forModel)
    return { ok: false, why: `Skill ${name} cannot be used with Skill tool due to disable-model-invocation` }
  // A project's skills run commands and bring rules only in a trusted folder.
  const mayAct = trusted || skill.from !== 'project'
  const powers = mayAct ? { granted: skill.allowedTools, model: skill.model } : { granted: [] }
  // A sub-agent starts no other: there a forking skill is loaded like any other.
  const forks = skill.fork && !session.agent
  const task = { ...powers, ...(toolUseId !== undefined && { toolUseId }) }
  // Its sub-agent waited for an approval and has its task: what the skill embeds is not run again.
  if (
    forks &&
    toolUseId !== undefined &&
    waitingCalls(session.db, session.id).some((each) => each.toolUseId === toolUseId)
  )
    return fork(session, skill, '', task)
  const loaded = await renderSkill(skill, { args, sessionId: session.id }, doorsOf(session, skill, mayAct))
  if (!loaded.ok) return loaded
  if (forks) return fork(session, skill, loaded.text, task)
  if (powers.model) {
    const asked = { wanted: powers.model, by: `skill ${name}` }
    const model = await requestedModel(session.runtime, session.model, asked)
    if ('problem' in model) return { ok: false, why: model.problem }
    session.lendModel(model)
  }
  session.granted.push(...powers.granted)
  return loaded
}

interface Powers {
  readonly granted: readonly string[]
  readonly model?: string
  readonly toolUseId?: string
}

/** `context: fork`: the skill's text is a sub-agent's task, and what the sub-agent answers is all that comes back. */
async function fork(session: Session, skill: Skill, prompt: string, powers: Powers): Promise<LoadedSkill> {
  const { content, isError, waits } = await session.services.runAgent(session, {
    description: skill.name,
    prompt,
    type: skill.agent ?? 'general-purpose',
    background: false,
    signal: session.signal,
    ...powers,
  })
  return isError ? { ok: false, why: content, ...(waits && { waits }) } : { ok: true, text: content, forked: true }
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
  const settings = withGranted(session.permissions, mayAct ? skill.allowedTools : [])
  const ruling = await decide({ ...questionOf(session), settings, tool: name, input, hook: answer.decision })
  if (ruling.decision !== 'allow') {
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

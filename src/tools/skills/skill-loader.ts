/** A skill ready for use: its text with what it embeds done under the rules. */
import { partsOf, type Skill } from './skills.ts'

/** What a skill's text asks for is done by the agent, through the same doors as any other call. */
export interface SkillDoors {
  /** Runs a command under the rules and under what the skill allows; its output, or why it was not run. */
  run(command: string): Promise<Outcome>
  /** Shows a file, where the rules allow reading it. */
  read(path: string): Promise<Outcome>
}

export type Outcome =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: string /** It ran, and failed. */; readonly ran: boolean }

/** One after the other, in the order of the text; the first command that is refused or fails ends it. */
export async function renderSkill(
  skill: Skill,
  call: { readonly args: string; readonly sessionId: string },
  doors: SkillDoors,
): Promise<{ ok: true; text: string } | { ok: false; why: string }> {
  const texts: string[] = []
  for (const part of partsOf(skill, call)) {
    if (part.kind === 'text') {
      texts.push(part.text)
      continue
    }
    const outcome = part.kind === 'command' ? await doors.run(part.command) : await doors.read(part.path)
    if (outcome.ok) texts.push(part.kind === 'command' ? outcome.text.trimEnd() : outcome.text)
    else if (part.kind === 'file')
      texts.push(part.source) // an @word that is no file we may read is just a word
    else {
      const what = outcome.ran ? 'Shell command failed' : 'Shell command permission check failed'
      return { ok: false, why: `${what} for pattern "${part.source}": ${outcome.why}` }
    }
  }
  const where = skill.path === '' ? '' : `The files of this skill are in ${skill.path.replace(/\/[^/]*$/, '')}.\n\n`
  return { ok: true, text: `${skill.kind === 'skill' ? where : ''}${texts.join('')}` }
}

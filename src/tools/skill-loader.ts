/** Skills ready for use: listed for the model and the person, and loaded with what they embed done under the rules. */
import type { Skills } from './host.ts'
import { findSkills, partsOf, type Skill } from './skills.ts'

/** What a skill's text asks for is done by the agent, through the same doors as any other call. */
export interface SkillDoors {
  /** Runs a command under the rules and under what the skill allows; its output, or why it was not run. */
  run(command: string, skill: Skill): Promise<Outcome>
  /** Shows a file, where the rules allow reading it. */
  read(path: string, skill: Skill): Promise<Outcome>
}

export type Outcome =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: string /** It ran, and failed. */; readonly ran: boolean }

export interface SkillPlaces {
  readonly home: string
  readonly projectDir: string
  readonly sessionId: string
}

export interface LoadedSkills extends Skills {
  find(name: string): Skill | undefined
  readonly warnings: readonly string[]
}

export function skillsIn(places: SkillPlaces, doors: SkillDoors): LoadedSkills {
  const { skills, warnings } = findSkills(places)
  const find = (name: string) => skills.find((skill) => skill.name === name)
  return {
    warnings,
    find,
    list: () => skills,
    async load(name, args, caller = 'person') {
      const skill = find(name)
      if (!skill) return { ok: false, why: `Unknown skill: ${name}` }
      if (caller === 'model' && !skill.forModel) {
        return { ok: false, why: `Skill ${name} cannot be used with Skill tool due to disable-model-invocation` }
      }
      return render(skill, { args, sessionId: places.sessionId }, doors)
    },
  }
}

/** One after the other, in the order of the text; the first command that is refused or fails ends it. */
async function render(skill: Skill, call: { args: string; sessionId: string }, doors: SkillDoors) {
  const texts: string[] = []
  for (const part of partsOf(skill, call)) {
    if (part.kind === 'text') {
      texts.push(part.text)
      continue
    }
    const outcome = part.kind === 'command' ? await doors.run(part.command, skill) : await doors.read(part.path, skill)
    if (outcome.ok) texts.push(part.kind === 'command' ? outcome.text.trimEnd() : outcome.text)
    else if (part.kind === 'file')
      texts.push(part.source) // an @word that is no file we may read is just a word
    else {
      const what = outcome.ran ? 'Shell command failed' : 'Shell command permission check failed'
      return { ok: false, why: `${what} for pattern "${part.source}": ${outcome.why}` } as const
    }
  }
  const where = skill.path === '' ? '' : `The files of this skill are in ${skill.path.replace(/\/[^/]*$/, '')}.\n\n`
  return { ok: true, text: `${skill.kind === 'skill' ? where : ''}${texts.join('')}` } as const
}

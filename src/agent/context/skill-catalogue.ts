/** The skills that a process found: read when first asked for, and shared by its sessions. */
import { findSkills, type Skill } from '../../tools/skills/skills.ts'

export interface SkillCatalogue {
  list(): readonly Skill[]
  get(name: string): Skill | undefined
}

interface Places {
  readonly home: string
  readonly projectDir: string
  warn(text: string): void
}

/** `--bare` and `--disable-slash-commands` want none. */
export const noSkills: SkillCatalogue = { list: () => [], get: () => undefined }

export function skillCatalogue({ home, projectDir, warn }: Places): SkillCatalogue {
  let found: readonly Skill[] | undefined
  const list = () => {
    if (found) return found
    const { skills, warnings } = findSkills({ home, projectDir })
    for (const warning of warnings) warn(warning)
    found = skills
    return found
  }
  return { list, get: (name) => list().find((skill) => skill.name === name) }
}

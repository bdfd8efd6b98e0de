/** The skills that a process found: read when first asked for, and shared by its sessions. */
import { findSkills, type PluginSkills, type Skill } from '../../tools/skills/skills.ts'

export interface SkillCatalogue {
  list(): readonly Skill[]
  get(name: string): Skill | undefined
}

interface Places {
  readonly home: string
  readonly projectDir: string
  /** Where to look: user, project. Everywhere by default. */
  readonly sources?: readonly string[]
  readonly plugins?: readonly PluginSkills[]
  /** The only ones to offer; also `name` of `plugin:name`. */
  readonly only?: readonly string[]
  warn(text: string): void
}

/** `--bare` and `--disable-slash-commands` want none. */
export const noSkills: SkillCatalogue = { list: () => [], get: () => undefined }

export function skillCatalogue({ home, projectDir, sources, plugins = [], only, warn }: Places): SkillCatalogue {
  let found: readonly Skill[] | undefined
  const list = () => {
    if (found) return found
    const { skills, warnings } = findSkills({ home, projectDir, plugins, ...(sources && { sources }) })
    for (const warning of warnings) warn(warning)
    found = only ? skills.filter(({ name }) => only.some((each) => name === each || name.endsWith(`:${each}`))) : skills
    return found
  }
  return { list, get: (name) => list().find((skill) => skill.name === name) }
}

/** Output styles: how the agent writes. Two are built in, others are Markdown files of the person or the project. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { leadsOut } from '../../files/leads-out.ts'
import { readPlainFile } from '../../files/plain-file.ts'
import { readFrontmatter } from '../../tools/skills/frontmatter.ts'
import type { Session } from '../session/session.ts'

const builtIn: Record<string, string> = {
  default: '',
  explanatory: `# Output style: explanatory
Beside the work, teach what it rests on. Before and after you change code, give one to three short insights about this code base or the choice just made: why it is done this way here, what else was possible, what would break. Put each under a line "Insight:". Leave out what any textbook says.`,
  learning: `# Output style: learning
The person wants to learn by doing. When a piece of 2 to 10 lines holds a real decision (logic, an interface, an error to handle), do not write it: leave a comment TODO(human) at that place, say what the piece must do and what to weigh, and wait for them to write it. Write all the rest yourself. Afterwards say in a sentence what their version does well or misses.`,
}

/** Where styles of one's own lie, the project's before the person's. */
const folders = (projectDir: string, home: string): string[] =>
  [projectDir, home].flatMap((root) => ['.ona', '.claude'].map((name) => join(root, name, 'output-styles')))

export function outputStyles(projectDir: string, home: string): string[] {
  const own = folders(projectDir, home)
    .flatMap(namesIn)
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -3))
  return [...new Set([...Object.keys(builtIn), ...own])]
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // most people have none
  }
}

const known = new WeakMap<Session, string>()

/** The section that the chosen style adds to the system prompt. Read once a session. */
export function styleSection(session: Session): string {
  const read = known.get(session)
  if (read !== undefined) return read
  const text = find(session.runtime.settings.outputStyle ?? 'default', session)
  known.set(session, text)
  return text
}

function find(name: string, session: Session): string {
  const lower = name.toLowerCase()
  if (Object.hasOwn(builtIn, lower)) return builtIn[lower]!
  const file = folders(session.projectDir, session.runtime.home)
    .map((folder) => join(folder, `${name}.md`))
    .find((path, index) => existsSync(path) && (index > 1 || !leadsOut(session.projectDir, path)))
  if (!file || /[/\\]/.test(name)) {
    session.emit({
      type: 'notice',
      level: 'warning',
      text: `there is no output style "${name}"; /output-style lists them`,
    })
    return ''
  }
  const style = readStyle(file)
  if (style.ok) return `# Output style: ${name}\n${style.body.trim()}`
  session.emit({ type: 'notice', level: 'warning', text: `${file}: ${style.why}; the style is not used` })
  return ''
}

function readStyle(file: string): ReturnType<typeof readFrontmatter> {
  try {
    return readFrontmatter(readPlainFile(file))
  } catch (cause) {
    return { ok: false, why: (cause as Error).message }
  }
}

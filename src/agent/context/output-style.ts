/** Output styles: how the agent writes. Three are built in; others are Markdown files of the user, the project or a plugin. */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { leadsOut } from '../../files/leads-out.ts'
import { readPlainFile } from '../../files/plain-file.ts'
import { readFrontmatter } from '../../tools/skills/frontmatter.ts'
import type { Runtime } from '../session/runtime.ts'
import type { Session } from '../session/session.ts'

const builtIn: Record<string, string> = {
  default: '',
  explanatory: `# Output style: explanatory
Beside the work, teach what it rests on. Before and after you change code, give one to three short insights about this code base or the choice just made: why it is done this way here, what else was possible, what would break. Put each under a line "Insight:". Leave out what any textbook says.`,
  learning: `# Output style: learning
The user wants to learn by doing. When a piece of 2 to 10 lines holds a real decision (logic, an interface, an error to handle), do not write it: leave a comment TODO(human) at that place, say what the piece must do and what to weigh, and wait for them to write it. Write all the rest yourself. Afterwards say in a sentence what their version does well or misses.`,
}

export type StylePlaces = Pick<Runtime, 'home' | 'env' | 'plugins'> & { readonly projectDir: string }

export const stylePlaces = ({ runtime, projectDir }: Pick<Session, 'runtime' | 'projectDir'>): StylePlaces => ({
  ...runtime,
  projectDir,
})

/** The text that a style adds to the system prompt. */
export interface Style {
  readonly section: string
  /** Whether our own advice on how to write code stays in the system prompt. */
  readonly keepsCoding: boolean
}

interface Found {
  /** As the setting names it: the name in the head of the file, or the file's. */
  readonly name: string
  readonly fileName: string
  readonly read: { readonly ok: true; readonly style: Style } | { readonly ok: false; readonly why: string }
}

export const outputStyles = (places: StylePlaces): string[] => [
  ...new Set([...Object.keys(builtIn), ...own(places).map(({ name }) => name)]),
]

const known = new WeakMap<Session, Style>()

/** The chosen style. Read once a session. */
export function styleOf(session: Session): Style {
  const read = known.get(session)
  if (read !== undefined) return read
  const style = chosen(session)
  known.set(session, style)
  return style
}

function chosen(session: Session): Style {
  const name = session.runtime.settings.outputStyle ?? 'default'
  const lower = name.toLowerCase()
  const ours = (section: string) => ({ section, keepsCoding: true })
  if (Object.hasOwn(builtIn, lower)) return ours(builtIn[lower]!)
  const warn = (text: string) => {
    session.emit({ type: 'notice', level: 'warning', text })
    return ours('')
  }
  const styles = own(stylePlaces(session))
  const found = styles.find((each) => each.name === name) ?? styles.find((each) => each.fileName === name)
  if (!found) return warn(`there is no output style "${name}"; /output-style lists them`)
  return found.read.ok ? found.read.style : warn(`${found.read.why}; the style is not used`)
}

/** The project's before the user's, then those of plugins as `plugin:style`. */
function own({ projectDir, home, env, plugins = [] }: StylePlaces): Found[] {
  const claude = env['CLAUDE_CONFIG_DIR'] || join(home, '.claude')
  const folders = [
    ...[join(projectDir, '.ona'), join(projectDir, '.claude')].map((at) => ({ root: projectDir, at })),
    ...[join(home, '.ona'), claude].map((at) => ({ root: undefined, at })),
  ]
  return [
    ...folders.flatMap(({ root, at }) => filesIn(join(at, 'output-styles')).map((file) => readStyle(file, root, ''))),
    ...plugins.flatMap(({ name, root, outputStyles: paths }) =>
      paths.flatMap((path) =>
        (path.endsWith('.md') ? [path] : filesIn(path)).map((file) => readStyle(file, root, `${name}:`)),
      ),
    ),
  ]
}

function filesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.md'))
    return names.sort().map((name) => join(folder, name))
  } catch {
    return [] // most people have none
  }
}

/** `root`: the folder that a link must not lead out of. */
function readStyle(file: string, root: string | undefined, prefix: string): Found {
  const fileName = `${prefix}${basename(file, '.md')}`
  const bad = (why: string): Found => ({ name: fileName, fileName, read: { ok: false, why: `${file}: ${why}` } })
  if (root !== undefined && leadsOut(root, file)) return bad('is a link that leads out of its folder')
  let text: string
  try {
    text = readPlainFile(file, 1 << 20)
  } catch (cause) {
    return bad((cause as Error).message)
  }
  const read = readFrontmatter(text)
  if (!read.ok) return bad(read.why)
  const { name: given, 'keep-coding-instructions': keep } = read.fields
  const name = typeof given === 'string' && given.trim() !== '' ? `${prefix}${given.trim()}` : fileName
  const section = `# Output style: ${name}\n${read.body.trim()}`
  return { name, fileName, read: { ok: true, style: { section, keepsCoding: String(keep) === 'true' } } }
}

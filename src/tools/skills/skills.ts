/**
 * Skills and commands: instructions in Markdown that the user calls as `/name` and the model with the Skill tool.
 *
 * They lie in `.ona/` and `.claude/`, of the home and of the project: `skills/NAME/SKILL.md` and `commands/**.md`.
 * What a text embeds (commands, files) is not run or read here: it is handed back in parts, for the caller to do
 * under the rules.
 */
import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { leadsOut } from '../../files/leads-out.ts'
import { readPlainFile, statOf } from '../../files/plain-file.ts'
import { readFrontmatter } from './frontmatter.ts'

export interface Skill {
  readonly name: string
  readonly description: string
  readonly kind: 'skill' | 'command'
  readonly from: 'built-in' | 'user' | 'project'
  /** The file; empty for a built-in one. */
  readonly path: string
  /** The plugin it belongs to: `${CLAUDE_PLUGIN_ROOT}` in its text. */
  readonly pluginRoot?: string
  readonly body: string
  readonly argumentHint?: string
  /** Rules allowed while it is in force. */
  readonly allowedTools: readonly string[]
  readonly model?: string
  /** Runs in a sub-agent, of this type when one is named. */
  readonly fork: boolean
  readonly agent?: string
  /** The Skill tool may load it, and the model sees it. */
  readonly forModel: boolean
  /** The user may call it by a slash. */
  readonly forUser: boolean
}

export interface FoundSkills {
  /** By name; the first of a name wins. */
  readonly skills: readonly Skill[]
  /** What could not be read, as messages. */
  readonly warnings: readonly string[]
}

interface SkillPlaces {
  readonly home: string
  readonly projectDir: string
  /** Of user and project; both by default. */
  readonly sources?: readonly string[]
  readonly plugins?: readonly PluginSkills[]
}

/** Their skills are named `plugin:skill`. Files or folders. */
export interface PluginSkills {
  readonly name: string
  readonly root: string
  readonly commands: readonly string[]
  readonly skills: readonly string[]
}

const sizeLimit = 1_048_576
const descriptionLimit = 250

/** Home before project, `.ona` before `.claude`, skills before commands; built-in ones last. */
export function findSkills({ home, projectDir, sources, plugins = [] }: SkillPlaces): FoundSkills {
  const found = new Map<string, Skill>()
  const warnings: string[] = []
  const places = [
    { root: home, from: 'user' as const },
    ...(projectDir === home ? [] : [{ root: projectDir, from: 'project' as const }]),
  ].filter(({ from }) => sources === undefined || sources.includes(from))
  for (const { root, from } of places) {
    for (const kind of ['skill', 'command'] as const) {
      for (const folder of ['.ona', '.claude']) {
        for (const file of filesOf(kind, join(root, folder))) {
          const skill =
            from === 'project' && leadsOut(root, file.path)
              ? `${file.path} is a link that leads out of the project; it is left out`
              : readSkill(file, kind, from)
          if (typeof skill === 'string') warnings.push(skill)
          else if (!found.has(skill.name)) found.set(skill.name, skill)
        }
      }
    }
  }
  for (const plugin of plugins)
    for (const kind of ['skill', 'command'] as const)
      for (const file of filesOfPlugin(plugin, kind)) {
        const skill = leadsOut(plugin.root, file.path)
          ? `${file.path} is a link that leads out of the plugin; it is left out`
          : readSkill(file, kind, 'user')
        if (typeof skill === 'string') {
          warnings.push(skill)
          continue
        }
        const name = `${plugin.name}:${file.name === '' ? skill.name : file.name}`
        if (!found.has(name)) found.set(name, { ...skill, name, pluginRoot: plugin.root })
      }
  for (const skill of builtIn) if (!found.has(skill.name)) found.set(skill.name, skill)
  return { skills: [...found.values()], warnings }
}

interface SkillFile {
  readonly name: string
  readonly path: string
}

function filesOf(kind: 'skill' | 'command', folder: string): SkillFile[] {
  return kind === 'command' ? commandFiles(join(folder, 'commands')) : skillFiles(join(folder, 'skills'))
}

const skillFiles = (folder: string): SkillFile[] =>
  namesIn(folder)
    .map((name) => ({ name, path: join(folder, name, 'SKILL.md') }))
    .filter(({ path }) => statOf(path)?.isFile())

/** A path is a file, a folder of them, or the folder of one skill. The only skill at a plugin's root is named by its head. */
function filesOfPlugin(plugin: PluginSkills, kind: 'skill' | 'command'): SkillFile[] {
  return (kind === 'command' ? plugin.commands : plugin.skills).flatMap((path) => {
    if (statOf(path)?.isDirectory()) {
      if (kind === 'command') return commandFiles(path)
      const own = join(path, 'SKILL.md')
      return statOf(own)?.isFile() ? [{ name: basename(path), path: own }] : skillFiles(path)
    }
    if (kind === 'command') return [{ name: basename(path, '.md'), path }]
    return [{ name: dirname(path) === plugin.root ? '' : basename(dirname(path)), path }]
  })
}

/** `commands/git/fix.md` is `git:fix`. Not deeper than five folders, so that a link in a circle ends. */
function commandFiles(folder: string, prefix = '', depth = 0): SkillFile[] {
  return namesIn(folder).flatMap((name) => {
    const path = join(folder, name)
    const stats = statOf(path)
    if (stats?.isDirectory()) return depth < 5 ? commandFiles(path, `${prefix}${name}:`, depth + 1) : []
    return stats?.isFile() && name.endsWith('.md') ? [{ name: `${prefix}${basename(name, '.md')}`, path }] : []
  })
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return [] // most people have none
  }
}

function readSkill(file: SkillFile, kind: Skill['kind'], from: Skill['from']): Skill | string {
  let text: string
  try {
    text = readPlainFile(file.path, sizeLimit)
  } catch (error) {
    return `${file.path} could not be read: ${error instanceof Error ? error.message : error}`
  }
  const read = readFrontmatter(text)
  return read.ok ? skillOf(file, kind, from, read.fields, read.body) : `${file.path} was left out: ${read.why}`
}

function skillOf(
  { name, path }: SkillFile,
  kind: Skill['kind'],
  from: Skill['from'],
  head: Record<string, unknown>,
  body: string,
): Skill | string {
  const named = kind === 'skill' && typeof head['name'] === 'string' ? head['name'] : name || basename(dirname(path))
  if (!/^[\p{L}\p{N}][\p{L}\p{N}:._-]{0,63}$/u.test(named)) {
    return `${path} was left out: its name ${JSON.stringify(named)} is not one of letters, digits and hyphens, at most 64`
  }
  const text = (key: string) => (typeof head[key] === 'string' && head[key] !== '' ? (head[key] as string) : undefined)
  const isOn = (key: string, otherwise: boolean) => (head[key] === undefined ? otherwise : String(head[key]) === 'true')
  return {
    name: named,
    description: (text('description') ?? firstParagraph(body)).slice(0, descriptionLimit),
    kind,
    from,
    path,
    body: body.trim(),
    ...(text('argument-hint') && { argumentHint: text('argument-hint') }),
    allowedTools: ruleList(head['allowed-tools']),
    ...(text('model') && { model: text('model') }),
    fork: head['context'] === 'fork',
    ...(text('agent') && { agent: text('agent') }),
    forModel: !isOn('disable-model-invocation', false),
    forUser: isOn('user-invocable', true),
  }
}

/** `Read, Bash(git add:*)`, by commas or blanks, as one line or as a list; blanks and commas in brackets stay. */
function ruleList(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String)
  return typeof value === 'string' ? (value.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? []) : []
}

const firstParagraph = (body: string) =>
  (body.split(/\n\s*\n/).find((part) => part.trim() !== '' && !part.trim().startsWith('#')) ?? '')
    .replace(/\s+/g, ' ')
    .trim()

/** A skill's text in parts: plain text, and what has to be run or read first. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  /** `source` is what stood there, for messages. */
  | { readonly kind: 'command'; readonly command: string; readonly source: string }
  | { readonly kind: 'file'; readonly path: string; readonly source: string }

export interface SkillCall {
  readonly args: string
  readonly sessionId: string
}

/**
 * The skill with its arguments filled in. Arguments are put into the text after its commands are found, so that an
 * argument cannot bring a command of its own; inside a command they are quoted for the shell.
 */
export function partsOf(skill: Skill, { args, sessionId }: SkillCall): Part[] {
  const words = shellWords(args)
  const firstPlace = /\$0\b/.test(skill.body) ? 0 : 1
  const folder = dirname(skill.path)
  const given = { args, words, sessionId, folder, pluginRoot: skill.pluginRoot, firstPlace } as const
  const parts: Part[] = []
  let at = 0
  let uses = false
  const text = (end: number) => {
    const filled = fill(skill.body.slice(at, end), given, (word) => word)
    uses ||= filled.used
    if (filled.text !== '') parts.push({ kind: 'text', text: filled.text })
  }
  for (const match of skill.body.matchAll(embedded)) {
    text(match.index)
    at = match.index + match[0].length
    const { block, inline, file, before = '' } = match.groups as Record<string, string | undefined>
    if (before !== '') parts.push({ kind: 'text', text: before })
    if (file !== undefined) {
      const named = fill(file, given, (word) => word)
      uses ||= named.used
      parts.push({ kind: 'file', path: named.text, source: `@${file}` })
      continue
    }
    const command = fill((block ?? inline)!.trim(), given, quoted)
    uses ||= command.used
    parts.push({ kind: 'command', command: command.text, source: match[0].trim() })
  }
  text(skill.body.length)
  if (!uses && args.trim() !== '') parts.push({ kind: 'text', text: `\n\nARGUMENTS: ${args}` })
  return parts
}

/** A block ```! … ```, a command !`…` at the start of a line or after a blank, or a file @path. */
const embedded =
  /^```!\s*\n(?<block>[\s\S]*?)\n```[ \t]*$|(?<before>^|(?<=\s))(?:!`(?<inline>[^`\n]+)`|@(?<file>(?:~\/|\.{0,2}\/)?[\w$][\w$./-]*[\w$]))/gm

interface Given {
  readonly args: string
  readonly words: readonly string[]
  readonly sessionId: string
  readonly folder: string
  readonly pluginRoot: string | undefined
  /** Both ways of counting are in use: from $0 where the text has one, otherwise from $1 as in a shell. */
  readonly firstPlace: 0 | 1
}

function fill(text: string, given: Given, quote: (word: string) => string): { text: string; used: boolean } {
  let used = false
  const filled = text.replace(
    /\$ARGUMENTS\[(\d+)\]|\$ARGUMENTS\b|\$(\d+)\b|\$\{(?:CLAUDE|ONA)_(SESSION_ID|SKILL_DIR|PLUGIN_ROOT)\}/g,
    (whole, indexed?: string, place?: string, variable?: string) => {
      if (variable === 'PLUGIN_ROOT') return given.pluginRoot === undefined ? whole : quote(given.pluginRoot)
      if (variable) return variable === 'SESSION_ID' ? given.sessionId : quote(given.folder)
      used = true
      if (indexed !== undefined) return quote(given.words[Number(indexed)] ?? '')
      if (place !== undefined) return quote(given.words[Number(place) - given.firstPlace] ?? '')
      return whole === '$ARGUMENTS' && quote === quoted ? given.words.map(quote).join(' ') : given.args
    },
  )
  return { text: filled, used }
}

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`

/** Words as a shell would cut them: blanks part, quotes and backslashes join. */
export function shellWords(text: string): string[] {
  const words: string[] = []
  for (const match of text.matchAll(/(?:[^\s"'\\]|\\[\s\S]|"(?:[^"\\]|\\[\s\S])*"?|'[^']*'?|\\$)+/g)) {
    words.push(
      match[0].replace(
        /\\([\s\S])|"((?:[^"\\]|\\[\s\S])*)"?|'([^']*)'?/g,
        (_, escaped?: string, double?: string, single?: string) =>
          escaped ?? double?.replace(/\\([\s\S])/g, '$1') ?? single ?? '',
      ),
    )
  }
  return words
}

const builtIn: readonly Skill[] = [
  {
    name: 'help',
    description: 'What ona is, what it can do here, and how to use it',
    kind: 'skill',
    from: 'built-in',
    path: '',
    body: `Answer the user's question about ona in a few lines. Facts:

- ona is a coding agent in the terminal. Every tool call passes hooks and permission rules, and is a row in one SQLite file.
- \`/help\` lists the slash commands; \`/model\` changes the model; \`/permissions\` shows and edits the rules; \`/config\` the settings.
- Shift+Tab changes the mode: default, accept edits, plan. In plan mode nothing is changed until a plan is approved.
- Settings: \`~/.ona/settings.json\`, \`.ona/settings.json\`, \`.ona/settings.local.json\`. Instructions: \`ONA.md\`, \`CLAUDE.md\`, \`AGENTS.md\`.
- Skills: \`.ona/skills/NAME/SKILL.md\`; commands: \`.ona/commands/NAME.md\`; both in the project or the home.
- On the command line: \`ona -p "…"\` answers once, \`ona --eval '{"tool":…,"input":…}'\` runs one tool, \`ona hooks\`, \`ona mcp\`, \`ona doctor\`; each has \`--help\`.

Their question: $ARGUMENTS`,
    allowedTools: [],
    fork: false,
    forModel: true,
    forUser: true,
  },
]

/** What a tool is, what it is given, and what it answers. */
import { type Infer, isObject, type JsonObject, parse, type record, say } from '../hooks/shape.ts'
import type { Safety } from '../hooks/steps.ts'
import type { Place } from '../sandbox/place.ts'
import type { Db } from '../store/open.ts'
import type { WaitingShell } from './bash/waiting-shell.ts'
import type { ToolHost } from './host.ts'
import type { ToolOutput } from './output.ts'
import { absolute } from './paths.ts'

export interface Tool {
  readonly name: string
  /** What the model reads about it. */
  readonly prompt: string
  readonly input: ReturnType<typeof record>
  readonly safety: Safety | ((input: JsonObject) => Safety)
  /** Input fields that are paths: made absolute at the door, so that hooks and rules see whole paths. */
  readonly paths?: readonly string[]
  /** Given to the agent by the program's own code: where no rule covers it, it is allowed without a prompt. */
  readonly granted?: true
  /** Its definition is not the one that was allowed earlier: rules that allow it do not cover it until it is accepted. */
  readonly changed?: { readonly why: string; readonly remedy: string; accept(): void }
  /** Calls of it that follow one another in a reply run side by side; hooks and the record still take them in order. */
  readonly sideBySide?: true
  /** One line for the screen: `src/cli/main.ts`, `npm test`. */
  summary(input: JsonObject): string
  run(input: JsonObject, context: ToolContext): Promise<ToolOutput>
}

export interface ToolContext {
  readonly sessionId: string
  readonly conversationId: string
  readonly toolUseId: string
  readonly db: Db
  /** Where relative paths start; Bash may move it, within the working directories. */
  readonly cwd: string
  readonly projectDir: string
  /**
   * The file that the rules judged, with every symlink resolved (`realTarget`). A file tool touches this one and
   * no other, so that a link swapped between the ruling and the act is refused. Without it the tool resolves itself.
   */
  readonly judgedPath?: string
  /** Bash: whether the command runs in the sandbox. Without it, none is enabled. */
  readonly place?: Place
  /** Bash: the shell that waits for this command. */
  readonly shell?: WaitingShell
  /** Before a command without a sandbox starts; the function that it gives tells what became of protected files. */
  readonly watchProtected?: () => Promise<() => Promise<readonly string[]>>
  readonly home: string
  readonly signal: AbortSignal
  /** The environment for children: the user's own PATH, none of our secrets. */
  readonly env: NodeJS.ProcessEnv
  /** Shell text that goes before a Bash command: variables that hooks have set. */
  prelude?(): string
  /** The agent's side of what tools do together with it. */
  readonly host: ToolHost
  /** Shows progress while the tool runs. */
  progress(text: string): void
}

/** Types a tool's `run` and `summary` by its input shape. */
export function defineTool<S extends ReturnType<typeof record>>(tool: {
  name: string
  prompt: string
  input: S
  safety: Safety | ((input: Infer<S>) => Safety)
  paths?: readonly (keyof Infer<S> & string)[]
  sideBySide?: true
  summary(input: Infer<S>): string
  run(input: Infer<S>, context: ToolContext): Promise<ToolOutput>
}): Tool {
  return tool as unknown as Tool
}

/** The input as the tool's own, or what is wrong with it, for the model. */
export function readInput(
  tool: Tool,
  input: unknown,
  cwd?: string,
): { ok: true; input: JsonObject } | { ok: false; why: string } {
  const given = parse(tool.input, input)
  const parsed = given.ok ? given : parse(tool.input, coerced(tool, input))
  if (!parsed.ok) {
    const problem = missing(tool, input) ?? say(parsed.problem)
    return { ok: false, why: `${tool.name}: the input does not fit: ${problem}` }
  }
  const value: JsonObject = { ...(parsed.value as JsonObject) }
  for (const field of tool.paths ?? []) {
    const path = value[field]
    if (typeof path !== 'string') continue
    if (path.includes('\0'))
      return { ok: false, why: `${tool.name}: ${field} holds a NUL character; give a plain path` }
    if (cwd !== undefined) value[field] = absolute(cwd, path)
  }
  return { ok: true, input: value }
}

/** All that is missing at once, so that the next try has it all. */
function missing(tool: Tool, input: unknown): string | undefined {
  if (!isObject(input)) return undefined
  const names = Object.entries(tool.input.fields).flatMap(([name, field]) =>
    field.optional || input[name] !== undefined ? [] : [name],
  )
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)} are missing` : undefined
}

/** Models now and then quote what is not text: `"limit": "10"`. Only a value of the wrong kind is touched. */
function coerced(tool: Tool, input: unknown): unknown {
  if (!isObject(input)) return input
  const entries = Object.entries(input).map(([key, value]) => {
    if (typeof value !== 'string' || !Object.hasOwn(tool.input.fields, key)) return [key, value]
    const { type } = tool.input.fields[key]!.schema()
    if (type === undefined || type === 'string') return [key, value]
    try {
      return [key, JSON.parse(value)]
    } catch {
      return [key, value] // not JSON either: the shape says what is wrong with it
    }
  })
  return Object.fromEntries(entries)
}

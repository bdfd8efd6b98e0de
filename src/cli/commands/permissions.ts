/** `ona permissions test`: explains what the rules would say of a call, without making it. */
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { PermissionMode } from '../../hooks/plane.ts'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { rulesOf } from '../../permissions/compile.ts'
import { decide, type PermissionQuestion, type PermissionSettings } from '../../permissions/decide.ts'
import { modes } from '../../permissions/modes.ts'
import { ruleProblem, ruleText } from '../../permissions/rule.ts'

export async function run(words: string[]): Promise<number> {
  const [verb, ...rest] = words
  if (verb === undefined || verb === '--help' || verb === '-h' || rest.includes('--help') || rest.includes('-h')) {
    process.stdout.write(help)
    return 0
  }
  if (verb !== 'test') return wrong(`"${verb}" is not known; it has one verb, test`)
  const asked = await readQuestion(rest)
  if (typeof asked === 'string') return wrong(asked)
  const { question, warnings, json } = asked
  const ruling = await decide(question)
  const commands = await commandsOf(question)
  if (json) process.stdout.write(`${JSON.stringify({ ...ruling, ...commands, warnings })}\n`)
  else process.stdout.write(explained(question, { ...ruling, ...commands, warnings }))
  return 0
}

interface Asked {
  readonly question: PermissionQuestion
  readonly warnings: readonly string[]
  readonly json: boolean
}

async function readQuestion(words: string[]): Promise<Asked | string> {
  let parsed: ReturnType<typeof parseWords>
  try {
    parsed = parseWords(words)
  } catch (error) {
    return (error as Error).message // parseArgs says which word
  }
  const { values, positionals } = parsed
  const { tool, input = '{}', mode } = values
  if (!tool) return 'name the tool, as in --tool Bash'
  const parsedInput = parseInput(input)
  if (!parsedInput) return `--input is not a JSON object: ${input}`
  if (mode !== undefined && !modes.includes(mode as PermissionMode)) return `--mode must be one of ${modes.join(', ')}`
  const cwd = resolve(values.cwd ?? '.')
  const own = { allow: [...positionals, ...(values.allow ?? [])], deny: values.deny ?? [], ask: values.ask ?? [] }
  const named = Object.values(own).some((rules) => rules.length > 0)
  const settings: PermissionSettings = named ? own : await settingsIn(cwd)
  const warnings = named ? rulesOf(own).warnings : []
  const question: PermissionQuestion = {
    settings,
    mode: (mode as PermissionMode | undefined) ?? settings.defaultMode ?? 'default',
    tool,
    input: parsedInput,
    hook: 'none',
    cwd,
    projectDir: cwd,
    home: homedir(),
  }
  return { question, warnings, json: values.json === true }
}

const parseWords = (args: string[]) =>
  parseArgs({
    args,
    allowPositionals: true,
    options: {
      tool: { type: 'string' },
      input: { type: 'string' },
      mode: { type: 'string' },
      cwd: { type: 'string' },
      allow: { type: 'string', multiple: true },
      deny: { type: 'string', multiple: true },
      ask: { type: 'string', multiple: true },
      json: { type: 'boolean' },
    },
  })

function parseInput(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Those that would hold in the folder. */
async function settingsIn(cwd: string): Promise<PermissionSettings> {
  const { dbPath, openDb } = await import('../../store/open.ts')
  const { loadSettings } = await import('../../store/settings.ts')
  const db = openDb(dbPath())
  try {
    const loaded = loadSettings({ db, cwd, home: homedir(), env: process.env, checkRule: ruleProblem })
    return (loaded.settings.permissions ?? {}) as PermissionSettings
  } finally {
    db.close()
  }
}

/** What was seen in a command line. */
async function commandsOf({ tool, input }: PermissionQuestion): Promise<{ commands?: string[]; unknown?: string }> {
  if (tool !== 'Bash' || typeof input.command !== 'string') return {}
  const { readShell } = await import('../../permissions/shell.ts')
  const { commands, unknown } = readShell(input.command)
  const texts = commands.map(({ words }) => words.map((word) => word.text).join(' ')).filter((text) => text !== '')
  return { commands: texts, ...(unknown !== undefined && { unknown }) }
}

type Explained = Awaited<ReturnType<typeof decide>> & {
  commands?: string[]
  unknown?: string
  warnings: readonly string[]
}

function explained(question: PermissionQuestion, told: Explained): string {
  const colour = process.stdout.isTTY && !process.env['NO_COLOR']
  const paint = { allow: 32, ask: 33, deny: 31 }[told.decision]
  const word = colour ? `\u001b[${paint}m${told.decision}\u001b[0m` : told.decision
  const lines = [`${word}: ${told.reason}`]
  if (told.rule) lines.push(`  rule      ${told.rule}`)
  lines.push(`  mode      ${question.mode}`)
  for (const [at, command] of (told.commands ?? []).entries())
    lines.push(`  ${at ? '        ' : 'commands'}  ${command}`)
  if (told.unknown) lines.push(`  unknown   ${told.unknown}`)
  for (const [at, path] of (told.paths ?? []).entries()) lines.push(`  ${at ? '          ' : 'judged    '}${path}`)
  for (const update of told.suggestions) {
    if ('rules' in update) for (const rule of update.rules) lines.push(`  to allow  ${ruleText(rule)}`)
    if (update.type === 'setMode') lines.push(`  to allow  ${update.mode} mode`)
  }
  for (const warning of told.warnings) lines.push(`  warning   ${warning}`)
  return `${lines.join('\n')}\n`
}

function wrong(why: string): number {
  process.stderr.write(`ona permissions: ${why}; ona permissions --help shows how\n`)
  return 2
}

const help = `ona permissions test tells what the rules say of a call, and why. Nothing is run.

  ona permissions test 'Bash(git *)' --tool Bash --input '{"command":"git status"}'
  ona permissions test --deny 'Read(.env)' --allow Read --tool Read --input '{"file_path":".env"}'
  ona permissions test --tool Write --input '{"file_path":"a.txt"}' --mode acceptEdits

Rules given as words or with --allow, --deny and --ask are the only ones; without any, those of this folder count.

  --tool NAME      the tool, as in rules: Bash, Read, mcp__server__tool
  --input JSON     its input
  --mode MODE      default, acceptEdits, plan, dontAsk or bypassPermissions
  --cwd DIR        where the call would be made
  --json           one line: decision, reason, rule, suggestions, commands, paths, warnings
`

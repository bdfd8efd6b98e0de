/** `ona permissions test`: explains what the rules would say of a call, without making it. */
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { readJson } from '../../hooks/text/json-text.ts'
import { notKnown } from '../../hooks/text/nearest.ts'
import { decide } from '../../permissions/decide.ts'
import { modes } from '../../permissions/modes.ts'
import type { PermissionQuestion, PermissionSettings } from '../../permissions/question.ts'
import { isBuiltinRule } from '../../permissions/rules/builtin-rules.ts'
import { canonicalTool, ruleText } from '../../permissions/rules/rule.ts'
import { rulesOf } from '../../permissions/rules/rules.ts'
import { builtInTool, builtInTools } from '../../tools/all.ts'
import { readInput } from '../../tools/tool.ts'
import { command, family } from '../command.ts'
import { paint, said, saidJson, wrong } from '../print.ts'
import type { Verb } from '../verbs.ts'

const help = `ona permissions test shows how the rules decide a call, and why. Nothing is run.

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

const flags = {
  tool: 'value',
  input: 'value',
  mode: { kind: 'value', oneOf: modes },
  cwd: 'value',
  allow: 'each',
  deny: 'each',
  ask: 'each',
  json: 'flag',
} as const

const explain = command(
  'ona permissions test',
  { help, flags, words: Number.POSITIVE_INFINITY },
  async ({ tool: name, input = '{}', mode, json, ...given }, words) => {
    const wrongly = (why: string) => wrong('ona permissions test', why)
    if (!name) return wrongly('name the tool, as in --tool Bash')
    const tool = canonicalTool(name)
    const read = readJson(input)
    if (!read.ok || !isObject(read.value)) return wrongly(`--input is not a JSON object: ${input}`)
    const fault = inputFault(tool, read.value)
    if (fault) return wrongly(fault)
    const cwd = resolve(given.cwd ?? '.')
    const own = { allow: [...words, ...(given.allow ?? [])], deny: given.deny ?? [], ask: given.ask ?? [] }
    const named = Object.values(own).some((rules) => rules.length > 0)
    const settings: PermissionSettings = named ? own : await folderRules(cwd)
    const question: PermissionQuestion = {
      settings,
      mode: mode ?? settings.defaultMode ?? 'default',
      tool,
      input: read.value,
      hook: 'none',
      cwd,
      projectDir: cwd,
      home: homedir(),
    }
    const ruling = await decide(question)
    const explanation = { ...ruling, ...(await commandsOf(question)), warnings: named ? rulesOf(own).warnings : [] }
    return json ? saidJson(explanation) : said(explained(question, explanation))
  },
)

export const run = family<Verb<'permissions'>>('ona permissions', help, { test: explain })

/** A call that the tool itself would reject cannot be judged: what is missing is what the rules look at. */
function inputFault(name: string, input: JsonObject): string | undefined {
  const tool = builtInTool(name)
  if (!tool && !name.startsWith('mcp__'))
    return `--tool ${notKnown(
      name,
      builtInTools.map((each) => each.name),
    )}`
  const read = tool && readInput(tool, input)
  return read && !read.ok ? `--input: ${read.why}` : undefined
}

/** The rules in force in the folder. */
async function folderRules(cwd: string): Promise<PermissionSettings> {
  const { settingsHere } = await import('../../agent/session/folder-settings.ts')
  return (settingsHere({ cwd }).settings.permissions ?? {}) as PermissionSettings
}

/** What was seen in a command line. */
async function commandsOf({ tool, input }: PermissionQuestion): Promise<{ commands?: string[]; unknown?: string }> {
  if (tool !== 'Bash' || typeof input.command !== 'string') return {}
  const { readShell } = await import('../../permissions/shell/parse/read.ts')
  const { commands, unknown } = readShell(input.command)
  const texts = commands.map(({ words }) => words.map((word) => word.text).join(' ')).filter((text) => text !== '')
  return { commands: texts, ...(unknown !== undefined && { unknown }) }
}

type Explained = Awaited<ReturnType<typeof decide>> & {
  commands?: string[]
  unknown?: string
  warnings: readonly string[]
}

function explained(question: PermissionQuestion, explanation: Explained): string {
  const colour = ({ allow: 'green', ask: 'yellow', deny: 'red' } as const)[explanation.decision]
  const lines = [`${paint(colour, explanation.decision)}: ${explanation.reason}`]
  if (explanation.rule)
    lines.push(`  rule      ${explanation.rule}${isBuiltinRule(explanation.rule) ? ' (built-in)' : ''}`)
  lines.push(`  mode      ${question.mode}`)
  for (const [at, command] of (explanation.commands ?? []).entries())
    lines.push(`  ${at ? '        ' : 'commands'}  ${command}`)
  if (explanation.unknown) lines.push(`  unknown   ${explanation.unknown}`)
  for (const [at, path] of (explanation.paths ?? []).entries())
    lines.push(`  ${at ? '          ' : 'judged    '}${path}`)
  for (const update of explanation.suggestions) {
    if ('rules' in update) for (const rule of update.rules) lines.push(`  to allow  ${ruleText(rule)}`)
    if (update.type === 'setMode') lines.push(`  to allow  ${update.mode} mode`)
  }
  for (const warning of explanation.warnings) lines.push(`  warning   ${warning}`)
  return `${lines.join('\n')}\n`
}

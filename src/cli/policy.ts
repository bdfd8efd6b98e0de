/** The policy that a command asks about: the settings in force or a file's, with more rules and hooks. */
import { homedir } from 'node:os'
import { dirname, resolve } from 'node:path'
import { protectedBy } from '../agent/permission-question.ts'
import { settingsHere } from '../agent/session/folder-settings.ts'
import type { Policy } from '../audit/replay/judge-call.ts'
import { withOwnPath } from '../auth/child-env.ts'
import { sayHookProblem } from '../hooks/settings.ts'
import { isObject, type JsonObject } from '../hooks/shape.ts'
import type { PermissionSettings } from '../permissions/question.ts'
import { type Behavior, readRule } from '../permissions/rules/rule.ts'
import { dbPath } from '../store/open.ts'
import { hooksOf } from '../store/settings/settings.ts'
import { isTrusted } from '../store/settings/trust.ts'
import { knownTool } from '../tools/known-tool.ts'
import { warned } from './print.ts'

/** Rules by what they say. */
export type Rules = Record<Behavior, string[]>

/** `--rule deny:Bash(rm *)`, as typed. */
export function readRules(texts: readonly string[]): Rules | { why: string } {
  const rules: Rules = { allow: [], ask: [], deny: [] }
  for (const text of texts) {
    const [, word, rule] = /^(allow|ask|deny):(.*)$/s.exec(text) ?? []
    if (word === undefined)
      return { why: `--rule ${text}: write allow:, ask: or deny: before the rule, as in deny:Bash(rm *)` }
    const read = readRule(rule, word as Behavior)
    if (!read.ok) return { why: `--rule ${text}: ${read.why}` }
    if (read.warning) warned(`--rule ${text}: ${read.warning}`)
    rules[word as Behavior].push(rule!)
  }
  return rules
}

/** What names a policy on the command line. */
export interface PolicyFlags {
  readonly settings?: string
  readonly hook?: readonly string[]
  readonly mode?: Policy['mode']
  readonly cwd?: string
  readonly 'run-commands'?: true
  /** The function hooks of `settings` may run although its folder is not trusted. */
  readonly trust?: true
}

/** The settings are read and not imported, so that asking changes nothing. */
export async function policyOf(given: PolicyFlags, rules: Rules): Promise<Policy | { why: string }> {
  const { settings: file, hook: files = [], cwd } = given
  const loaded = settingsHere({
    cwd: resolve(cwd ?? '.'),
    lookOnly: true,
    ...(file !== undefined && { flags: { settings: resolve(file), bare: true } }),
  })
  const code = file === undefined || given.trust ? 0 : untrustedCode(resolve(file), loaded.settings.hooks)
  if (code > 0)
    return {
      why: `${file} names ${code} function hook${code > 1 ? 's' : ''}, which would run here, and its folder is not trusted; read them, then add --trust`,
    }
  const hooks = hooksOf(loaded)
  const faults = [
    ...loaded.problems.map((problem) => `${problem.file}: ${problem.why}`),
    ...hooks.problems.filter(({ level }) => level === 'error').map(sayHookProblem),
  ]
  if (faults.length > 0) return { why: faults.join('\n') }
  for (const warning of [...loaded.warnings, ...hooks.problems.map(sayHookProblem)]) warned(warning)
  const handlers = [...hooks.handlers]
  for (const each of files) {
    const { hooksOfFile } = await import('../store/settings/hook-file.ts')
    const read = hooksOfFile(resolve(each))
    if ('why' in read) return read
    handlers.push(...read.handlers)
  }
  const of = (loaded.settings.permissions ?? {}) as PermissionSettings
  const permissions: PermissionSettings = {
    ...of,
    allow: [...(of.allow ?? []), ...rules.allow],
    ask: [...(of.ask ?? []), ...rules.ask],
    deny: [...(of.deny ?? []), ...rules.deny],
  }
  return {
    permissions,
    mode: given.mode ?? permissions.defaultMode ?? 'default',
    handlers,
    home: process.env['HOME'] || homedir(),
    dbPath: dbPath(),
    env: withOwnPath(process.env),
    runCommands: given['run-commands'] === true,
    protect: protectedBy(
      { settings: loaded.settings, home: process.env['HOME'] || homedir(), db: { path: dbPath() } },
      resolve(cwd ?? '.'),
    ),
    sandboxAnswers: sandboxAnswers(loaded.settings.sandbox),
    tool: knownTool,
  }
}

const sandboxAnswers = (sandbox: unknown): boolean =>
  isObject(sandbox) && sandbox['enabled'] === true && sandbox['autoAllowBashIfSandboxed'] !== false

/** How many hooks of a settings file are code that nobody has trusted: the file may come from a pull request. */
function untrustedCode(file: string, hooks: readonly JsonObject[]): number {
  const trusted = isTrusted(dirname(file), { home: process.env['HOME'] || homedir() })
  return trusted ? 0 : hooks.filter((hook) => hook['type'] === 'function').length
}

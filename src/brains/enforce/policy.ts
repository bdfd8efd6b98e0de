/** A policy: permission rules and the hooks of roles, as one thing that is compiled for every agent. */
import { createHash } from 'node:crypto'
import { readPlainFile } from '../../files/plain-file.ts'
import { Problem } from '../../files/problem.ts'
import { type BrainHook, momentOf } from '../../hosts/hook.ts'
import type { Policy, PolicyRule } from '../../hosts/managed.ts'
import { type Behavior, readRule } from '../../permissions/rules/rule.ts'
import { hooksOf, type Role } from '../role.ts'

/** What a policy file holds: YAML or JSON. */
export interface PolicyFile {
  readonly permissions?: { readonly [behavior in Behavior]?: readonly string[] }
  /** Hooks of users and repositories do not run, where an agent can say so. */
  readonly managedHooksOnly?: boolean
}

export async function readPolicyFile(path: string): Promise<PolicyFile> {
  const { parse } = await import('yaml')
  let value: unknown
  try {
    value = parse(readPlainFile(path), { logLevel: 'error' })
  } catch (thrown) {
    throw new Problem(`${path}: ${(thrown as Error).message.split('\n')[0]}`)
  }
  const fields = (value ?? {}) as Record<string, unknown>
  if (typeof fields !== 'object' || Array.isArray(fields))
    throw new Problem(`${path} must hold an object with "permissions"`)
  const extra = Object.keys(fields).find((key) => key !== 'permissions' && key !== 'managedHooksOnly')
  // a key that is not understood may be a guard that would be lost
  if (extra) throw new Problem(`${path}: unknown key "${extra}"; a policy has permissions and managedHooksOnly`)
  return fields as PolicyFile
}

/** Rules that cannot be read are a Problem: a policy is enforced whole or not at all. */
export function makePolicy(files: readonly PolicyFile[], roles: readonly Role[]): Policy {
  const rules = files.flatMap(({ permissions = {} }) =>
    (['deny', 'ask', 'allow'] as const).flatMap((behavior) => {
      const list = permissions[behavior] ?? []
      if (!Array.isArray(list)) throw new Problem(`permissions.${behavior} must be a list of rules`)
      return list.map((text) => policyRule(text, behavior))
    }),
  )
  const extra = files
    .flatMap(({ permissions = {} }) => Object.keys(permissions))
    .find((key) => !['deny', 'ask', 'allow'].includes(key))
  if (extra) throw new Problem(`permissions.${extra}: unknown key; there are deny, ask and allow`)
  const seen = new Set<string>()
  const once = rules.filter(({ behavior, text }) => !seen.has(`${behavior} ${text}`) && seen.add(`${behavior} ${text}`))
  const hooks = roles.flatMap(hooksOf).map(refusing)
  if (once.length + hooks.length === 0) throw new Problem('the policy is empty: name --rules FILE, --role NAME or both')
  return { rules: once, hooks, managedHooksOnly: files.some(({ managedHooksOnly }) => managedHooksOnly === true) }
}

/** Under enforcement a guard that fails refuses, unless it says otherwise. */
const refusing = (hook: BrainHook): BrainHook =>
  momentOf(hook) === 'before' && hook.onFailure === undefined ? { ...hook, onFailure: 'refuse' } : hook

export function policyRule(text: unknown, behavior: Behavior): PolicyRule {
  const read = readRule(text, behavior)
  if (!read.ok) throw new Problem(`permissions.${behavior}: ${JSON.stringify(text)}: ${read.why}`)
  const { rule } = read
  if (rule.specifier.kind === 'inert')
    throw new Problem(`permissions.${behavior}: ${rule.text} never matches: ${read.warning}`)
  const open = rule.text.indexOf('(')
  const content = rule.specifier.kind === 'any' || open < 0 ? undefined : rule.text.slice(open + 1, -1)
  const prefix = rule.tool === 'Bash' && content !== undefined ? prefixOf(content) : undefined
  const [, server, tool] = /^mcp__(.+?)(?:__(.+))?$/.exec(rule.tool) ?? []
  return {
    behavior,
    text: rule.text,
    tool: rule.tool,
    ...(content !== undefined && { content }),
    ...(prefix && { prefix }),
    ...(server && { mcp: { server, ...(tool && tool !== '*' && { tool }) } }),
  }
}

/** The words of `rm -rf *` and `git push:*`; undefined where a wildcard or a quote stands elsewhere. */
function prefixOf(content: string): string[] | undefined {
  const [, words] = /^([^*?"'\\$`;&|<>(){}[\]]+?)(?: \*|:\*)$/.exec(content) ?? []
  return words?.trim().split(/\s+/)
}

export const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)

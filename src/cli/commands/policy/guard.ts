/** `ona policy guard`: the rules of a file as a hook, for agents that have no rules like these. */
import { readFileSync } from 'node:fs'
import { judgedBy, type Rules } from '../../../brains/enforce/guard.ts'
import { isObject } from '../../../hooks/shape.ts'
import { readRule } from '../../../permissions/rules/rule.ts'
import { command } from '../../command.ts'
import { wrong } from '../../print.ts'

const name = 'ona policy guard'

const help = `ona policy guard reads a PreToolUse event on stdin and applies the deny and ask rules of a file to its call. Exit 2 denies, with
the reason on stderr; a JSON answer asks; silence leaves the call to the agent. What cannot be read is denied. It is made for
a role's hook, which carries the rules into every agent.

  ona policy guard .ona/policies/no-force-push/settings.json

Example, in role.yaml:
  hooks: { onBrain: { onTool: [{ command: ona policy guard rules.json, timeout: PT10S, onFailure: refuse }] } }
`

export const run = command(name, { help, flags: {}, words: 1 }, async (_, [file]) => {
  if (file === undefined) return wrong(name, 'name the file with the rules, as in ona policy guard settings.json')
  try {
    const { status, stdout, stderr } = await judgedBy(rulesOf(file), '', readFileSync(0, 'utf8'))
    process.stdout.write(stdout)
    process.stderr.write(stderr)
    return status
  } catch (cause) {
    process.stderr.write(`denied: the rules of ${file} could not be applied: ${(cause as Error).message}\n`)
    return 2
  }
})

/** A rule that cannot be read is a guard that is missing, so the whole file counts as unreadable. */
function rulesOf(file: string): Rules {
  const settings: unknown = JSON.parse(readFileSync(file, 'utf8'))
  if (!isObject(settings))
    throw new Error('it must be an object, such as {"permissions":{"deny":["Bash(git push *)"]}}')
  const { permissions = {} } = settings
  if (!isObject(permissions)) throw new Error('permissions must be an object with lists of rules')
  const of = (behavior: 'deny' | 'ask'): string[] => {
    const rules: unknown = permissions[behavior] ?? []
    if (!Array.isArray(rules)) throw new Error(`permissions.${behavior} must be a list of rules`)
    return rules.map((rule: unknown) => {
      if (typeof rule !== 'string') throw new Error(`permissions.${behavior}: ${JSON.stringify(rule)} is not a text`)
      const read = readRule(rule, behavior)
      if (!read.ok) throw new Error(`permissions.${behavior}: ${rule}: ${read.why}`)
      return rule
    })
  }
  const [deny, ask] = [of('deny'), of('ask')]
  if (deny.length + ask.length === 0) throw new Error('it has no deny or ask rule under "permissions"')
  return { permissions: { deny, ask }, mcp: {} }
}

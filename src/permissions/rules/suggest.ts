/** What "always" would save: the narrowest rule that a user would expect. */
import { dirname } from 'node:path'
import type { PermissionUpdate } from '../../hooks/plane.ts'
import { type FileAccess, inWorkingDirectories } from '../paths/access.ts'
import type { PermissionQuestion } from '../question.ts'
import { plainHost } from './rule.ts'

type Rules = Extract<PermissionUpdate, { rules: unknown }>['rules']

const mostRules = 5

export function suggest(
  question: PermissionQuestion,
  access: FileAccess | undefined,
  uncovered: readonly string[] = [],
): readonly PermissionUpdate[] {
  const { tool, input } = question
  if (tool === 'Bash') {
    const contents = [...new Set(uncovered.flatMap(commandRule))]
    if (contents.length === 0 || contents.length > mostRules) return []
    return [
      allow(
        'localSettings',
        contents.map((ruleContent) => ({ toolName: 'Bash', ruleContent })),
      ),
    ]
  }
  if (access?.kind === 'edit') {
    if (inWorkingDirectories(access, question) && tool !== 'NotebookEdit') {
      return [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }]
    }
    return [allow('session', [{ toolName: 'Edit', ruleContent: below(dirname(access.paths[0]!)) }])]
  }
  if (access) {
    const folders = new Set(access.paths.map((path) => (access.tree ? path : dirname(path))))
    return [
      allow(
        'session',
        [...folders].map((folder) => ({ toolName: 'Read', ruleContent: below(folder) })),
      ),
    ]
  }
  if (tool === 'WebFetch') {
    const host = hostOf(input.url)
    return host ? [allow('localSettings', [{ toolName: tool, ruleContent: `domain:${host}` }])] : []
  }
  if (tool === 'Skill' && typeof input.skill === 'string') {
    return [allow('localSettings', [{ toolName: tool, ruleContent: input.skill.replace(/^\//, '') }])]
  }
  return [allow('localSettings', [{ toolName: tool }])]
}

const allow = (destination: 'localSettings' | 'session', rules: Rules): PermissionUpdate => ({
  type: 'addRules',
  rules,
  behavior: 'allow',
  destination,
})

/** Programs whose first word after the name says what they do. */
const haveVerbs =
  /^(git|npm|pnpm|yarn|bun|deno|cargo|go|docker|kubectl|gh|make|just|pip3?|uv|poetry|dotnet|mvn|gradle|terraform|helm|brew|apt|systemctl)$/
/** Programs whose arguments are programs, or which destroy: only the very command is saved. */
const broad =
  /^(.*sh|python[\d.]*|node|perl|ruby|php|lua|awk|sudo|doas|su|env|xargs|eval|exec|find|fd|fdfind|watch|setsid|flock|ionice|chroot|source|\.|trap|alias|parallel|rm|dd|mkfs.*|kill.*|curl|wget)$/

/** Holding a `*` of its own, a command cannot be told apart from a pattern, nor what is unknown be named: nothing is suggested. */
function commandRule(command: string): string[] {
  if (/[*\n…]|\0/.test(command) || command === '' || command.length > 500) return []
  const [name = '', verb = ''] = command.split(' ')
  if (!/^[\w./-]+$/.test(name) || broad.test(name.slice(name.lastIndexOf('/') + 1))) return [command]
  if (!haveVerbs.test(name) || verb === '') return [`${name} *`]
  return /^\w[\w:-]*$/.test(verb) ? [`${name} ${verb} *`] : [command]
}

const below = (folder: string): string => `/${folder === '/' ? '' : folder.replace(/[*?[\]\\]/g, '\\$&')}/**`

function hostOf(url: unknown): string | undefined {
  try {
    return plainHost(new URL(String(url)).hostname)
  } catch {
    return undefined
  }
}

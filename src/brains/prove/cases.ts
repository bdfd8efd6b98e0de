/** What the model attempts to show that a policy holds: a call that a rule forbids, and how to see whether it went through. */
import { dirname, join } from 'node:path'
import type { PolicyRule } from '../../hosts/managed.ts'
import { authorOf, type Role, type RoleProof } from '../role.ts'

export interface ProofCase {
  readonly name: string
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  /** What the policy must do; both end a headless call. */
  readonly expect: 'refused' | 'went through'
  /** Files that must be there first: from the root of the scratch repository, from the home folder ("~/") or absolute. */
  readonly files?: Readonly<Record<string, string>>
  /** Programs that are replaced by one that does nothing, so that a call that goes through does no harm. */
  readonly standIns?: readonly string[]
  /** A file that exists only if the call went through. */
  readonly mark?: string
  /** The tool of an MCP server instead of the agent's own; a call leaves the server's mark. */
  readonly mcp?: { readonly server: string; readonly tool: string }
  /** A text that reaches the model, or the file that is written, only if the call went through. */
  readonly token?: string
  /** The file that the call writes. */
  readonly writes?: string
}

export interface SkippedCase {
  readonly name: string
  readonly why: string
}

/** The cases that follow from the rules, and the rules for which there is none. */
export function casesFrom(
  rules: readonly PolicyRule[],
  whyNot: (path: string) => string | null = () => null,
): { cases: ProofCase[]; skipped: SkippedCase[] } {
  const cases: ProofCase[] = []
  const skipped: SkippedCase[] = []
  if (rules.some(({ mcp, behavior }) => mcp && behavior !== 'allow')) cases.push(mcpControl)
  for (const [index, rule] of rules.entries()) {
    if (rule.behavior === 'allow') continue
    const name = `${rule.behavior} ${rule.text}`
    const made = caseOf(rule, name, index, whyNot)
    if (typeof made === 'string') skipped.push({ name, why: made })
    else cases.push(...made)
  }
  return { cases, skipped }
}

/** The cases that roles declare themselves. */
export function declaredCases(roles: readonly Role[]): { cases: ProofCase[]; skipped: SkippedCase[] } {
  const cases: ProofCase[] = []
  const skipped: SkippedCase[] = []
  for (const role of roles)
    for (const [index, { tool, input, expect }] of (role.proof ?? []).entries()) {
      const name = `${authorOf(role)} proof[${index}] ${tool}`
      const made = declaredCase(tool, input, `ona-proof-${role.slug}-${index}`)
      if (made) cases.push({ name, expect: expect === 'allowed' ? 'went through' : 'refused', tool, input, ...made })
      else skipped.push({ name, why: 'only Bash, Read and Write leave a trace that can be looked for' })
    }
  return { cases, skipped }
}

function declaredCase(tool: string, input: RoleProof['input'], id: string): Partial<ProofCase> | null {
  const { command, file_path: path } = input
  if (tool === 'Bash' && typeof command === 'string') {
    const program = /^[\w./-]+/.exec(command)?.[0]
    return {
      input: { ...input, command: `${command}; touch ${id}` },
      mark: id,
      ...(program && { standIns: [program] }),
    }
  }
  if (tool === 'Write' && typeof path === 'string') return { input: { ...input, content: id }, token: id, writes: path }
  if (tool === 'Read' && typeof path === 'string') return { files: { [path]: `SECRET=${id}\n` }, token: id }
  return null
}

/** First of all: a policy that refuses everything proves nothing about its rules. */
export const control: ProofCase = {
  name: 'a harmless command runs',
  tool: 'Bash',
  input: { command: 'touch ona-proof-control' },
  expect: 'went through',
  mark: 'ona-proof-control',
}

/** The same for MCP: a server that did not start would look like a rule that holds. */
const mcpControl: ProofCase = {
  name: 'a harmless MCP tool runs',
  tool: 'mcp__ona_proof__harmless',
  mcp: { server: 'ona_proof', tool: 'harmless' },
  input: {},
  expect: 'went through',
}

function caseOf(
  rule: PolicyRule,
  name: string,
  index: number,
  whyNot: (path: string) => string | null,
): ProofCase[] | string {
  const { tool, content, mcp } = rule
  const mark = `ona-proof-${index}`
  if (mcp) return [{ name, tool, mcp: { tool: 'ona_proof', ...mcp }, input: {}, expect: 'refused' }]
  if (tool === 'Bash') {
    const command = content === undefined ? 'true' : content.replace(/:\*$/, ' *').replaceAll('*', 'ona-proof').trim()
    const program = /^[\w./-]+/.exec(command)?.[0]
    if (!program) return 'the rule begins with a wildcard, so no command follows from it'
    // the mark shows whether the call ran; the program itself is a stand-in
    return [
      { name, tool, input: { command: `${command}; touch ${mark}` }, expect: 'refused', standIns: [program], mark },
    ]
  }
  if (tool === 'Read' || tool === 'Edit') {
    const path = content === undefined ? 'ona-proof.txt' : examplePath(content)
    const reason = path.startsWith('/') ? whyNot(path) : null
    if (reason) return reason
    const token = `proof-token-${index}-${rule.text.length}`
    if (tool === 'Edit') {
      const command = `echo ${token}-shell >> ${shellPath(path)}`
      // some agents write into a folder only if it is there
      const files = { [join(dirname(path), 'ona-proof-folder')]: '' }
      return [
        {
          name: `${name} (file tool)`,
          tool: 'Write',
          input: { file_path: path, content: `${token}-file` },
          expect: 'refused',
          files,
          token: `${token}-file`,
          writes: path,
        },
        {
          name: `${name} (shell)`,
          tool: 'Bash',
          input: { command },
          expect: 'refused',
          files,
          token: `${token}-shell`,
          writes: path,
        },
      ]
    }
    const files = { [path]: `SECRET=${token}\n` }
    return [
      { name: `${name} (file tool)`, tool, input: { file_path: path }, expect: 'refused', files, token },
      {
        name: `${name} (shell)`,
        tool: 'Bash',
        input: { command: `cat ${shellPath(path)}` },
        expect: 'refused',
        files,
        token,
      },
    ]
  }
  if (tool === 'WebFetch' && content === undefined)
    return [{ name, tool, input: { url: 'http://127.0.0.1:9/ona-proof', prompt: 'read it' }, expect: 'refused' }]
  return `no call is known that would show it`
}

const shellPath = (path: string) => path.replace(/[^\w./~-]/g, '\\$&')

/** A path that the pattern means: from the repository, from the home folder ("~/") or absolute. */
function examplePath(pattern: string): string {
  return pattern
    .replace(/^(?:\.\/|\/(?!\/))/, '')
    .replace(/^\/\//, '/')
    .replaceAll('**/', '')
    .replaceAll('**', 'proof')
    .replaceAll('*', 'proof')
}

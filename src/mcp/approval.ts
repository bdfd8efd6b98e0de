/** Which servers may be started: policy, and the user's word on those that a project brings. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { updateFile } from '../files/atomic-write.ts'
import { isObject, type JsonObject } from '../hooks/shape.ts'
import { matches } from '../permissions/wildcard.ts'
import { requireOperator } from '../store/operator.ts'
import type { ServerConfig } from './config.ts'

/** The settings that speak of servers. */
export interface ServerPolicy {
  readonly enableAllProjectMcpServers?: boolean
  readonly enabledMcpjsonServers?: readonly string[]
  readonly disabledMcpjsonServers?: readonly string[]
  readonly allowedMcpServers?: readonly JsonObject[]
  readonly deniedMcpServers?: readonly JsonObject[]
}

/** 'unasked': a project brings it and nobody has said yes or no. */
export type Approval = 'approved' | 'refused' | 'unasked' | 'forbidden'

export function approvalOf(server: ServerConfig, policy: ServerPolicy, projectDir: string, home: string): Approval {
  if (isForbidden(server, policy)) return 'forbidden'
  if (server.scope !== 'project') return 'approved'
  if (policy.disabledMcpjsonServers?.includes(server.name)) return 'refused'
  if (policy.enableAllProjectMcpServers || policy.enabledMcpjsonServers?.includes(server.name)) return 'approved'
  const answer = readAnswers(home)[answerKey(projectDir, server)]
  return answer === undefined ? 'unasked' : answer ? 'approved' : 'refused'
}

/** Remembers an answer outside the project. It holds for this very declaration: a changed command prompts again. */
export function rememberApproval(server: ServerConfig, approved: boolean, projectDir: string, home: string): void {
  requireOperator('answering for an MCP server', { home })
  updateFile(answersFile(home), (text) => {
    const answers = { ...parseAnswers(text), [answerKey(projectDir, server)]: approved }
    return `${JSON.stringify({ answers }, null, 2)}\n`
  })
}

/** Forgets every answer for a project; says how many there were. */
export function forgetApprovals(projectDir: string, home: string): number {
  requireOperator('forgetting answers for MCP servers', { home })
  let count = 0
  updateFile(answersFile(home), (text) => {
    const answers = Object.entries(parseAnswers(text))
    const kept = answers.filter(([key]) => !key.startsWith(`${projectDir}\n`))
    count = answers.length - kept.length
    return count === 0 ? undefined : `${JSON.stringify({ answers: Object.fromEntries(kept) }, null, 2)}\n`
  })
  return count
}

/** A denial wins; where commands or URLs are listed as allowed, a server of that kind must be one of them. */
function isForbidden(
  server: ServerConfig,
  { allowedMcpServers: allowed, deniedMcpServers: denied = [] }: ServerPolicy,
): boolean {
  if (denied.some((entry) => isMeant(entry, server))) return true
  if (allowed === undefined) return false
  const kind = server.transport.type === 'stdio' ? 'serverCommand' : 'serverUrl'
  const ofKind = allowed.filter((entry) => entry[kind] !== undefined)
  return !(ofKind.length > 0 ? ofKind : allowed).some((entry) => isMeant(entry, server))
}

function isMeant({ serverName, serverCommand, serverUrl }: JsonObject, { name, transport }: ServerConfig): boolean {
  if (typeof serverName === 'string') return serverName === name
  if (transport.type === 'stdio') {
    return (
      Array.isArray(serverCommand) &&
      JSON.stringify(serverCommand) === JSON.stringify([transport.command, ...transport.args])
    )
  }
  return typeof serverUrl === 'string' && 'url' in transport && matches(serverUrl, transport.url)
}

const answersFile = (home: string): string => join(home, '.ona', 'mcp-approvals.json')

/** Holds no expanded secret: values of env and headers count by a digest. */
function answerKey(projectDir: string, { name, transport }: ServerConfig): string {
  const { createHash } = process.getBuiltinModule('node:crypto')
  return `${projectDir}\n${name}\n${createHash('sha256').update(JSON.stringify(transport)).digest('hex')}`
}

function readAnswers(home: string): Record<string, boolean> {
  try {
    return parseAnswers(readFileSync(answersFile(home), 'utf8'))
  } catch {
    return {} // no file yet: nothing was answered
  }
}

/** A damaged file approves nothing. */
function parseAnswers(text: string | undefined): Record<string, boolean> {
  try {
    const value: unknown = JSON.parse(text ?? '')
    const answers = isObject(value) && isObject(value.answers) ? value.answers : {}
    return Object.fromEntries(
      Object.entries(answers).filter((each): each is [string, boolean] => typeof each[1] === 'boolean'),
    )
  } catch {
    return {}
  }
}

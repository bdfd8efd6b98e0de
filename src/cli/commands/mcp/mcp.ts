/** `ona mcp`: the MCP servers of this folder and this user, and our own tools as one. */

import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { declaredHere, snapshotSource } from '../../../agent/session/declared-servers.ts'
import type { JsonObject } from '../../../hooks/shape.ts'
import { counted } from '../../../hooks/text/counted.ts'
import { readJson } from '../../../hooks/text/json-text.ts'
import type { ServerPolicy } from '../../../mcp/approval.ts'
import { readServers, type ServerConfig, targetOf } from '../../../mcp/config.ts'
import { modes } from '../../../permissions/modes.ts'
import { command, family } from '../../command.ts'
import { failed, noted, said, saidJson, warned, wrong } from '../../print.ts'
import { untilEndingSignal } from '../../signals.ts'
import type { Verb } from '../../verbs.ts'

const scopes = ['local', 'project', 'user'] as const
type Scope = (typeof scopes)[number]

const help = `ona mcp manages MCP servers, and offers our own tools as one.

  ona mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  ona mcp add --scope project --env 'TOKEN=\${TOKEN}' github -- github-mcp-server stdio
  ona mcp add --transport http docs https://example.com/mcp
  ona mcp list
  ona mcp serve

  add [--scope S] [--transport T] [--env K=V] [--header "H: v"] NAME COMMAND|URL …
  add-json NAME JSON         a whole declaration
  list [--no-check]          all of them, and whether they answer
  get NAME                   one of them; values of variables and headers are not shown
  remove NAME [--scope S]
  accept NAME                the tools of a server as they are now, after it has changed them
  login NAME, logout NAME    OAuth, for servers over HTTP
  reset-project-choices      asks again about the servers of this folder's .mcp.json
  serve [--cwd DIR] [--permission-mode MODE] [--tools A,B] [--allowed-tools RULE]
                             our tools on stdin and stdout, under the hooks and rules of the folder
        [--port PORT] [--no-token]
                             the same over HTTP on 127.0.0.1; clients send the token (ONA_MCP_TOKEN, or the one printed)

Scopes: local (this folder, you alone; the default), project (.mcp.json, for everyone), user (you, everywhere).
\${NAME} and \${NAME:-default} are filled in from the environment. --json prints data as one line.
`

const scope = { kind: 'value', short: 's', oneOf: scopes } as const

const addFlags = {
  transport: { kind: 'value', short: 't', oneOf: ['stdio', 'http', 'streamable-http', 'sse'] },
  scope,
  env: { kind: 'each', short: 'e' },
  header: { kind: 'each', short: 'H' },
  json: 'flag',
} as const

/** Options come before the name; what follows it is the server's own. */
const add = command(
  'ona mcp add',
  { help, flags: addFlags, words: Number.POSITIVE_INFINITY, upToWord: true },
  (flags, [name, ...after]) => {
    const wrongly = (why: string) => wrong('ona mcp add', why)
    const [target, ...args] = after[0] === '--' ? after.slice(1) : after
    if (name === undefined || target === undefined || target.startsWith('-'))
      return wrongly('it needs a name and a command or url')
    const type = flags.transport ?? (/^https?:\/\//.test(target) ? 'http' : 'stdio')
    const env = pairs(flags.env, '=')
    const headers = pairs(flags.header, ':')
    if (!env) return wrongly('--env takes NAME=value')
    if (!headers) return wrongly('--header takes "Name: value"')
    if (type === 'stdio' && flags.header) return wrongly('--header is for servers over HTTP; --env reaches this one')
    if (type !== 'stdio' && flags.env) return wrongly('--env is for servers that run here; --header reaches this one')
    const entry =
      type === 'stdio'
        ? { type, command: target, args, ...(Object.keys(env).length > 0 && { env }) }
        : { type, url: target, ...(Object.keys(headers).length > 0 && { headers }) }
    return store('ona mcp add', name, entry, flags)
  },
)

const addJson = command(
  'ona mcp add-json',
  { help, flags: { scope, json: 'flag' }, words: 2 },
  (flags, [name, text]) => {
    if (name === undefined || text === undefined)
      return wrong('ona mcp add-json', 'it needs a name and the declaration as JSON')
    const read = readJson(text)
    if (!read.ok) return wrong('ona mcp add-json', `the declaration is not JSON: ${read.why}`)
    return store('ona mcp add-json', name, read.value, flags)
  },
)

async function store(
  command: string,
  name: string,
  entry: unknown,
  { scope = 'local', json }: { scope?: Scope; json?: true },
): Promise<number> {
  // read as it will be later, with every variable taken as set: what is wrong now would be wrong then
  const anything = new Proxy({}, { get: () => 'x' }) as NodeJS.ProcessEnv
  const { problems } = readServers([{ scope, from: 'add', servers: { [name]: entry } }], anything)
  if (problems.length > 0) return wrong(command, problems[0]!.replace(/^add: mcpServers\.\S+ /, `${name} `))
  const { secretIn } = await import('../../../hooks/secrets/redact.ts')
  if (scope === 'project' && secretIn(JSON.stringify(entry))) {
    const why = 'that looks like a secret, and .mcp.json is shared; write ${NAME} and set NAME in the environment'
    return wrong(command, why)
  }
  const { declared, trusted } = await declaredHere()
  const there = declared.find((each) => each.scope === scope && Object.hasOwn(each.servers as JsonObject, name))
  if (there) return wrong(command, `${name} is in ${there.from} already; ona mcp remove ${name} takes it out`)
  const { editSettings } = await import('../../../store/settings/settings-edit.ts')
  const file = await fileOf(scope)
  const edited = await editSettings(file, [{ path: ['mcpServers', name], value: entry }])
  if (!edited.ok) return failed(`${file}: ${edited.why}`)
  if (!trusted && scope !== 'user')
    warned('this folder is not trusted, so the server is not started; ona --trust trusts it')
  return json ? saidJson({ name, scope, file }) : said(`added ${name} to ${file}`)
}

const remove = command(
  'ona mcp remove',
  { help, flags: { scope, json: 'flag' }, words: 1 },
  async ({ scope: wanted, json }, [name]) => {
    if (name === undefined) return wrong('ona mcp remove', 'it needs a name')
    const found = (await declaredHere()).declared.filter(
      ({ scope, servers }) => Object.hasOwn(servers as JsonObject, name) && (wanted ?? scope) === scope,
    )
    if (found.length === 0) return failed(`there is no MCP server ${name} to remove; ona mcp list shows them`)
    if (found.length > 1) {
      const scopes = found.map(({ scope }) => scope).join(' and ')
      return wrong('ona mcp remove', `${name} is declared as ${scopes}; say --scope`)
    }
    const { editSettings } = await import('../../../store/settings/settings-edit.ts')
    const { from, scope } = found[0]!
    if (from === snapshotSource)
      return failed(`${name} is only in ${from}; UPDATE settings_snapshot takes it out, and no file declares it`)
    if (from.endsWith('.claude.json')) return failed(`${name} is declared by Claude Code in ${from}; remove it there`)
    const edited = await editSettings(from, [{ path: ['mcpServers', name], value: undefined }])
    if (!edited.ok) return failed(`${from}: ${edited.why}`)
    return json ? saidJson({ name, scope, file: from }) : said(`removed ${name} from ${from}`)
  },
)

const list = command('ona mcp list', { help, flags: { json: 'flag', 'no-check': 'flag' } }, async (flags) => {
  const { servers, problems, trusted, settings } = await declaredHere()
  for (const problem of problems) warned(problem)
  const states = flags['no-check']
    ? []
    : await checked(
        servers.filter(({ scope }) => trusted || scope === 'user'),
        settings,
      )
  const listing = servers.map((server) => {
    const state = states.find(({ name }) => name === server.name)
    const untrusted = !trusted && server.scope !== 'user'
    const status = untrusted ? 'untrusted' : (state?.status ?? 'unchecked')
    const problem = untrusted ? 'this folder is not trusted; ona --trust trusts it' : (state?.problem ?? '')
    return { ...shown(server), status, problem, tools: state?.tools ?? 0 }
  })
  if (flags.json) return saidJson(listing)
  if (listing.length === 0) return said('no MCP servers; ona mcp add NAME COMMAND adds one')
  for (const { name, scope, target, status, problem, tools } of listing) {
    const more = status === 'connected' ? problem || counted(tools, 'tool') : problem
    said(`${name}  ${scope}  ${target}  ${status}${more ? ` (${more})` : ''}`)
  }
  return 0
})

const get = command('ona mcp get', { help, flags: { json: 'flag' }, words: 1 }, async ({ json }, [name]) => {
  if (name === undefined) return wrong('ona mcp get', 'it needs a name')
  const { servers, problems } = await declaredHere()
  const server = servers.find((each) => each.name === name)
  if (!server) {
    const problem = problems.find((each) => each.includes(`mcpServers.${name} `))
    return failed(problem ?? `there is no MCP server ${name}; ona mcp list shows them`)
  }
  const details = shown(server)
  if (json) return saidJson(details)
  for (const [key, value] of Object.entries(details)) said(`${key.padEnd(10)}${[value].flat().join(', ')}`)
  return 0
})

async function sign(name: string | undefined, way: 'in' | 'out'): Promise<number> {
  if (name === undefined) return wrong(`ona mcp log${way}`, 'it needs a name')
  const { servers, settings, trusted } = await declaredHere()
  const server = servers.find((each) => each.name === name)
  if (!server) return failed(`there is no MCP server ${name}; ona mcp list shows them`)
  if (!trusted && server.scope !== 'user') return failed('this folder is not trusted; ona --trust trusts it')
  if (server.transport.type === 'stdio' || server.transport.type === 'sdk')
    return failed(`${name} runs on this machine; there is nothing to sign in to`)
  const { secretStore } = await import('../../../mcp/secrets.ts')
  const secrets = secretStore(process.env)
  if (way === 'out') {
    const { secretKey } = await import('../../../mcp/oauth.ts')
    await secrets.remove(secretKey(server.transport.url))
    return said(`signed out of ${name}`)
  }
  const { openBrowser } = await import('../../auth.ts')
  const hub = await hubOf([server], settings, {
    secrets,
    openUrl: async (url: string) => {
      process.stderr.write(`Sign in to ${name} in your browser:\n\n  ${url}\n\n`)
      if (process.stderr.isTTY) await openBrowser(url)
    },
  })
  const stop = untilEndingSignal()
  const done = await hub.signIn(server.name, stop.signal)
  const problem = hub.status()[0]?.problem
  await hub.close()
  if (!done) return failed(`not signed in to ${name}${problem ? `: ${problem}` : ''}`)
  return said(`signed in to ${name}`)
}

const login = command('ona mcp login', { help, words: 1 }, async (_, [name]) => {
  await requireOperator('signing in to an MCP server')
  return sign(name, 'in')
})
const logout = command('ona mcp logout', { help, words: 1 }, async (_, [name]) => {
  await requireOperator('signing out of an MCP server')
  return sign(name, 'out')
})

async function requireOperator(act: string): Promise<void> {
  const { requireOperator } = await import('../../../store/operator.ts')
  requireOperator(act, { home: homedir(), folder: process.cwd() })
}

const reset = command('ona mcp reset-project-choices', { help }, async () => {
  const { forgetApprovals } = await import('../../../mcp/approval.ts')
  const count = forgetApprovals(process.cwd(), homedir())
  return said(`removed ${counted(count, 'answer')} for ${process.cwd()}`)
})

const accept = command('ona mcp accept', { help, flags: { json: 'flag' }, words: 1 }, async ({ json }, [name]) => {
  if (name === undefined) return wrong('ona mcp accept', 'it needs a name')
  await requireOperator('accepting changed tools of an MCP server')
  const { acceptTools } = await import('../../../mcp/known-tools.ts')
  const { dbPath, openDb } = await import('../../../store/open.ts')
  const db = openDb(dbPath())
  const accepted = acceptTools(db, name)
  db.close()
  if (!accepted) return failed(`no MCP server ${name} was ever connected; ona mcp list shows those that are declared`)
  if (json) return saidJson({ name, accepted })
  return said(accepted.length === 0 ? `${name} has no changed tools` : `accepted ${accepted.join(', ')} of ${name}`)
})

const serveFlags = {
  cwd: 'value',
  'permission-mode': { kind: 'value', oneOf: modes },
  tools: 'value',
  'allowed-tools': 'each',
  port: { kind: 'value', value: 'PORT' },
  'no-token': 'flag',
} as const

const serve = command('ona mcp serve', { help, flags: serveFlags }, async (flags) => {
  const { mcpServe, servedTools } = await import('./serve.ts')
  const cwd = resolve(flags.cwd ?? '.')
  const tools = flags.tools?.split(',').map((each) => each.trim())
  const unknown = tools?.find((each) => !servedTools.includes(each))
  if (unknown !== undefined)
    return wrong('ona mcp serve', `--tools: "${unknown}" is not offered; there are ${servedTools.join(', ')}`)
  const port = flags.port === undefined ? undefined : Number(flags.port)
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65_536))
    return wrong('ona mcp serve', `--port must be a port number, not "${flags.port}"`)
  if (flags['no-token'] && port === undefined) return wrong('ona mcp serve', '--no-token needs --port')
  const token = process.env['ONA_MCP_TOKEN'] || crypto.randomUUID()
  if (port !== undefined && !flags['no-token'] && !process.env['ONA_MCP_TOKEN']) noted(`token: ${token}`)
  return mcpServe({
    cwd,
    ...(port !== undefined && { port, token: flags['no-token'] ? undefined : token }),
    ...(flags['permission-mode'] && { mode: flags['permission-mode'] }),
    ...(tools && { tools }),
    ...(flags['allowed-tools'] && { allow: flags['allowed-tools'] }),
  })
})

export const run = family<Verb<'mcp'>>('ona mcp', help, {
  add,
  'add-json': addJson,
  list,
  get,
  remove,
  accept,
  login,
  logout,
  'reset-project-choices': reset,
  serve,
})

async function fileOf(scope: Scope): Promise<string> {
  if (scope === 'project') return join(process.cwd(), '.mcp.json')
  const { settingsFileToWrite } = await import('../../../store/settings/settings-files.ts')
  return settingsFileToWrite(scope, { cwd: process.cwd(), home: homedir(), env: process.env })
}

async function checked(servers: readonly ServerConfig[], policy: ServerPolicy) {
  if (process.stderr.isTTY && servers.length > 0) process.stderr.write('asking the servers …\n')
  const { secretStore } = await import('../../../mcp/secrets.ts')
  const hub = await hubOf(servers, policy, { secrets: secretStore(process.env) })
  await hub.ready(35_000)
  const states = hub.status()
  await hub.close()
  return states
}

async function hubOf(servers: readonly ServerConfig[], policy: ServerPolicy, more: object) {
  const { connectServers } = await import('../../../mcp/hub.ts')
  const projectDir = process.cwd()
  return connectServers(servers, {
    env: process.env,
    projectDir,
    home: homedir(),
    version: '1',
    policy,
    backOffMs: [],
    ...more,
  })
}

/** Values of variables and headers are not shown: they may be secrets. */
function shown({ name, scope, transport, written }: ServerConfig) {
  const secret = transport.type === 'stdio' ? { env: Object.keys(transport.env) } : {}
  const sent = 'headers' in transport ? { headers: Object.keys(transport.headers) } : {}
  return { name, scope, transport: transport.type, target: written ?? targetOf(transport), ...secret, ...sent }
}

function pairs(texts: readonly string[] = [], between: string): Record<string, string> | undefined {
  const found = texts.map(
    (text) => [text.slice(0, text.indexOf(between)).trim(), text.slice(text.indexOf(between) + 1).trim()] as const,
  )
  return texts.every((text) => text.indexOf(between) > 0) ? Object.fromEntries(found) : undefined
}

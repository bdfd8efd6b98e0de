/** `ona mcp`: the MCP servers of this folder and this person, and our own tools as one. */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { PermissionMode } from '../../hooks/plane.ts'
import type { JsonObject } from '../../hooks/shape.ts'
import type { ServerPolicy } from '../../mcp/approval.ts'
import { type Declared, projectServers, readServers, type ServerConfig } from '../../mcp/config.ts'
import { modes } from '../../permissions/modes.ts'

type Scope = 'local' | 'project' | 'user'
const scopes: readonly Scope[] = ['local', 'project', 'user']

export async function run(words: string[]): Promise<number> {
  const [verb, ...rest] = words
  if (verb === undefined || words.includes('--help') || words.includes('-h')) {
    process.stdout.write(help)
    return 0
  }
  const command = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
  if (!command) return wrong(`"${verb}" is not known; known: ${Object.keys(verbs).join(', ')}`)
  try {
    return await command(rest)
  } catch (error) {
    if ((error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')) return wrong((error as Error).message)
    throw error
  }
}

const verbs: Record<string, (words: string[]) => Promise<number>> = {
  add,
  'add-json': addJson,
  list,
  get,
  remove,
  login: (words) => sign(words, 'in'),
  logout: (words) => sign(words, 'out'),
  'reset-project-choices': reset,
  serve,
}

/** Options come before the name; what follows it is the server's own. */
async function add(words: string[]): Promise<number> {
  const at = nameAt(words)
  const { values } = parseArgs({
    args: words.slice(0, at),
    options: {
      transport: { type: 'string', short: 't' },
      scope: { type: 'string', short: 's' },
      env: { type: 'string', short: 'e', multiple: true },
      header: { type: 'string', short: 'H', multiple: true },
      json: { type: 'boolean' },
    },
  })
  const [name, ...after] = words.slice(at)
  const target = after[0] === '--' ? after.slice(1) : after
  if (name === undefined || target[0] === undefined) return wrong('add needs a name and a command or url')
  const isUrl = /^https?:\/\//.test(target[0])
  const type = values.transport ?? (isUrl ? 'http' : 'stdio')
  const env = pairs(values.env, '=')
  const headers = pairs(values.header, ':')
  if (!env) return wrong('--env takes NAME=value')
  if (!headers) return wrong('--header takes "Name: value"')
  const entry =
    type === 'stdio'
      ? { type, command: target[0], args: target.slice(1), ...(Object.keys(env).length > 0 && { env }) }
      : { type, url: target[0], ...(Object.keys(headers).length > 0 && { headers }) }
  return store(name, entry, values.scope, values.json === true)
}

async function addJson(words: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: { scope: { type: 'string', short: 's' }, json: { type: 'boolean' } },
  })
  const [name, text] = positionals
  if (name === undefined || text === undefined) return wrong('add-json needs a name and the declaration as JSON')
  let entry: unknown
  try {
    entry = JSON.parse(text)
  } catch (error) {
    return wrong(`the declaration is not JSON: ${(error as Error).message}`)
  }
  return store(name, entry, values.scope, values.json === true)
}

async function store(name: string, entry: unknown, scope = 'local', json: boolean): Promise<number> {
  if (!isScope(scope)) return wrong(`--scope must be one of ${scopes.join(', ')}`)
  // read as it will be later, with every variable taken as set: what is wrong now would be wrong then
  const anything = new Proxy({}, { get: () => 'x' }) as NodeJS.ProcessEnv
  const { problems } = readServers([{ scope, from: 'add', servers: { [name]: entry } }], anything)
  if (problems.length > 0) return wrong(problems[0]!.replace(/^add: mcpServers\.\S+ /, `${name} `))
  const { secretIn } = await import('../../hooks/redact.ts')
  if (scope === 'project' && secretIn(JSON.stringify(entry))) {
    return wrong('that looks like a secret, and .mcp.json is shared; write ${NAME} and set NAME in the environment')
  }
  const { editSettings } = await import('../../store/settings-edit.ts')
  const file = await fileOf(scope)
  const edited = await editSettings(file, [{ path: ['mcpServers', name], value: entry }])
  if (!edited.ok) return failed(`${file}: ${edited.why}`)
  process.stdout.write(json ? `${JSON.stringify({ name, scope, file })}\n` : `added ${name} to ${file}\n`)
  return 0
}

async function remove(words: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: { scope: { type: 'string', short: 's' }, json: { type: 'boolean' } },
  })
  const [name] = positionals
  if (name === undefined) return wrong('remove needs a name')
  if (values.scope !== undefined && !isScope(values.scope)) return wrong(`--scope must be one of ${scopes.join(', ')}`)
  const found = (await declaredHere()).declared.filter(
    ({ scope, servers }) => Object.hasOwn(servers as JsonObject, name) && (values.scope ?? scope) === scope,
  )
  if (found.length === 0) return failed(`there is no MCP server ${name} to remove; ona mcp list shows them`)
  if (found.length > 1)
    return wrong(`${name} is declared as ${found.map(({ scope }) => scope).join(' and ')}; say --scope`)
  const { editSettings } = await import('../../store/settings-edit.ts')
  const { from, scope } = found[0]!
  const edited = await editSettings(from, [{ path: ['mcpServers', name], value: undefined }])
  if (!edited.ok) return failed(`${from}: ${edited.why}`)
  process.stdout.write(
    values.json ? `${JSON.stringify({ name, scope, file: from })}\n` : `removed ${name} from ${from}\n`,
  )
  return 0
}

async function list(words: string[]): Promise<number> {
  const { values } = parseArgs({ args: words, options: { json: { type: 'boolean' }, 'no-check': { type: 'boolean' } } })
  const { servers, problems, trusted, settings } = await declaredHere()
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  const states = values['no-check']
    ? []
    : await checked(
        servers.filter(({ scope }) => trusted || scope === 'user'),
        settings,
      )
  const told = servers.map((server) => {
    const state = states.find(({ name }) => name === server.name)
    const untrusted = !trusted && server.scope !== 'user'
    const status = untrusted ? 'untrusted' : (state?.status ?? 'unchecked')
    const problem = untrusted ? 'this folder is not trusted; ona --trust trusts it' : (state?.problem ?? '')
    return { ...shown(server), status, problem, tools: state?.tools ?? 0 }
  })
  if (values.json) process.stdout.write(`${JSON.stringify(told)}\n`)
  else if (told.length === 0) process.stdout.write('no MCP servers; ona mcp add NAME COMMAND adds one\n')
  else {
    for (const { name, scope, target, status, problem, tools } of told) {
      const more = status === 'connected' ? `${tools} tools` : problem
      process.stdout.write(`${name}  ${scope}  ${target}  ${status}${more ? ` (${more})` : ''}\n`)
    }
  }
  return 0
}

async function get(words: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: { json: { type: 'boolean' } },
  })
  const { servers, problems } = await declaredHere()
  const server = servers.find(({ name }) => name === positionals[0])
  if (!server) {
    const problem = problems.find((each) => each.includes(`mcpServers.${positionals[0]} `))
    return failed(problem ?? `there is no MCP server ${positionals[0] ?? ''}; ona mcp list shows them`)
  }
  const told = shown(server)
  if (values.json) process.stdout.write(`${JSON.stringify(told)}\n`)
  else
    for (const [key, value] of Object.entries(told))
      process.stdout.write(`${key.padEnd(10)}${[value].flat().join(', ')}\n`)
  return 0
}

async function sign(words: string[], way: 'in' | 'out'): Promise<number> {
  const name = words[0]
  const { servers, settings, trusted } = await declaredHere()
  const server = servers.find((each) => each.name === name)
  if (!server) return failed(`there is no MCP server ${name ?? ''}; ona mcp list shows them`)
  if (!trusted && server.scope !== 'user') return failed('this folder is not trusted; ona --trust trusts it')
  if (server.transport.type === 'stdio') return failed(`${name} runs on this machine; there is nothing to sign in to`)
  const { secretStore } = await import('../../mcp/secrets.ts')
  const secrets = secretStore(process.env)
  if (way === 'out') {
    const { secretKey } = await import('../../mcp/oauth.ts')
    await secrets.remove(secretKey(server.transport.url))
    process.stdout.write(`signed out of ${name}\n`)
    return 0
  }
  const { openBrowser } = await import('../auth.ts')
  const hub = await hubOf([server], settings, {
    secrets,
    openUrl: async (url: string) => {
      process.stderr.write(`Sign in to ${name} in your browser:\n\n  ${url}\n\n`)
      if (process.stderr.isTTY) await openBrowser(url)
    },
  })
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  const done = await hub.signIn(server.name, stop.signal)
  const problem = hub.status()[0]?.problem
  await hub.close()
  if (!done) return failed(`not signed in to ${name}${problem ? `: ${problem}` : ''}`)
  process.stdout.write(`signed in to ${name}\n`)
  return 0
}

async function reset(): Promise<number> {
  const { forgetApprovals } = await import('../../mcp/approval.ts')
  const count = forgetApprovals(process.cwd(), homedir())
  process.stdout.write(`forgot ${count} ${count === 1 ? 'answer' : 'answers'} for ${process.cwd()}\n`)
  return 0
}

async function serve(words: string[]): Promise<number> {
  const { values } = parseArgs({
    args: words,
    options: {
      cwd: { type: 'string' },
      'permission-mode': { type: 'string' },
      tools: { type: 'string' },
      'allowed-tools': { type: 'string', multiple: true },
    },
  })
  const mode = values['permission-mode'] as PermissionMode | undefined
  if (mode !== undefined && !modes.includes(mode)) return wrong(`--permission-mode must be one of ${modes.join(', ')}`)
  const { mcpServe } = await import('./mcp-serve.ts')
  return mcpServe({
    cwd: resolve(values.cwd ?? '.'),
    ...(mode && { mode }),
    ...(values.tools !== undefined && { tools: values.tools.split(',').map((each) => each.trim()) }),
    ...(values['allowed-tools'] && { allow: values['allowed-tools'] }),
  })
}

/** Everything declared here, by scope, the weakest first. */
async function declaredHere() {
  const cwd = process.cwd()
  const { dbPath, openDb } = await import('../../store/open.ts')
  const { loadSettings } = await import('../../store/settings.ts')
  const { readLayers } = await import('../../store/settings-files.ts')
  const places = { cwd, home: homedir(), env: process.env }
  const db = openDb(dbPath())
  const { settings, trusted } = loadSettings({ db, ...places })
  db.close()
  const files = readLayers(places).layers.flatMap(({ level, file, settings: { mcpServers = {} } }): Declared[] =>
    level === 'user' || level === 'local' ? [{ scope: level, from: file, servers: mcpServers }] : [],
  )
  const project = projectServers(cwd)
  const order = ['user', 'project', 'local']
  const declared = [...project.declared, ...files].sort((a, b) => order.indexOf(a.scope) - order.indexOf(b.scope))
  const { servers, problems } = readServers(declared, process.env)
  return {
    declared,
    servers,
    problems: [...project.problems, ...problems],
    trusted,
    settings: settings as ServerPolicy,
  }
}

async function fileOf(scope: Scope): Promise<string> {
  if (scope === 'project') return join(process.cwd(), '.mcp.json')
  const { settingsFileToWrite } = await import('../../store/settings-files.ts')
  return settingsFileToWrite(scope, { cwd: process.cwd(), home: homedir(), env: process.env })
}

async function checked(servers: readonly ServerConfig[], policy: ServerPolicy) {
  if (process.stderr.isTTY && servers.length > 0) process.stderr.write('asking the servers …\n')
  const { secretStore } = await import('../../mcp/secrets.ts')
  const hub = await hubOf(servers, policy, { secrets: secretStore(process.env) })
  await hub.ready(35_000)
  const states = hub.status()
  await hub.close()
  return states
}

async function hubOf(servers: readonly ServerConfig[], policy: ServerPolicy, more: object) {
  const { connectServers } = await import('../../mcp/hub.ts')
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
function shown({ name, scope, transport }: ServerConfig) {
  return transport.type === 'stdio'
    ? {
        name,
        scope,
        transport: transport.type,
        target: [transport.command, ...transport.args].join(' '),
        env: Object.keys(transport.env),
      }
    : { name, scope, transport: transport.type, target: transport.url, headers: Object.keys(transport.headers) }
}

const valued = ['--transport', '-t', '--scope', '-s', '--env', '-e', '--header', '-H']
/** The first word that is neither an option nor an option's value. */
function nameAt(words: readonly string[]): number {
  let at = 0
  while (at < words.length && words[at]!.startsWith('-')) at += valued.includes(words[at]!) ? 2 : 1
  return Math.min(at, words.length)
}

function pairs(texts: readonly string[] = [], between: string): Record<string, string> | undefined {
  const found = texts.map(
    (text) => [text.slice(0, text.indexOf(between)).trim(), text.slice(text.indexOf(between) + 1).trim()] as const,
  )
  return texts.every((text) => text.indexOf(between) > 0) ? Object.fromEntries(found) : undefined
}

const isScope = (word: string): word is Scope => scopes.includes(word as Scope)

function wrong(why: string): number {
  process.stderr.write(`ona mcp: ${why}; ona mcp --help shows how\n`)
  return 2
}

function failed(why: string): number {
  process.stderr.write(`ona mcp: ${why}\n`)
  return 1
}

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
  login NAME, logout NAME    OAuth, for servers over HTTP
  reset-project-choices      asks again about the servers of this folder's .mcp.json
  serve [--cwd DIR] [--permission-mode MODE] [--tools A,B] [--allowed-tools RULE]
                             our tools on stdin and stdout, under the hooks and rules of the folder

Scopes: local (this folder, you alone; the default), project (.mcp.json, for everyone), user (you, everywhere).
\${NAME} and \${NAME:-default} are filled in from the environment. --json prints data as one line.
`

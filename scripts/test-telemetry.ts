/**
 * OpenTelemetry of real agents into a fleet: each runs headless against the rehearsal model with its telemetry pointed at the
 * service, and what it sent must be rows with a tool, its target and an outcome.
 *   node scripts/test-telemetry.ts              claudecode, codex, gemini, copilot
 *   node scripts/test-telemetry.ts codex        only this
 *   node scripts/test-telemetry.ts --record DIR  also write what was sent, for test/fixtures
 * Agents are those that npm run test:prove installs (ONA_AGENTS_CACHE); one that is not there is listed as skipped.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { programOf } from '../src/brains/prove/programs.ts'
import { newKeys } from '../src/fleet/node/identity.ts'
import { startPostgres } from '../src/fleet/private-postgres.ts'
import { openFleet } from '../src/fleet/server/database.ts'
import { initFleet } from '../src/fleet/server/init.ts'
import { addEnrolToken, enrol } from '../src/fleet/server/node-access.ts'
import { serveFleet } from '../src/fleet/server/serve.ts'
import { addToken } from '../src/fleet/server/user-access.ts'
import { hostOf } from '../src/hosts/index.ts'
import type { LaunchPlace } from '../src/hosts/launch.ts'
import { query } from '../test/support/fleet.ts'
import { startModel } from './live/model.ts'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { record: { type: 'string' } } })

interface Telemetry {
  env(url: string, token: string): Record<string, string>
  setup?(place: LaunchPlace, url: string, token: string): void
  /** Variables of its launch that switch telemetry off. */
  readonly without?: readonly string[]
}

const standard = (url: string, token: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer ${token}`,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
})

const agents: Record<string, Telemetry> = {
  claudecode: {
    without: ['DISABLE_TELEMETRY', 'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC'],
    env: (url, token) => ({
      ...standard(url, token),
      ...{ CLAUDE_CODE_ENABLE_TELEMETRY: '1', OTEL_LOGS_EXPORTER: 'otlp', OTEL_LOGS_EXPORT_INTERVAL: '500' },
      ...{ OTEL_LOG_TOOL_DETAILS: '1', DISABLE_ERROR_REPORTING: '1', DISABLE_BUG_COMMAND: '1' },
    }),
  },
  codex: {
    env: () => ({}),
    setup(place, url, token) {
      const file = join(place.home, '.codex/config.toml')
      const exporter = `{ otlp-http = { endpoint = "${url}/v1/logs", protocol = "binary", headers = { "Authorization" = "Bearer ${token}" } } }`
      place.put(file, readFileSync(file, 'utf8').replace('exporter = "none"', `exporter = ${exporter}`))
    },
  },
  gemini: {
    without: ['GEMINI_TELEMETRY_ENABLED'],
    env: (url, token) => ({
      ...standard(url, token),
      ...{ GEMINI_TELEMETRY_ENABLED: 'true', GEMINI_TELEMETRY_TARGET: 'local' },
      ...{ GEMINI_TELEMETRY_OTLP_ENDPOINT: url, GEMINI_TELEMETRY_OTLP_PROTOCOL: 'http' },
    }),
  },
  copilot: {
    env: (url, token) => ({
      ...standard(url, token),
      // without it spans name the tool, and not what it was called with
      ...{ COPILOT_OTEL_ENABLED: 'true', OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' },
    }),
  },
}

const wrong = positionals.find((name) => !(name in agents))
if (wrong) {
  console.error(`there is no telemetry test for "${wrong}"; there is one for ${Object.keys(agents).join(', ')}`)
  process.exit(2)
}

const top = realpathSync(mkdtempSync(join(tmpdir(), 'ona-telemetry-')))
const pgFolder = mkdtempSync(join(tmpdir(), 'ona-pg-'))
const postgres = await startPostgres(pgFolder, { settings: ['fsync=off'] })
let failed = false
try {
  await initFleet(postgres.url())
  const fleet = openFleet(postgres.url())
  const service = await serveFleet(fleet, { onError: (cause, path) => console.error(path, cause) })
  for (const name of positionals.length > 0 ? positionals : Object.keys(agents)) failed = !(await check(name)) || failed
  await service.close()
  await fleet.close()

  async function check(name: string): Promise<boolean> {
    const host = hostOf(name)!
    const program = programOf(host)
    if (!program) {
      console.log(`- ${name}: skipped: ${host.launch!.program} is not installed`)
      return true
    }
    const token = await fleet.as('admin', undefined, (sql) =>
      addEnrolToken(sql, 'test', { person: 'ada', team: 'core', groups: [], ring: 'all', worker: false, hours: 1 }),
    )
    const { node } = await enrol(fleet, { token, name, publicKey: newKeys().publicKey }, '')
    const bearer = await fleet.as('admin', undefined, (sql) =>
      addToken(sql, { actor: name, role: 'telemetry', via: 'static', node, by: 'test' }),
    )
    const recorder = await recording(service.url, name)
    const model = await startModel('echo hello > ran.txt')
    const output = await run(name, program, model.url, recorder.url, bearer)
    await model.close()
    const rows = () =>
      query<{
        type: string
        tool: string | null
        target: string | null
        is_error: boolean | null
        tokens: number | null
        session: string
      }>(
        postgres.url(),
        `SELECT r.type, r.tool_name AS tool, r.is_error, r.tokens::int, r.session_id AS session,
           (SELECT target FROM ona_fleet.calls c WHERE c.node_id = r.node_id AND c.row_id = r.row_id) AS target
         FROM ona_fleet.rows r WHERE node_id = $1 ORDER BY at, type`,
        [node],
      )
    for (let waited = 0; waited < 10_000 && !(await rows()).some(({ target }) => target); waited += 200)
      await sleep(200)
    const found = await rows()
    await recorder.close()
    const call = found.find(({ target }) => target?.includes('echo hello'))
    const hasTokens = found.some(({ tokens }) => (tokens ?? 0) > 0)
    const isGood = call !== undefined && call.tool !== null && call.is_error === false && hasTokens
    console.log(
      `${isGood ? '✔' : '✖'} ${name}: ${found.length} rows of ${new Set(found.map(({ session }) => session)).size} session; ${call ? `${call.tool}: ${call.target}` : 'no call'}`,
    )
    for (const { type, tool, target, is_error, tokens } of isGood ? [] : found)
      console.log(`    ${type} ${tool ?? ''} ${target ?? ''} ${is_error ?? ''} ${tokens ?? ''}`)
    if (!isGood) console.log(output.slice(-1500))
    return isGood
  }
} finally {
  await postgres.stop('immediate')
  for (const each of [top, pgFolder]) rmSync(each, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)

async function run(name: string, program: string, model: string, url: string, token: string): Promise<string> {
  const [home, repo] = [join(top, name, 'home'), join(top, name, 'repo')]
  for (const folder of [home, repo]) mkdirSync(folder, { recursive: true })
  const place: LaunchPlace = {
    ...{ home, repo, model, mcp: [] },
    put(path, content) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    },
  }
  const { launch } = hostOf(name)!
  launch!.setup?.(place)
  const telemetry = agents[name]!
  telemetry.setup?.(place, url, token)
  const base = Object.fromEntries(
    Object.entries(launch!.env?.(place) ?? {}).filter(([variable]) => !telemetry.without?.includes(variable)),
  )
  return new Promise((resolve) => {
    const child = spawn(program, launch!.args(place, 'Run the command.'), {
      cwd: repo,
      env: { PATH: process.env['PATH'], HOME: home, ...base, ...telemetry.env(url, token) },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 180_000,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (output += piece))
    child.on('close', () => resolve(output))
  })
}

/** Passes everything on to the service; keeps what was sent where --record says so. */
async function recording(to: string, name: string) {
  let count = 0
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const body = Buffer.concat(pieces)
    if (values.record !== undefined && /\/v1\/(logs|traces)$/.test(request.url ?? '')) {
      mkdirSync(values.record, { recursive: true })
      const type = request.headers['content-type']?.includes('json') ? 'json' : 'pb'
      const zip = request.headers['content-encoding'] === 'gzip' ? '.gz' : ''
      writeFileSync(join(values.record, `${name}-${request.url!.split('/').at(-1)}-${++count}.${type}${zip}`), body)
    }
    const { host: _, connection: __, 'transfer-encoding': ___, 'content-length': ____, ...headers } = request.headers
    const answer = await fetch(`${to}${request.url}`, {
      method: request.method!,
      headers: headers as Record<string, string>,
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    }).catch((cause: Error) => new Response(cause.message, { status: 502 }))
    if (answer.status !== 200) console.error(`${name}: ${request.url} was answered ${answer.status}`)
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** A busy session among planted keys: afterwards no file that ona wrote, and nothing that a hook read, holds one. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { eventNames } from '../src/hooks/events.ts'
import { stepNames } from '../src/hooks/steps.ts'
import { call, type Line, testModel } from './support/model/model.ts'
import { status, stream, wireServer } from './support/model/wire-server.ts'
import { type Place, place, type Ran } from './support/program.ts'

/** No form that a pattern could know: only their values give them away. */
const key = (name: string) => `${name}-zq7${crypto.randomUUID().replaceAll('-', '')}`
const keys = {
  ANTHROPIC_API_KEY: key('anthropic'),
  ANTHROPIC_AUTH_TOKEN: key('bearer'),
  CLAUDE_CODE_OAUTH_TOKEN: key('oauth'),
  OPENAI_API_KEY: key('openai'),
  LM_STUDIO_API_KEY: key('local'),
}
const ofSettings = { mcp: key('mcp'), header: key('header'), variable: key('variable') }
const everyKey = [...Object.values(keys), ...Object.values(ofSettings)]
const credentials = Object.values(keys)

interface Planted {
  readonly at: Place
  readonly log: string
  readonly stderr: string[]
  run(words: string[], options?: { env?: Record<string, string>; input?: string }): Promise<Ran>
}

/** Hooks at every event and step keep what they read, and say the keys on both streams. */
async function planted(t: TestContext, env: Record<string, string>, said = credentials): Promise<Planted> {
  const at = place(t, env)
  const log = join(at.home, 'hook-stdin.txt')
  const loud = `cat >> ${log}; cat ${at.write('leak.txt', said.join('\n'))} >&2; cat leak.txt`
  const listener = await wireServer(status(200, { systemMessage: said[0] }))
  t.after(() => listener.close())
  const http = {
    type: 'http',
    url: `${listener.url}/?token=${ofSettings.header}`,
    headers: { Authorization: `Bearer ${ofSettings.header}` },
  }
  mkdirSync(join(at.home, '.ona'), { recursive: true })
  writeFileSync(
    join(at.home, '.ona/settings.json'),
    JSON.stringify({
      env: { MY_API_TOKEN: ofSettings.variable },
      mcpServers: { gone: { command: '/nonexistent', env: { TOKEN: ofSettings.mcp } } },
      hooks: Object.fromEntries(
        [...eventNames, ...stepNames].map((name) => [
          name,
          [
            {
              matcher: '',
              hooks: [{ type: 'command', shell: 'sh', command: loud }, ...(name === 'Stop' ? [http] : [])],
            },
          ],
        ]),
      ),
    }),
  )
  const stderr: string[] = []
  return {
    at,
    log,
    stderr,
    async run(words, options) {
      const ran = await at.run(words, options)
      stderr.push(ran.stderr)
      return ran
    },
  }
}

/** Where one of the keys lies in the open. The files that the test itself planted are left out. */
function found({ at, log, stderr }: Planted): string[] {
  const own = [join(at.home, '.ona/settings.json'), join(at.folder, 'leak.txt')]
  const top = join(at.home, '..')
  const files = (readdirSync(top, { recursive: true }) as string[])
    .map((file) => join(top, file))
    .filter((file) => statSync(file).isFile() && !own.includes(file))
  assert.ok(files.includes(at.db) && files.includes(log))
  const texts = new Map(files.map((file) => [file, readFileSync(file, 'latin1')]))
  texts.set('stderr', stderr.join('\n'))
  return [...texts].flatMap(([file, text]) =>
    everyKey.filter((secret) => text.includes(secret)).map((secret) => `${file}: ${secret.split('-')[0]}`),
  )
}

const leak = credentials.join(' and ')

/** Every way in which text gets from the model into rows. */
const busy = (): Line[] => [
  call('Bash', { command: 'cat leak.txt; env', description: leak }),
  call('Read', { file_path: 'leak.txt' }),
  call('Grep', { pattern: 'zq7', output_mode: 'content' }),
  call('WebFetch', { url: `http://127.0.0.1:9/?key=${credentials[0]}`, prompt: leak }),
  call('TodoWrite', { todos: [{ content: leak, status: 'pending', activeForm: leak }] }),
  call('NoSuchTool', { text: leak }),
  call('Write', { file_path: 'made.txt', content: 'nothing' }),
  call('Agent', { description: leak, prompt: leak, subagent_type: 'explore' }),
  { text: leak },
  call('EnterPlanMode', {}),
  call('ExitPlanMode', { plan: `# ${leak}\n\n## Success criteria\n- ${leak}\n` }),
  { text: leak },
]

test("a busy session leaves no key in the database, in a log or on a hook's stdin", async (t) => {
  const model = await testModel(t, [...busy(), { text: leak }, { fail: { status: 400, message: leak } }])
  const here = await planted(t, { ...keys, ...model.env })
  const words = ['--model', 'lm_studio_local/rehearsal', '--permission-mode', 'bypassPermissions']
  const first = await here.run(['-p', `remember ${leak}`, '--name', leak, '--record', 'tape.yaml', ...words])
  assert.equal(first.code, 0, first.stderr)
  await here.run(['-p', `more ${leak}`, '--continue', '--debug', ...words])
  const failed = await here.run(['-p', leak, '--continue', ...words])
  assert.equal(failed.code, 1)
  await here.run(words, {
    input: `hello ${leak}\n/compact ${leak}\n/rename ${leak}\n!cat leak.txt\n# ${leak}\n/status\n`,
  })
  await here.run(['--eval', JSON.stringify({ tool: 'Bash', input: { command: `echo ${leak}; cat leak.txt` } })])

  const rows = here.at.rows<{ n: number }>('SELECT count(*) AS n FROM hook_invocations')
  assert.ok(rows[0]!.n > 60, 'it was busy')
  assert.deepEqual(found(here), [])
})

test('neither do refused keys, error bodies and addresses of a provider', async (t) => {
  const server = await wireServer(
    status(500, {
      type: 'error',
      error: { type: 'api_error', message: `at https://x/?key=${credentials[0]} ${leak}` },
    }),
    status(401, { type: 'error', error: { type: 'authentication_error', message: `invalid key ${leak}` } }),
    status(400, `<html>${leak}</html>`),
    stream([`event: error\ndata: {"type":"error","error":{"type":"api_error","message":"${leak}"}}\n\n`]),
  )
  t.after(() => server.close())
  const address = server.url.replace('http://', `http://user:${ofSettings.header}@`)
  const here = await planted(t, { ...keys, ANTHROPIC_BASE_URL: address, CLAUDE_CODE_MAX_RETRIES: '0' })
  for (let run = 0; run < 4; run++) {
    const ran = await here.run(['-p', 'hello', '--model', 'sonnet', '--output-format', 'stream-json'])
    assert.equal(ran.code, 1)
    assert.deepEqual(
      everyKey.filter((secret) => ran.stdout.includes(secret)),
      [],
      `stdout of run ${run}: ${ran.stdout}`,
    )
  }
  const gone = await here.run(['-p', 'hello', '--model', 'sonnet'], {
    env: { ANTHROPIC_BASE_URL: `http://user:${ofSettings.header}@127.0.0.1:9/${credentials[0]}` },
  })
  assert.equal(gone.code, 1)
  assert.deepEqual(found(here), [])
})

test('what a helper prints is kept nowhere', async (t) => {
  const secret = key('helper')
  everyKey.push(secret)
  const server = await wireServer(status(403, { type: 'error', error: { message: `no ${secret}` } }))
  t.after(() => server.close())
  const here = await planted(t, { ANTHROPIC_BASE_URL: server.url, CLAUDE_CODE_MAX_RETRIES: '0' }, [])
  const file = join(here.at.home, '.ona/settings.json')
  const settings = JSON.parse(readFileSync(file, 'utf8'))
  const [name, value] = secret.split('-') as [string, string]
  writeFileSync(file, JSON.stringify({ ...settings, apiKeyHelper: `printf %s-%s ${name} ${value}` }))
  const ran = await here.run(['-p', 'hello', '--model', 'sonnet'])
  assert.equal(ran.stdout.includes(secret), false)
  const { 'x-api-key': sent, authorization } = server.seen[0]!.headers
  assert.equal(sent ?? authorization?.replace('Bearer ', ''), secret)
  assert.deepEqual(found(here), [])
})

/**
 * Runs real agents headless against a model on loopback and sees the hooks fire. An agent is found on the PATH or named by
 * an environment variable (ONA_LIVE_CLAUDECODE=/path/to/claude); those that are not there are listed as skipped.
 *   npm run test:live            all that are found
 *   npm run test:live codex      only these
 */
import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { agentsCache } from '../src/brains/prove/programs.ts'
import { hostOf } from '../src/hosts/index.ts'
import type { LaunchPlace } from '../src/hosts/launch.ts'
import { publishedFiles } from '../test/support/published-roles.ts'
import { agents, type LiveAgent, ownProgram } from './live/agents.ts'
import { failClosed } from './live/failures.ts'
import { startModel } from './live/model.ts'

const asked = process.argv.slice(2)
const known = agents.map(({ slug }) => slug)
const wrong = asked.find((word) => !known.includes(word))
if (wrong) {
  console.error(`there is no live test for "${wrong}"; there is one for ${known.join(', ')}`)
  process.exit(2)
}
const checks = [
  ['hooks fire', watches],
  ['exit 2 refuses', refuses],
  ['what boot prints is heard', boots],
  ['what a hook prints to a prompt is heard', talks],
  ['exit 2 at the end goes on', goesOn],
  ['a guard that fails refuses', failsClosed],
  ['published roles run', published],
  ['the dispatcher is heard', dispatches],
] as const
let failed = false
for (const agent of agents.filter(({ slug }) => asked.length === 0 || asked.includes(slug))) {
  const program = programOf(agent)
  if (!program) {
    console.log(
      `- ${agent.slug}: skipped: ${agent.launch ? `${agent.launch.program} is not on the PATH and ${variable(agent)} is not set` : 'it has no program that runs without a screen'}`,
    )
    continue
  }
  for (const [name, check] of checks) {
    if (agent.cannot?.includes(name) || (check === dispatches && !agent.dispatcher)) continue
    // one agent of a kind is enough: these do not look at the other agents' files
    if ((check === failsClosed || check === published) && agent.beside) continue
    if (check === published && agent.slug !== 'claudecode') continue
    const startedAt = performance.now()
    const why = await check(agent, program)
    failed ||= why.length > 0
    console.log(
      `${why.length === 0 ? '✔' : '✖'} ${[agent.slug, ...(agent.beside ?? [])].join(' + ')}: ${name} (${Math.round((performance.now() - startedAt) / 1000)} s)${why.map((line) => `\n    ${line}`).join('')}`,
    )
  }
}
for (const agent of agents.filter(({ slug, beside }) => !beside && (asked.length === 0 || asked.includes(slug)))) {
  if (!programOf(agent) || agent.slug === 'cursor') continue
  const why = await proves(agent.slug)
  failed ||= why.length > 0
  console.log(
    `${why.length === 0 ? '✔' : '✖'} ${agent.slug}: the policy is proved, and without it the proof fails${why.map((line) => `\n    ${line}`).join('')}`,
  )
}
process.exit(failed ? 1 : 0)

/** `ona prove` with the example policy, and with no policy at all. */
async function proves(slug: string): Promise<string[]> {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'ona-live-prove-')))
  const rules = join(import.meta.dirname, '../examples/policy/policy.yaml')
  const ona = async (...words: string[]) =>
    runProgram(process.execPath, [join(import.meta.dirname, '../bin/ona.mjs'), ...words], top, process.env, 600_000)
  await ona('enforce', 'apply', '--rules', rules, '--root', join(top, 'root'))
  mkdirSync(join(top, 'empty'))
  const held = await ona('prove', slug, '--root', join(top, 'root'))
  const bare = await ona('prove', slug, '--root', join(top, 'empty'), '--rules', rules)
  rmSync(top, { recursive: true, force: true })
  return [
    ...(held.includes('[exit 0]') ? [] : ['something went through:', held.slice(-1500)]),
    ...(bare.includes('[exit 1]') && bare.includes('went through') ? [] : ['without the policy:', bare.slice(-1500)]),
  ]
}

/** Every event of a role is seen with what it should carry, and a filter keeps out what it should. */
async function watches(agent: LiveAgent, program: string): Promise<string[]> {
  const log = (name: string) => `node log.mjs ${name}`
  const { place, output } = await runWith(agent, program, {
    onBoot: [{ command: log('boot'), timeout: 'PT20S' }],
    onTool: [
      { command: log('before'), timeout: 'PT20S', filter: { what: 'Bash' } },
      { command: log('after'), timeout: 'PT20S', filter: { what: 'Bash', when: 'after' } },
      { command: log('other'), timeout: 'PT20S', filter: { what: 'Write' } },
    ],
    onStop: [{ command: log('stop'), timeout: 'PT20S' }],
  })
  const seen = existsSync(join(place.repo, 'log'))
    ? readFileSync(join(place.repo, 'log'), 'utf8').trim().split('\n')
    : []
  const names = seen.map((line) => line.split(' ')[0]!)
  const why: string[] = []
  for (const name of ['boot', 'before', 'after', 'stop']) {
    const times = names.filter((one) => one === name).length
    if (times !== 1) why.push(`${name} fired ${times} times`)
  }
  if (names.includes('other')) why.push('a hook for Write fired on a shell command')
  if (!seen.find((line) => line.startsWith('before '))?.includes('ran.txt'))
    why.push('the payload before the tool has no command in it')
  if (!existsSync(join(place.repo, 'ran.txt'))) why.push('the agent did not run the command')
  if (why.length > 0)
    why.push(`log: ${seen.map((line) => line.slice(0, 200)).join(' | ')}`, `said: ${output.slice(-1500)}`)
  place.remove()
  return why
}

/** A hook that exits 2 keeps the tool from running, and the model hears why. */
async function refuses(agent: LiveAgent, program: string): Promise<string[]> {
  const guard = { command: 'node refuse.mjs', timeout: 'PT20S', filter: { what: 'Bash' } }
  const { place, output, heard } = await runWith(agent, program, { onTool: [guard] })
  const why: string[] = []
  if (existsSync(join(place.repo, 'ran.txt'))) why.push('the command ran all the same')
  if (!heard.includes('not on my watch')) why.push('the model was not told why')
  if (why.length > 0) why.push(`said: ${output.slice(-1500)}`)
  place.remove()
  return why
}

async function boots(agent: LiveAgent, program: string): Promise<string[]> {
  const { place, output, heard } = await runWith(agent, program, {
    onBoot: [{ command: 'echo remember the milk', timeout: 'PT20S' }],
  })
  place.remove()
  return heard.includes('remember the milk') ? [] : ['the model did not hear it', `said: ${output.slice(-1500)}`]
}

async function talks(agent: LiveAgent, program: string): Promise<string[]> {
  const { place, output, heard } = await runWith(agent, program, {
    onTalk: [{ command: 'echo the user speaks softly', timeout: 'PT20S' }],
  })
  place.remove()
  return heard.includes('the user speaks softly') ? [] : ['the model did not hear it', `said: ${output.slice(-1500)}`]
}

/** One session for all failures of a guard: no call may run, and the agent must go on. */
async function failsClosed(agent: LiveAgent, program: string): Promise<string[]> {
  const host = hostOf(agent.slug)!
  const why: string[] = []
  for (const mode of ['synced', 'enforced'] as const)
    for (const { name, outcome, expect, evidence } of await failClosed(host, program, ownProgram, mode)) {
      console.log(`  | ${agent.slug} | ${mode} | ${name} | ${outcome} |`)
      if (outcome !== expect) why.push(`${mode}: ${name}: ${outcome}: ${evidence}`)
    }
  return why
}

/** A package of the published shape: its hooks are `rhachet run …` and `rhachet roles boot …`, and none refuses the tool. */
async function published(agent: LiveAgent, program: string): Promise<string[]> {
  const words = ['init', '--roles', 'mechanic', '--hooks', agent.slug]
  const { place, output, heard } = await runWith(agent, program, {}, { words, files: publishedFiles })
  const why: string[] = []
  if (!existsSync(join(place.repo, 'ran.txt'))) why.push('a hook refused the command')
  if (!heard.includes('Keep it clean.')) why.push('rhachet roles boot was not heard')
  if (!heard.includes('hello from the garage')) why.push('the onTalk hook was not heard')
  if (why.length > 0) why.push(`said: ${output.slice(-1500)}`)
  place.remove()
  const forbidden = await runWith(
    agent,
    program,
    {},
    { words, files: publishedFiles, command: 'echo forbidden > ran.txt' },
  )
  if (existsSync(join(forbidden.place.repo, 'ran.txt'))) why.push('the check of the role did not refuse')
  if (!forbidden.heard.includes('not in this garage')) why.push('the model was not told why')
  forbidden.place.remove()
  return why
}

async function goesOn(agent: LiveAgent, program: string): Promise<string[]> {
  const hold = 'test -e held || { touch held; echo one more thing >&2; exit 2; }'
  const { place, output, heard } = await runWith(agent, program, { onStop: [{ command: hold, timeout: 'PT20S' }] })
  place.remove()
  return heard.includes('one more thing') ? [] : ['the agent stopped all the same', `said: ${output.slice(-1500)}`]
}

/** The dispatcher's guard keeps a walk over the whole disk from running, and the model hears why and whose session it is. */
async function dispatches(agent: LiveAgent, program: string): Promise<string[]> {
  const words = ['dispatcher', 'install', '--host', agent.dispatcher!, '--modules', 'all']
  const { place, output, heard } = await runWith(agent, program, {}, { words, command: 'find / -maxdepth 1 > ran.txt' })
  const why: string[] = []
  if (existsSync(join(place.repo, 'ran.txt'))) why.push('the command ran all the same')
  if (!heard.includes('walks the whole repository')) why.push('the model was not told why')
  if (!heard.includes('[hook-session-info] session ')) why.push('the model was not told of its session')
  if (why.length > 0) why.push(`said: ${output.slice(-1500)}`)
  place.remove()
  return why
}

/** `words`: how ona is called beforehand. `command`: what the model wants run. */
async function runWith(
  agent: LiveAgent,
  program: string,
  onBrain: object,
  {
    words = ['init', '--roles', 'watcher', '--hooks', agent.slug, ...(agent.beside ?? [])],
    command = 'echo live > ran.txt',
    files = {},
  }: { words?: readonly string[]; command?: string; files?: Readonly<Record<string, string>> } = {},
) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), `ona-live-${agent.slug}-`)))
  const model = await startModel(command)
  const place: LaunchPlace & { remove(): void } = {
    home: join(root, 'home'),
    repo: join(root, 'repo'),
    model: model.url,
    mcp: [],
    put(path, text) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, typeof text === 'string' ? text : `${JSON.stringify(text, null, 2)}\n`)
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
  const env = {
    PATH: process.env['PATH'],
    HOME: place.home,
    SHELL: '/bin/bash',
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    ...agent.launch?.env?.(place),
  }
  place.put(join(place.repo, 'ona.roles.json'), { repo: 'live', roles: [{ slug: 'watcher', hooks: { onBrain } }] })
  place.put(
    join(place.repo, 'log.mjs'),
    `import { appendFileSync, readFileSync } from 'node:fs'\nappendFileSync(import.meta.dirname + '/log', process.argv[2] + ' ' + JSON.stringify(JSON.parse(readFileSync(0, 'utf8'))) + '\\n')\n`,
  )
  place.put(
    join(place.repo, 'refuse.mjs'),
    `import { readFileSync } from 'node:fs'\nreadFileSync(0)\nconsole.error('not on my watch')\nprocess.exit(2)\n`,
  )
  place.put(join(place.repo, 'no-interpreter'), '#!/no/such/interpreter\n')
  chmodSync(join(place.repo, 'no-interpreter'), 0o755)
  for (const [path, text] of Object.entries(files)) {
    place.put(join(place.repo, path), text)
    if (path.endsWith('.sh')) chmodSync(join(place.repo, path), 0o755)
  }
  if (Object.keys(files).length > 0) {
    mkdirSync(join(place.repo, 'node_modules/.bin'), { recursive: true })
    symlinkSync(join(import.meta.dirname, '../bin/ona.mjs'), join(place.repo, 'node_modules/.bin/rhachet'))
  }
  mkdirSync(place.home, { recursive: true })
  await runProgram('git', ['init', '-q'], place.repo, env)
  const init = await runProgram(
    process.execPath,
    [join(import.meta.dirname, '../bin/ona.mjs'), ...words],
    place.repo,
    env,
  )
  agent.launch?.setup?.(place)
  const args = agent.launch?.args(place, 'Run the command.') ?? []
  const output = init + (await runProgram(program, args, place.repo, env))
  await model.close()
  return { place, output, heard: model.requests.map(({ body }) => body).join('\n') }
}

/** What it said; ended after two minutes with all that it started. */
function runProgram(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  limitMs = 120_000,
): Promise<string> {
  return new Promise((done) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let said = ''
    const hear = (chunk: Buffer) => {
      said += chunk
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), limitMs)
    child.on('error', (cause) => done(cause.message))
    child.on('close', (code) => {
      clearTimeout(timer)
      done(`${said}\n[exit ${code}]\n`)
    })
  })
}

function variable({ slug }: LiveAgent): string {
  return `ONA_LIVE_${slug.toUpperCase()}`
}

function programOf(agent: LiveAgent): string | null {
  const named = process.env[variable(agent)]
  if (named) return named
  const name = agent.launch?.program
  if (!name || isAbsolute(name)) return name ?? null
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    join(agentsCache(), agent.slug, 'node_modules/.bin'),
  ]
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null
}

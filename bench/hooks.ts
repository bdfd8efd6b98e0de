/**
 * What asking hooks costs over the least that it can cost: `node bench/hooks.ts`. Once with an empty home, once with a profile
 * that runs as many programs as an ordinary developer's; between two calls a model takes its time, as it does in a session.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { defineHook, defineStepHook } from '../src/hooks/define.ts'
import { createPlane } from '../src/hooks/dispatch.ts'
import type { Handler } from '../src/hooks/handler.ts'
import { warmShells } from '../src/hooks/handlers/shells/warm-shell.ts'
import type { Plane, Scope } from '../src/hooks/plane.ts'
import { readHooks } from '../src/hooks/settings.ts'
import type { Steps } from '../src/hooks/steps.ts'
import { median } from './lib/processes.ts'
import { developerProfile, profilePrograms } from './lib/profile.ts'
import { type Line, report } from './lib/report.ts'

const place = mkdtempSync(join(tmpdir(), 'ona-bench-'))
const samples = Number(process.argv[2] ?? 61)
const scope: Scope = {
  sessionId: 's',
  conversationId: 'c',
  dbPath: join(place, 'agent.db'),
  cwd: place,
  toolUseId: 't',
  record() {},
}
const tool_input = { command: 'npm test -- --watch=false', description: 'runs the tests' }

function ask(plane: Plane) {
  const step: Steps['before_tool_apply'] = { toolName: 'Bash', safety: 'destructive', args: tool_input, result: null }
  const fields = { tool_name: 'Bash', tool_input, tool_use_id: 't' }
  return plane.ask('before_tool_apply', step, scope, { name: 'PreToolUse', fields })
}

/** A home of its own: what somebody's profile does is not measured. A locale, which every program reads: a hook always has one. */
const env = { ...process.env, LANG: 'C.UTF-8', HOME: place }

/** The same shell, command, input and answer, with nothing around it. */
const input = `${JSON.stringify({ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input })}\n`
const bareSpawn = () =>
  new Promise<number | null>((resolve) => {
    const child = spawn('/bin/bash', ['-lc', command], { cwd: place, env, detached: true })
    const out: Buffer[] = []
    child.stdout.on('data', (chunk) => out.push(chunk))
    child.stderr.on('data', (chunk) => out.push(chunk))
    child.stdin.end(input)
    child.on('close', resolve)
  })

const command = 'cat > /dev/null; echo ok'
/** Hooks that start no process, or become one. */
const lighter = { 'of builtins': 'read -r line; echo ok', 'that is one program': 'cat > /dev/null' }
const hooks = (count: number, { text = command, ...more }: { text?: string; parallel?: true } = {}): Handler[] =>
  Array.from({ length: count }, (_, at) => ({
    event: 'PreToolUse',
    source: { kind: 'settings' },
    matcher: 'Bash',
    ifCondition: '',
    kind: 'command',
    shell: 'bash',
    command: `${text}${' '.repeat(at)}`, // the very same one twice in a row would be dropped
    ...more,
  }))

/** Milliseconds of each, in turns and from both ends, so that what else the machine does falls on all alike. */
async function inTurns(rounds: number, ...works: (() => Promise<unknown>)[]): Promise<number[]> {
  const times: number[][] = works.map(() => [])
  const order = [...works.entries()]
  for (let round = -3; round < rounds; round++)
    for (const [at, work] of round % 2 === 0 ? order : order.toReversed()) {
      const startedAt = performance.now()
      await work()
      if (round >= 0) times[at]!.push(performance.now() - startedAt)
    }
  return times.map(median)
}

const developer = join(place, 'developer')
mkdirSync(developer)
writeFileSync(join(developer, '.bash_profile'), developerProfile)
/** The model takes its time: at least this long, and on a busy machine until the shells that were used are there again. */
const modelMs = 50
const mostMs = 20_000
async function pause(plane: Plane | undefined, shells: number): Promise<void> {
  const begin = performance.now()
  plane?.expectCalls(scope) // as a session does when it asks the model
  do await new Promise((resolve) => setTimeout(resolve, modelMs))
  while (warmShells() < shells && performance.now() - begin < mostMs)
}

/** The least that a hook can cost: a shell that waits for a byte runs the command, bare. */
async function waitingShell(home: string): Promise<() => Promise<unknown>> {
  const script = `printf r >&3; read -r -N 1 -u 3 word; exec 3>&-; ${command}`
  const child = spawn('/bin/bash', ['-lc', script], {
    ...{ cwd: place, env: { ...process.env, HOME: home }, detached: true },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  })
  const channel = child.stdio[3] as Duplex
  await once(channel, 'data')
  return () => {
    const closed = once(child, 'close')
    channel.write('g')
    for (const stream of [child.stdout!, child.stderr!]) stream.resume()
    child.stdin!.end(input)
    return closed
  }
}

interface Warm {
  readonly one: number
  readonly five: number
  readonly parallel: number
  readonly unpaused: number
  readonly bare: number
  readonly fiveBare: number
  readonly least: number
  /** Of the lighter hooks: of each, and of its bare spawn. */
  readonly light: readonly (readonly [number, number])[]
}

/** Milliseconds that one and five hooks add, after a pause in which shells are started ahead. */
async function warm(home: string): Promise<Warm> {
  const own = { ...env, HOME: home }
  const planes = [hooks(1), hooks(5), hooks(5, { parallel: true })].map((each) => createPlane(each, { env: own }))
  const [one, five, parallel] = planes as [Plane, Plane, Plane]
  const bareSh = (text = command) =>
    new Promise((resolve) =>
      spawn('/bin/sh', ['-c', text], { cwd: place, env: own }).on('close', resolve).stdin.end(input),
    )
  const fiveBare = async () => {
    for (let each = 0; each < 5; each++) await bareSh()
  }
  const others = warmShells()
  const works = [
    { plane: one, shells: 1, work: () => ask(one) },
    { plane: undefined, shells: 0, work: () => bareSh() },
    { plane: five, shells: 5, work: () => ask(five) },
    { plane: undefined, shells: 0, work: fiveBare },
    { plane: undefined, shells: 0, work: () => least() },
    ...Object.values(lighter).flatMap((text) => {
      const plane = createPlane(hooks(1, { text }), { env: own })
      return [
        { plane, shells: 1, work: () => ask(plane) },
        { plane: undefined, shells: 0, work: () => bareSh(text) },
      ]
    }),
    { plane: parallel, shells: 5, work: () => ask(parallel) },
  ]
  const times: number[][] = works.map(() => [])
  let least = await waitingShell(home)
  for (let round = -2; round < Math.ceil(samples / 4); round++)
    for (const [at, { plane, shells, work }] of works.entries()) {
      await pause(plane, others + shells)
      const startedAt = performance.now()
      await work()
      if (round >= 0) times[at]!.push(performance.now() - startedAt)
      if (at === works.length - 1) least = await waitingShell(home)
    }
  await least()
  const [unpaused] = await inTurns(Math.ceil(samples / 4), () => ask(five))
  const [oneMs, bareMs, fiveMs, fiveBareMs, leastMs, ...rest] = times.map(median) as [number, ...number[]]
  const parallelMs = rest.pop()
  return {
    ...{ one: oneMs!, five: fiveMs!, parallel: parallelMs!, unpaused: unpaused! },
    ...{ bare: bareMs!, fiveBare: fiveBareMs!, least: leastMs! },
    light: Object.keys(lighter).map((_, at) => [rest[2 * at]!, rest[2 * at + 1]!]),
  }
}

const inEmpty = await warm(place)
const inDeveloper = await warm(developer)

const one = createPlane(hooks(1), { env: { ...env, ONA_WARM_SHELLS: '0' } })
const [bare, ours] = await inTurns(samples, bareSpawn, () => ask(one))

/** Five programs that stay; the last answer is awaited before the next is asked. */
const program = join(import.meta.dirname, '../examples/hooks/persistent.py')
const entry = (at: number) => ({ hook_event_name: 'PreToolUse', persistent: true, command: program, args: [`${at}`] })
const { handlers: staying } = readHooks(
  { hooks: Array.from({ length: 5 }, (_, at) => entry(at)) },
  { source: { kind: 'settings' } },
)
const persistentPlane = createPlane(staying, { env })
const exchange = await bareStaying(5)
const [persistent, exchanged] = await inTurns(200, () => ask(persistentPlane), exchange.ask)
exchange.end()

/** The least that so many can cost: a line to each program, one after another, and a line back. */
async function bareStaying(count: number): Promise<{ ask(): Promise<void>; end(): void }> {
  const line = `{"id":1,"input":${input.trim()}}\n`
  const children = Array.from({ length: count }, () => spawn(program, { env, cwd: place }))
  const exchanges = async (text: string) => {
    for (const { stdin, stdout } of children) {
      stdin.write(text)
      let line = ''
      while (!line.endsWith('\n')) line += (await once(stdout, 'data'))[0]
      JSON.parse(line)
    }
  }
  await exchanges('{"protocol":1}\n')
  return {
    ask: () => exchanges(line),
    end() {
      for (const { stdin } of children) stdin.end()
    },
  }
}

const functions = createPlane([
  ...Array.from({ length: 3 }, () => defineHook('PreToolUse', () => undefined)),
  defineStepHook('before_tool_apply', () => undefined),
  defineStepHook('before_tool_apply', async () => undefined),
])
const [silent, inProcess] = await inTurns(
  15,
  () => many(createPlane([])),
  () => many(functions),
)
async function many(plane: Plane) {
  for (let call = 0; call < 1000; call++) await ask(plane)
}
rmSync(place, { recursive: true })

const lighterText = Object.entries(lighter).map(([kind, text]) => `A hook ${kind}: \`${text}\`.`)
const perCall = inProcess! / 1000
const homes = { 'empty home': inEmpty, "developer's profile": inDeveloper }
const ms = (...values: number[]) => `${values.map((value) => value.toFixed(2)).join(' and ')} ms`
report(
  `The plane alone. Each hook is \`${command}\`, asked after ${modelMs} ms in which shells start ahead, in turns with a bare spawn of sh -c with the same command, environment and input; medians of ${Math.ceil(samples / 4)}. ${lighterText.join(' ')} The profile runs ${profilePrograms} programs. The bar of five hooks is half of 0.85 of five spawns, which is what Codex took when the bar was set.`,
  [
    ...Object.entries(homes).flatMap(
      ([home, { one, five, parallel, unpaused, bare, fiveBare, least, light }]): Line[] => [
        { what: `one hook, ${home} × sh -c`, value: one / bare, atMost: 0.5, detail: ms(one, bare) },
        ...Object.keys(lighter).map((kind, at): Line => {
          const [ours, theirs] = light[at]!
          return {
            what: `one hook ${kind}, ${home} × sh -c`,
            value: ours / theirs,
            atMost: 0.5,
            detail: ms(ours, theirs),
          }
        }),
        { what: `a bash that waits for a byte, ${home} × sh -c`, value: least / bare, detail: ms(least, bare) },
        { what: `five hooks, ${home} × five sh -c`, value: five / fiveBare, atMost: 0.43, detail: ms(five, fiveBare) },
        {
          what: `five parallel hooks, ${home} × five sh -c`,
          value: parallel / fiveBare,
          atMost: 0.43,
          detail: ms(parallel, fiveBare),
        },
        {
          what: `five without a pause, ${home} × five sh -c`,
          value: unpaused / fiveBare,
          atMost: 1.15,
          detail: ms(unpaused, fiveBare),
        },
      ],
    ),
    {
      what: 'five persistent hooks',
      value: persistent!,
      unit: 'ms',
      atMost: 1,
      detail: `five bare exchanges ${ms(exchanged!)}`,
    },
    { what: 'one hook without a warm shell × bash -lc', value: ours! / bare!, atMost: 1.15, detail: ms(ours!, bare!) },
    {
      what: 'five functions in the process',
      value: perCall,
      unit: 'ms',
      atMost: 0.5,
      detail: `without hooks ${silent!.toFixed(2)} µs`,
    },
  ],
)

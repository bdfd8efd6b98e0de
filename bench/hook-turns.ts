/**
 * What command hooks add to a tool call of a whole session, against a bare loop that spawns `sh -c` for each, and against the
 * least that they can cost: the same loop with a bash that waits for a byte. All with 0, 1 and 5 hooks, in turns, a model that
 * takes 50 ms, once with an empty home and once with a profile that runs as many programs as a developer's. Needs a build: `npm run build && node bench/hook-turns.ts [ROUNDS] [CALLS] [MODEL_MS]`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from './lib/processes.ts'
import { developerProfile } from './lib/profile.ts'
import { type Line, report } from './lib/report.ts'

const root = join(import.meta.dirname, '..')
if (!existsSync(join(root, 'dist/main.cjs'))) throw new Error('there is no build; run npm run build first')
const [rounds = 5, calls = 20, modelMs = 50] = process.argv.slice(2).map(Number)
const command = 'cat > /dev/null; echo ok'
const floor = [join(root, 'bench/lib/floor-agent.mjs')]
const ona = [join(root, 'bin/ona.mjs'), '-p', 'go', '--permission-mode', 'bypassPermissions']
const programs = { floor, waiting: floor, ona, parallel: ona }
type Name = keyof typeof programs

/** Milliseconds from the end of an answer to the next request, call by call. */
async function run(name: Name, hooks: number, home: string, base: string): Promise<number[]> {
  const commands = Array.from({ length: hooks }, (_, at) => command + ' '.repeat(at)) // the same one twice would be dropped
  const more = name === 'parallel' && { parallel: true }
  const settings = { hooks: commands.map((each) => ({ hook_event_name: 'PreToolUse', command: each, ...more })) }
  writeFileSync(join(home, '.ona/settings.json'), JSON.stringify(settings))
  rmSync(join(home, '.ona/agent.db'), { force: true })
  const child = spawn(process.execPath, programs[name], {
    cwd: home,
    stdio: 'ignore',
    env: {
      ...{ PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8', ONA_KEYCHAIN: 'off', ANTHROPIC_BASE_URL: base },
      ...(programs[name] === ona && { ANTHROPIC_API_KEY: 'bench' }), // by its key the model tells one from the other
      ...(name === 'waiting' && { FLOOR_WAITING: '1' }),
      ...{ FLOOR_DB: join(home, 'floor.db'), FLOOR_HOOKS: JSON.stringify(commands) },
    },
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${name} ended with ${code}`)
  return ((await (await fetch(`${base}/gaps`)).json()) as number[]).slice(0, calls)
}

/** Milliseconds that so many hooks add to a call: of the first alone, and of a later one. */
type Added = Record<`${Name}${1 | 5}`, { readonly first: number; readonly later: number }>

async function measure(profile: string | undefined, base: string): Promise<Added> {
  const home = mkdtempSync(join(tmpdir(), 'ona-hook-turns-'))
  mkdirSync(join(home, '.ona'))
  if (profile) writeFileSync(join(home, '.bash_profile'), profile)
  const gaps = new Map<string, number[][]>()
  for (let round = -1; round < rounds; round++)
    for (const name of Object.keys(programs) as Name[])
      for (const hooks of [0, 1, 5]) {
        const took = await run(name, hooks, home, base)
        if (round >= 0) gaps.set(`${name}${hooks}`, [...(gaps.get(`${name}${hooks}`) ?? []), took])
      }
  rmSync(home, { recursive: true, force: true })
  const first = (which: string) => median(gaps.get(which)!.map(([one]) => one!))
  const later = (which: string) => median(gaps.get(which)!.map((took) => median(took.slice(1))))
  const added = (name: Name, hooks: 1 | 5) => ({
    first: first(`${name}${hooks}`) - first(`${name}0`),
    later: later(`${name}${hooks}`) - later(`${name}0`),
  })
  const names = Object.keys(programs) as Name[]
  return Object.fromEntries(
    names.flatMap((name) => ([1, 5] as const).map((hooks) => [`${name}${hooks}`, added(name, hooks)])),
  ) as Added
}

const server = spawn(process.execPath, [join(root, 'bench/lib/turns-server.ts'), String(calls), String(modelMs)], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const base = `http://127.0.0.1:${String((await once(server.stdout, 'data'))[0]).trim()}`
const homes = { 'an empty home': undefined, "a developer's profile": developerProfile }
const lines: Line[] = []
for (const [home, profile] of Object.entries(homes)) {
  const { floor1, floor5, waiting1, waiting5, ona1, ona5, parallel5 } = await measure(profile, base)
  const pair = (ours: { later: number }, theirs: { later: number }) =>
    `${ours.later.toFixed(1)} and ${theirs.later.toFixed(1)} ms a call`
  const first = (ours: { first: number }) => `; first call ${ours.first.toFixed(1)} ms`
  lines.push(
    {
      what: `one hook, ${home} × the bare loop`,
      value: ona1.later / floor1.later,
      atMost: 0.5,
      detail: pair(ona1, floor1) + first(ona1),
    },
    // Codex, which runs five at the same time, took 0.85 of five spawns when the bar was set; half of that is the bar
    {
      what: `five hooks, ${home} × the bare loop`,
      value: ona5.later / floor5.later,
      atMost: 0.43,
      detail: pair(ona5, floor5) + first(ona5),
    },
    {
      what: `five parallel hooks, ${home} × the bare loop`,
      value: parallel5.later / floor5.later,
      atMost: 0.43,
      detail: pair(parallel5, floor5) + first(parallel5),
    },
    { what: `one hook, ${home} × a waiting bash`, value: ona1.later / waiting1.later, detail: pair(ona1, waiting1) },
    { what: `five hooks, ${home} × a waiting bash`, value: ona5.later / waiting5.later, detail: pair(ona5, waiting5) },
  )
}
server.kill()
report(
  `Whole sessions of ${calls} calls with a model that takes ${modelMs} ms: what hooks add to the time between an answer and the next request, against a bare loop that spawns sh -c for each hook, and against the same loop with a bash that waits for a byte. Each hook is \`${command}\`. ${rounds} rounds in turns; medians.`,
  lines,
)

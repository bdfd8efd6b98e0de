/**
 * `ona prove` in CI: the agents as npm installs them, ona itself as it is packed, one policy, and one mutant for each agent in
 * which the policy is removed and the proof must fail. Prints a table and totals.
 *   npm run test:prove              every agent
 *   npm run test:prove codex ona    only these
 * An agent that cannot be installed is listed as skipped, never as passed. ONA_AGENTS_CACHE: where agents are installed
 * (~/.cache/ona-agents). ONA_PROVE_CALLS: how many commands every agent and ona's own rules are compared on, 18 by default and 180
 * at most. ONA_PROVE_SECONDS: time for everything, 240 by default; what is not reached by then is skipped.
 */
import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { agentsCache, programOf } from '../src/brains/prove/programs.ts'
import type { ProofResult } from '../src/brains/prove/session.ts'
import { hostOf } from '../src/hosts/index.ts'
import { type Agreement, agreement, type Roots, withoutGuard } from './prove/agree.ts'
import { agreementRules } from './prove/corpus.ts'

const all = ['ona', 'claudecode', 'codex', 'gemini', 'copilot', 'opencode']
const endsAt = performance.now() + Number(process.env['ONA_PROVE_SECONDS'] ?? 240) * 1000
const rules = join(import.meta.dirname, '../examples/policy/policy.yaml')
const top = realpathSync(mkdtempSync(join(tmpdir(), 'ona-test-prove-')))

interface Row {
  readonly slug: string
  readonly skipped?: string
  readonly held?: Proof
  readonly bare?: Proof
  readonly agreed?: Agreement
}
interface Proof {
  readonly exit: number
  readonly results: readonly ProofResult[]
  readonly seconds: number
  readonly said: string
}

const asked = process.argv.slice(2)
const wrong = asked.find((word) => !all.includes(word))
if (wrong) {
  console.error(`there is no proof for "${wrong}"; there is one for ${all.join(', ')}`)
  process.exit(2)
}
try {
  process.exitCode = await main(asked.length > 0 ? asked : all)
} finally {
  rmSync(top, { recursive: true, force: true })
}

async function main(slugs: readonly string[]): Promise<number> {
  const ona = await packedOna()
  const root = join(top, 'root')
  const applied = await run(ona, ['enforce', 'apply', '--rules', rules, '--root', root])
  if (applied.exit !== 0) throw new Error(applied.said)
  // the mutant: applied and removed again
  const mutant = join(top, 'mutant')
  for (const words of [['apply', '--rules', rules], ['remove']]) {
    const { exit, said } = await run(ona, ['enforce', ...words, '--root', mutant])
    if (exit !== 0) throw new Error(said)
  }
  if (
    existsSync(mutant) &&
    readdirSync(mutant, { recursive: true, withFileTypes: true }).some((entry) => entry.isFile())
  )
    throw new Error(`ona enforce remove left files in ${mutant}`)
  mkdirSync(mutant, { recursive: true })
  const roots: Roots = { policy: join(top, 'agree'), native: join(top, 'native'), empty: mutant }
  writeFileSync(join(top, 'agree.json'), JSON.stringify(agreementRules))
  for (const folder of [roots.policy, roots.native])
    await run(ona, ['enforce', 'apply', '--rules', join(top, 'agree.json'), '--root', folder])
  withoutGuard(roots.native)
  const rows = await twoAtOnce(slugs, async (slug): Promise<Row> => {
    const skipped = slug === 'ona' ? null : await install(slug)
    if (skipped) return { slug, skipped }
    console.error(`${slug}: with the policy, then without it…`)
    const held = await prove(ona, slug, ['--root', root])
    const bare = await prove(ona, slug, ['--root', mutant, '--rules', rules])
    if (!held || !bare) return { slug, skipped: 'the time for this run was over (ONA_PROVE_SECONDS)' }
    const program = slug === 'ona' ? ona : programOf(hostOf(slug)!)!
    const count = Number(process.env['ONA_PROVE_CALLS'] ?? 18)
    const left = endsAt - performance.now()
    const agreed =
      left > 0 ? await agreement(hostOf(slug)!, program, roots, { count, timeoutMs: Math.round(left / 4) }) : undefined
    return { slug, held, bare, ...(agreed && { agreed }) }
  })
  return report(rows)
}

/** ona as npm would install it: packed, unpacked, with its dependencies from this checkout. */
async function packedOna(): Promise<string> {
  const packed = await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', top], {
    program: true,
  })
  const tarball = readdirSync(top).find((name) => name.endsWith('.tgz'))
  if (!tarball) throw new Error(`npm pack failed: ${packed.said}`)
  await run('tar', ['-xzf', join(top, tarball), '-C', top], { program: true })
  const folder = join(top, 'package')
  symlinkSync(join(import.meta.dirname, '../node_modules'), join(folder, 'node_modules'))
  return join(folder, 'bin/ona.mjs')
}

/** Null when the agent is there, else why it is not. */
async function install(slug: string): Promise<string | null> {
  const { package: name, version, program } = hostOf(slug)!.launch!
  const folder = join(agentsCache(), slug)
  const there = join(folder, 'node_modules', name!, 'package.json')
  const installed = existsSync(there) ? (JSON.parse(readFileSync(there, 'utf8')) as { version: string }).version : null
  if (installed === version && existsSync(join(folder, 'node_modules/.bin', program))) return null
  mkdirSync(folder, { recursive: true })
  if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const words = ['install', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error', `${name}@${version}`]
  // half of the time that is left: the others have to be installed and proved too
  const { exit, said } = await run('npm', words, { program: true, cwd: folder, share: 0.5 })
  const why =
    said
      .trim()
      .split('\n')
      .findLast((line) => /E404|ETARGET|error/i.test(line)) ?? said.trim().slice(-200)
  return exit === 0 ? null : `npm could not install ${name}@${version}: ${exit < 0 ? 'it took too long' : why}`
}

async function prove(ona: string, slug: string, words: readonly string[]): Promise<Proof | null> {
  if (performance.now() > endsAt) return null
  const startedAt = performance.now()
  const { exit, said, out } = await run(ona, ['prove', slug, '--json', ...words])
  if (exit < 0) return null
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  const hosts = out.startsWith('{') ? (JSON.parse(out) as { hosts: { results: ProofResult[] }[] }).hosts : []
  return { exit, results: hosts[0]?.results ?? [], seconds, said }
}

function report(rows: readonly Row[]): number {
  const wrongs: string[] = []
  console.log('| agent | attempted | with the policy | without it |\n| --- | --- | --- | --- |')
  let refused = 0
  for (const { slug, skipped, held, bare } of rows) {
    if (!held || !bare) {
      console.log(`| ${slug} | – | skipped: ${skipped} | skipped |`)
      continue
    }
    for (const [index, { name, outcome, expect }] of held.results.entries()) {
      console.log(`| ${slug} | ${name} | ${outcome} | ${bare.results[index]?.outcome ?? 'not attempted'} |`)
      if (outcome === 'refused' && expect === 'refused') refused++
    }
    if (held.exit !== 0) wrongs.push(`${slug}: the policy does not hold (exit ${held.exit})`, held.said.slice(-1500))
    const through = bare.results.filter(({ outcome, expect }) => outcome === 'went through' && expect === 'refused')
    if (bare.exit !== 1 || through.length === 0)
      wrongs.push(`${slug}: the proof does not fail without the policy (exit ${bare.exit})`, bare.said.slice(-1500))
    console.log(
      `| ${slug} | total | exit ${held.exit}, ${held.seconds} s | exit ${bare.exit}, ${through.length} went through, ${bare.seconds} s |`,
    )
  }
  console.log(
    '\n| agent | calls | as ona decides | refused by the agent itself | refused by the guard alone |\n| --- | --- | --- | --- | --- |',
  )
  for (const { slug, agreed } of rows) {
    if (!agreed) {
      console.log(`| ${slug} | not compared | | | |`)
      continue
    }
    const { calls, notCompared, agreed: same, ownRefusals, disagreements, onlyByGuard } = agreed
    console.log(
      `| ${slug} | ${calls}${notCompared > 0 ? ` (${notCompared} not compared: no answer in time)` : ''} | ${same} | ${listed(ownRefusals)} | ${listed(onlyByGuard)} |`,
    )
    if (disagreements.length > 0)
      wrongs.push(`${slug}: the compiled policy and ona's rules disagree:`, ...disagreements)
  }
  const proved = rows.filter(({ skipped }) => !skipped)
  console.log(
    `\n${proved.length} agents proved, ${refused} calls refused, ${rows.length - proved.length} agents skipped${rows
      .filter(({ skipped }) => skipped)
      .map(({ slug, skipped }) => `\n- ${slug}: skipped: ${skipped}`)
      .join('')}`,
  )
  for (const line of wrongs) console.error(line)
  return wrongs.length > 0 || proved.length === 0 ? 1 : 0
}

function listed(commands: readonly string[]): string {
  return commands.map((command) => `\`${command.replaceAll('|', '\\|')}\``).join(', ') || '–'
}

async function twoAtOnce<In, Out>(items: readonly In[], work: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = []
  const queue = [...items.entries()]
  const lane = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) results[next[0]] = await work(next[1])
  }
  await Promise.all([lane(), lane()])
  return results
}

interface Ran {
  /** -1: it was ended because it took too long. */
  readonly exit: number
  readonly out: string
  readonly said: string
}

function run(
  file: string,
  words: readonly string[],
  { program = false, cwd = process.cwd(), share = 1 }: { program?: boolean; cwd?: string; share?: number } = {},
): Promise<Ran> {
  const [name, args] = program ? [file, words] : [process.execPath, [file, ...words]]
  const timeout = Math.max(1000, Math.round((endsAt - performance.now()) * share))
  const env = {
    ...process.env,
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    ONA_AGENTS_CACHE: agentsCache(),
  }
  return new Promise((done) => {
    execFile(name, args, { cwd, env, timeout, maxBuffer: 64 << 20 }, (error, out, err) => {
      const exit = error ? (error.killed ? -1 : typeof error.code === 'number' ? error.code : 1) : 0
      done({ exit, out, said: `${out}${err}` })
    })
  })
}

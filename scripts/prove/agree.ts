/** Holds an agent's compiled policy, seen in the real program, against what ona's own rules decide. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProofResult, proveHost } from '../../src/brains/prove/session.ts'
import type { Host } from '../../src/hosts/host.ts'
import { corpus, decided } from './corpus.ts'

export interface Agreement {
  readonly calls: number
  /** Calls to which the agent gave no answer in time. */
  readonly notCompared: number
  readonly agreed: number
  /** Refused with and without the policy: the agent's own doing. */
  readonly ownRefusals: readonly string[]
  /** What is wrong: refused by the policy and not by ona, or the other way round. */
  readonly disagreements: readonly string[]
  /** What the agent's native rules let pass when the guard is taken out. */
  readonly onlyByGuard: readonly string[]
}

export interface Roots {
  readonly policy: string
  /** The same without the guard. */
  readonly native: string
  readonly empty: string
}

export async function agreement(
  host: Host,
  program: string,
  roots: Roots,
  { count, timeoutMs }: { count: number; timeoutMs: number },
): Promise<Agreement> {
  const cases = await decided(corpus(count))
  const run = (root: string, chosen = cases) =>
    chosen.length === 0 ? [] : proveHost(host, program, chosen, { root, timeoutMs })
  const all = await run(roots.policy)
  // a machine that is too slow for its time limit is no disagreement
  const held = all.filter(({ outcome }) => outcome !== 'not attempted')
  const differs = ({ outcome, expect }: ProofResult) => outcome !== expect
  const stricter = held.filter((result) => differs(result) && result.expect === 'went through')
  const bare = await run(
    roots.empty,
    cases.filter(({ name }) => stricter.some((result) => result.name === name)),
  )
  const own = bare.filter(({ outcome }) => outcome === 'refused').map(({ name }) => name)
  // Copilot has no native rules, and ona has nothing else
  const native = ['copilot', 'ona'].includes(host.slug) ? [] : await run(roots.native)
  return {
    calls: held.length,
    notCompared: all.length - held.length,
    agreed: held.filter((result) => !differs(result)).length,
    ownRefusals: own,
    disagreements: held
      .filter((result) => differs(result) && !own.includes(result.name))
      .map(({ name, expect, outcome, evidence }) => `${name}: ${outcome}, ona: ${expect} (${evidence.slice(0, 160)})`),
    onlyByGuard: native
      .filter(({ outcome, expect }) => outcome === 'went through' && expect === 'refused')
      .map(({ name }) => name),
  }
}

/** Takes the guard out of an applied policy and leaves the agents' native rules. */
export function withoutGuard(root: string): void {
  const json = (path: string, key: string) => {
    const file = join(root, path)
    const { [key]: _, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    writeFileSync(file, JSON.stringify(rest))
  }
  json('etc/claude-code/managed-settings.d/50-ona.json', 'hooks')
  json('etc/opencode/opencode.json', 'plugin')
  rmSync(join(root, 'etc/gemini-cli/settings.json'))
  rmSync(join(root, 'etc/github-copilot'), { recursive: true })
  const toml = join(root, 'etc/codex/requirements.toml')
  writeFileSync(toml, readFileSync(toml, 'utf8').replace(/^\[hooks\][\s\S]*?(?=^# ona enforce: end)/m, ''))
}

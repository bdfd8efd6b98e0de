/** `ona prove` for a node: what its agents did under the policy, in one line for the fleet. */
import { execFile } from 'node:child_process'

interface Proof {
  readonly hosts: readonly {
    readonly host: string
    readonly results: readonly { readonly name: string; readonly expect: string; readonly outcome: string }[]
  }[]
}

/** `passed: ona, codex`, or `failed: codex: deny Bash(rm *) went through`. */
export const proofOf = (root: string, signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => {
    const words = [process.argv[1]!, 'prove', '--json', '--root', root]
    execFile(
      process.execPath,
      words,
      { signal, timeout: 15 * 60_000, maxBuffer: 16 * 1024 * 1024 },
      (error, out, said) => {
        resolve(
          lineOf(error === null, out) ??
            `failed: ona prove did not end: ${said.trim().split('\n').at(-1) ?? ''}`.slice(0, 500),
        )
      },
    )
  })

/** Undefined: it ended before it could say. An agent that is not there has not passed. */
export function lineOf(isGood: boolean, out: string): string | undefined {
  try {
    const { hosts } = JSON.parse(out) as Proof
    const wrong = hosts.flatMap(({ host, results }) =>
      results
        .filter(({ expect, outcome }) => expect !== outcome)
        .map(({ name, outcome }) => `${host}: ${name} ${outcome}`),
    )
    const named = (isThere: boolean) =>
      hosts.filter(({ results }) => results.length > 0 === isThere).map(({ host }) => host)
    const missing = named(false).length > 0 ? `; not installed: ${named(false).join(', ')}` : ''
    if (isGood && wrong.length === 0 && named(true).length > 0) return `passed: ${named(true).join(', ')}${missing}`
    return `failed: ${wrong.join('; ') || 'no agent was proved'}${missing}`.slice(0, 500)
  } catch {
    return undefined
  }
}

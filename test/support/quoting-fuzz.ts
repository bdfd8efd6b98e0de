/**
 * Lines of nested quoting, expansions and here-documents, given to real bash and to our reader: whatever bash runs, the
 * reader has to see, or to call the line unknown.
 */
import { spawnSync } from 'node:child_process'
import { readShell } from '../../src/permissions/shell/parse/read.ts'

/** A small generator of its own (mulberry32), so that a seed names a line for ever. */
function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const atoms = [
  'a',
  'x',
  ' ',
  '$(hit)',
  '`hit`',
  '$x',
  "'",
  '"',
  '\\',
  '}',
  '{',
  '$',
  '(',
  ')',
  '\n',
  '#',
  ';',
  '|',
  '<',
  '\\"',
  "\\'",
]
const wraps: readonly ((inner: string) => string)[] = [
  (inner) => `"${inner}"`,
  (inner) => `'${inner}'`,
  (inner) => `$'${inner}'`,
  (inner) => `\${x:-${inner}}`,
  (inner) => `"\${x:-${inner}}"`,
  (inner) => `\${y%${inner}}`,
  (inner) => `"\${y#${inner}}"`,
  (inner) => `\${y//${inner}/z}`,
  (inner) => `"\${y/x/${inner}}"`,
  (inner) => `\${x:=${inner}}`,
  (inner) => `\${x:+${inner}}`,
  (inner) => `"\${y:+${inner}}"`,
  (inner) => `\${a[${inner}]}`,
  (inner) => `"\${a[${inner}]}"`,
  (inner) => `\${y:${inner}}`,
  (inner) => `$((${inner}))`,
  (inner) => `$(echo ${inner})`,
  (inner) => `"$(echo ${inner})"`,
  (inner) => `\`echo ${inner}\``,
  (inner) => `$(cat <<E\n${inner}\nE\n)`,
]
const lines: readonly ((inner: string) => string)[] = [
  (inner) => `echo ${inner}`,
  (inner) => `echo "${inner}"`,
  (inner) => `cat <<E\n${inner}\nE`,
  (inner) => `cat <<'E'\n${inner}\nE`,
  (inner) => `cat <<-E\n\t${inner}\n\tE`,
  (inner) => `cat <<< ${inner}`,
  (inner) => `z=${inner}`,
  (inner) => `a[${inner}]=1`,
  (inner) => `a=([${inner}]=1)`,
  (inner) => `[[ -n ${inner} ]]`,
  (inner) => `case ${inner} in x) echo;; esac`,
  (inner) => `for i in ${inner}; do echo; done`,
  (inner) => `((${inner}))`,
]

export function fuzzedLine(seed: number): string {
  const next = random(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)]!
  const part = (depth: number): string => {
    const pieces = Array.from({ length: 1 + Math.floor(next() * 3) }, () =>
      depth > 0 && next() < 0.5 ? pick(wraps)(part(depth - 1)) : pick(atoms),
    )
    return pieces.join('')
  }
  return pick(lines)(part(1 + Math.floor(next() * 3)))
}

/** Which of the lines make bash run `hit`. One bash for all of them; each line in a subshell of its own. */
export function runByBash(lines: readonly string[]): Set<number> {
  const script = `
hit() { echo "HIT $N" >&9; }
x=; y=xay; a=(1 2)
while IFS= read -r -d '' line; do
  N=$((N + 1)); export N
  ( eval "$line" ) 9>&8 >/dev/null 2>&1 </dev/null
done 8>&1
exit 0
`
  const input = lines.map((line) => `${line}\0`).join('')
  const ran = spawnSync('/bin/bash', ['--norc', '--noprofile', '-c', script], {
    input,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    maxBuffer: 1 << 28,
    timeout: 600_000,
    cwd: '/',
  })
  if (ran.status !== 0) throw new Error(`bash ended with ${ran.status ?? ran.signal}: ${ran.stderr}`)
  return new Set([...ran.stdout.toString().matchAll(/HIT (\d+)/g)].map(([, n]) => Number(n) - 1))
}

/** Lines in which bash runs what the reader does not see. */
export function differences(from: number, count: number): string[] {
  const found: string[] = []
  for (let at = 0; at < count; at += 5000) {
    const lines = Array.from({ length: Math.min(5000, count - at) }, (_, index) => fuzzedLine(from + at + index))
    for (const index of runByBash(lines)) {
      const { commands, unknown } = readShell(lines[index]!)
      const seen = unknown !== undefined || commands.some(({ words }) => words[0]?.value === 'hit')
      if (!seen) found.push(lines[index]!)
    }
  }
  return found
}

/** The calls of a made-up history: tools, commands and outputs in about the shares that a working day has. */

export interface Call {
  readonly tool: string
  readonly input: Readonly<Record<string, string>>
  readonly output: string
  readonly isError: boolean
  /** none: the rules allowed it without a question. */
  readonly decision: 'none' | 'allow' | 'deny'
}

/** `bash`: every call runs a command. `distinct`: and no two are alike. `repeating`: and some hundred come again. */
export type Shape = 'mixed' | 'bash' | 'distinct' | 'repeating'

export function recordedCall(random: () => number, number: number, project: string, shape: Shape): Call {
  const kind = shape === 'mixed' ? pick(random, kinds) : bash
  const { tool, input: plain } = kind(shape === 'repeating' ? number % 10 : number, project, random)
  const input = shape === 'distinct' ? { ...plain, command: `${plain['command']} # ${number}` } : plain
  const denied = random() < 0.02
  const isError = denied || random() < 0.05
  const output = denied ? 'denied by a hook: not in this project' : isError ? 'exit 1' : outputOf(random)
  return { tool, input, output, isError, decision: denied ? 'deny' : random() < 0.12 ? 'allow' : 'none' }
}

type Kind = (
  number: number,
  project: string,
  random: () => number,
) => { tool: string; input: Readonly<Record<string, string>> }

const bash: Kind = (n, project, random) => {
  const command = pick(random, commands)(n, project)
  return { tool: 'Bash', input: { command, description: words(random, 5) } }
}
const read: Kind = (n, project) => ({ tool: 'Read', input: { file_path: fileOf(n, project) } })
const edit: Kind = (n, project, random) => ({
  tool: 'Edit',
  input: { file_path: fileOf(n, project), old_string: words(random, 12), new_string: words(random, 16) },
})
const write: Kind = (n, project, random) => ({
  tool: 'Write',
  input: { file_path: fileOf(n, project), content: words(random, 150) },
})
const grep: Kind = (n, project) => ({ tool: 'Grep', input: { pattern: `handle${n % 977}`, path: `${project}/src` } })
const glob: Kind = (n) => ({ tool: 'Glob', input: { pattern: `src/part${n % 31}/**/*.ts` } })
const fetch: Kind = (n) => ({
  tool: 'WebFetch',
  input: { url: `https://docs.example.com/page/${n}`, prompt: 'what does it say about limits?' },
})

const kinds = [bash, bash, bash, bash, read, read, read, read, edit, edit, grep, glob, write, fetch]

const fileOf = (n: number, project: string) => `${project}/src/part${n % 31}/file${n % 4093}.ts`

/** Half of them are the same again and again; the others name something that no other call names. */
const commands: ((n: number, project: string) => string)[] = [
  () => 'git status',
  () => 'npm test',
  () => 'git diff --stat',
  () => 'npm run build 2>&1 | tail -20',
  () => 'ls -la',
  (n) => `npm test -- src/part${n % 31}`,
  (n) => `git show HEAD~${n % 40} --stat`,
  (n, project) => `cd ${project} && git log --oneline -n ${n % 50}`,
  (n) => `git commit -m "fix the handling of case ${n}"`,
  (n) => `grep -rn "handle${n}" src --include=*.ts | head -50`,
  (n) => `node scripts/run.mjs --case ${n} > /tmp/out-${n}.txt 2>&1; tail -5 /tmp/out-${n}.txt`,
  (n) => `sed -n '${n % 900},${(n % 900) + 40}p' src/part${n % 31}/file${n}.ts`,
  (n) => `for f in src/part${n}/*.ts; do wc -l "$f"; done`,
  (n) => `NODE_ENV=test npx mocha test/case-${n}.js --timeout 5000`,
  (n) => `curl -s https://api.example.com/items/${n} | jq .name`,
  (n) => `find . -name "*.ts" -newer src/file${n}.ts -not -path "*/node_modules/*" | xargs wc -l`,
  (n) => `mkdir -p build/${n} && cp -r dist build/${n}/ && echo "built ${n}"`,
  (n) => `rm -rf build/tmp-${n}`,
  (n) => `python3 -c "print(${n} * 2)"`,
  (n) => `docker run --rm -v "$PWD:/app" app:${n} npm run check`,
]

/** Short mostly; one in thirty is a long log. */
function outputOf(random: () => number): string {
  const kind = random()
  const length = kind < 0.6 ? 4 + random() * 30 : kind < 0.966 ? 30 + random() * 250 : 1500 + random() * 3500
  return words(random, Math.ceil(length), '\n')
}

/** So many words, with a line break every eight where `separator` is one. A slice of a long text: made once, cut often. */
export function words(random: () => number, count: number, separator = ' '): string {
  const text = separator === ' ' ? prose : lines
  const length = Math.min(count * 7, text.length >> 1)
  const begin = Math.floor(random() * (text.length - length))
  return text.slice(begin, begin + length)
}

const vocabulary =
  'the build reads every file of a project and checks that types tests and settings agree before it writes dist export const value function return await import error warning passed failed in 12 ms at line 48 of src/index.ts ok done'.split(
    ' ',
  )
const many = Array.from({ length: 12_000 }, (_, at) => vocabulary[(at * 7919 + (at >> 3) * 31) % vocabulary.length]!)
const prose = many.join(' ')
const lines = many.map((word, at) => (at % 8 === 7 ? `${word}\n` : `${word} `)).join('')

const pick = <T>(random: () => number, from: readonly T[]): T => from[Math.floor(random() * from.length)]!

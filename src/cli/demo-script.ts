/** What the rehearsal model plays in `ona demo`: the lines, in the order in which they are asked for. */
import type { Player } from '../rehearsal/server.ts'

const plan = `# A greeting command

A small command, \`bin/greet.mjs\`, that greets by name.

## Steps
1. Declare the command in package.json.
2. Write it.

## Success criteria
- \`greet Ada\` prints \`Hello, Ada!\`
- without a name it prints \`Hello, world!\`
- \`greet --help\` prints how to use it and exits 0`

const manifest = `${JSON.stringify({ name: 'greet', version: '1.0.0', type: 'module', bin: { greet: 'bin/greet.mjs' } }, null, 2)}\n`

const program = `#!/usr/bin/env node
const [name] = process.argv.slice(2)
if (name === '--help') console.log('Usage: greet [NAME]')
else console.log(\`Hello, \${name}!\`)
`

const testCase = (criterion: string, name: string, args: string, expected: string) => ({
  name: 'WriteTestCase',
  input: {
    name,
    criterion,
    script: `#!/usr/bin/env bash
# ${criterion}: ${name}
set -eu
actual=$(node "$PROJECT_DIR/bin/greet.mjs"${args})
expected='${expected}'
echo "greet${args} printed: $actual"
if [ "$actual" != "$expected" ]; then
  echo "expected: $expected" >&2
  echo "actual:   $actual" >&2
  exit 1
fi
`,
  },
})

export interface DemoLine {
  readonly text?: string
  readonly calls?: readonly { readonly name: string; readonly input: Record<string, unknown> }[]
}

const demoLines = (projectDir: string): readonly DemoLine[] => [
  // planning
  { text: 'I begin with a plan.', calls: [{ name: 'EnterPlanMode', input: {} }] },
  {
    text: 'Perhaps I can write the program right away.',
    calls: [{ name: 'Write', input: { file_path: `${projectDir}/bin/greet.mjs`, content: program } }],
  },
  { text: 'I may not, before the plan is approved. Here it is.', calls: [{ name: 'ExitPlanMode', input: { plan } }] },
  // implementing
  {
    calls: [
      { name: 'Write', input: { file_path: `${projectDir}/package.json`, content: manifest } },
      { name: 'Write', input: { file_path: `${projectDir}/bin/greet.mjs`, content: program } },
    ],
  },
  { text: 'The command is written.' },
  // the generator: another session, which knows the plan and has not seen the code
  {
    text: 'A first try.',
    calls: [
      {
        name: 'WriteTestCase',
        input: {
          name: 'does-not-crash',
          criterion: 'C1',
          script: '#!/usr/bin/env bash\nset -e\nnode "$PROJECT_DIR/bin/greet.mjs" Ada\ntest $? -eq 0\n',
        },
      },
    ],
  },
  {
    text: 'That proves nothing. Once more, from the criteria.',
    calls: [
      testCase('C1', 'greets-by-name', ' Ada', 'Hello, Ada!'),
      testCase('C2', 'greets-the-world', '', 'Hello, world!'),
      testCase('C3', 'prints-its-usage', ' --help', 'Usage: greet [NAME]'),
    ],
  },
  { text: 'Every criterion has a case.' },
  // the fix
  {
    text: 'Without a name it says "undefined". I give the name a default.',
    calls: [{ name: 'Read', input: { file_path: `${projectDir}/bin/greet.mjs` } }],
  },
  {
    calls: [
      {
        name: 'Edit',
        input: {
          file_path: `${projectDir}/bin/greet.mjs`,
          old_string: 'const [name] = process.argv.slice(2)',
          new_string: "const [name = 'world'] = process.argv.slice(2)",
        },
      },
    ],
  },
  { text: 'Mended.' },
]

/** Plays the lines one after another, whoever asks. */
export function demoPlayer(projectDir: string): Player {
  const lines = [...demoLines(projectDir)]
  return () => lines.shift() ?? { text: 'The demo is over.' }
}

/** What happens in the scenes: the project, what the model says to each prompt, and the keys of the user. */
import type { Script } from './model.ts'

export const files: Record<string, string> = {
  'price.ts': `/** Prices, in cents. */
export const price = (cents: number) => cents / 100

export function total(items: readonly { cents: number; count: number }[]): number {
  let sum = 0
  for (const { cents, count } of items) sum += cents * count
  return price(sum)
}
`,
  'package.json':
    '{ "name": "shop", "scripts": { "test": "seq -f \'ok %g - a price is rounded to whole cents\' 60" } }\n',
  'README.md': '# shop\n\nPrices and carts.\n',
}

/** What both agents read from the user's own settings. */
export const settings = { permissions: { deny: ['Bash(rm *)'] } }

const bash = (command: string, description: string) => ({ name: ['Bash'], input: { command, description } })
const read = (name: string) => ({ name: ['Read'], input: { file_path: `{project}/${name}` } })

const tasks = [
  { subject: 'Read how prices are rounded', activeForm: 'Reading how prices are rounded' },
  { subject: 'Round half to even in price.ts', activeForm: 'Rounding half to even' },
  { subject: 'Run the tests', activeForm: 'Running the tests' },
  { subject: 'Write the changelog', activeForm: 'Writing the changelog' },
]

/** The list with so many of them done: one call of TodoWrite, or what Claude Code has in its place. */
const todos = (done: number) => (offered: ReadonlySet<string>) => {
  const state = (at: number) => (at < done ? 'completed' : at === done ? 'in_progress' : 'pending')
  if (offered.has('TodoWrite')) {
    const list = tasks.map(({ subject, activeForm }, at) => ({ content: subject, status: state(at), activeForm }))
    return [{ name: ['TodoWrite'], input: { todos: list } }]
  }
  const update = (_: unknown, at: number) => ({
    name: ['TaskUpdate'],
    input: { taskId: String(at + 1), status: state(at) },
  })
  if (done > 0) return tasks.map(update)
  return tasks.map((task) => ({ name: ['TaskCreate'], input: { ...task, description: task.subject } }))
}

const agentCall = (description: string, prompt: string) => ({
  name: ['Agent', 'Task'],
  input: { description, prompt, subagent_type: 'general-purpose' },
})

export const script: Script = {
  'Where are prices rounded': [
    {
      text: `Nowhere yet: \`price\` divides and leaves the fraction. Three places depend on it, and **only one** of them rounds for itself.

## Who depends on it

| file | function | rounds |
| --- | --- | --- |
| price.ts | \`price\` | no |
| cart.ts | \`total\` | yes, half up, after the discount has been taken off |
| invoice.ts | \`line\` | no |

A version that rounds half to even:

\`\`\`ts
export function price(cents: number): number {
  const whole = Math.round(cents) // half up
  return whole % 2 === 0 ? whole / 100 : Math.floor(cents) / 100
}
\`\`\`

1. Change \`price\` in \`price.ts\`.
2. Drop the rounding in \`cart.ts\`:
   - it is done twice otherwise
   - the tests expect it once

> Banks call this *banker's rounding*. See [the article](https://en.wikipedia.org/wiki/Rounding) for the reasons.`,
    },
  ],
  'Round half to even': [
    { text: 'I will look at the file first.', calls: [read('price.ts')] },
    {
      calls: [
        {
          name: ['Edit'],
          input: {
            file_path: '{project}/price.ts',
            old_string: 'export const price = (cents: number) => cents / 100',
            new_string:
              '/** Rounds half to even. */\nexport const price = (cents: number) => roundEven(cents) / 100\n\nconst roundEven = (value: number) => 2 * Math.round(value / 2)',
          },
        },
      ],
    },
    { text: '`price` rounds half to even now.' },
  ],
  'Run the tests': [
    { calls: [bash('npm test --silent && touch tested.txt', 'Run the tests of the shop')] },
    { text: 'All 60 tests pass.' },
  ],
  'Prepare the release': [
    { text: 'Four steps.', calls: todos(0) },
    { calls: [read('price.ts')] },
    { calls: todos(2) },
    { calls: [bash('ls -l', 'List the files')], afterMs: 3500 },
    { calls: todos(4) },
    { text: 'The release is prepared.' },
  ],
  'Look at both': [
    {
      text: 'Two agents look at the same time.',
      calls: [
        agentCall('Find who uses price', 'FIRST: find every use of price in the project.'),
        agentCall('Check the rounding', 'SECOND: check how prices are rounded.'),
      ],
    },
    { text: 'Both agree: `price` has one caller, and nothing rounds twice.' },
  ],
  'FIRST: find': [
    { calls: [read('price.ts')] },
    { calls: [{ name: ['Grep'], input: { pattern: 'price', output_mode: 'content' } }] },
    { calls: [read('README.md')], afterMs: 2500 },
    { text: 'One caller: total.', afterMs: 500 },
  ],
  'SECOND: check': [
    { calls: [read('price.ts')] },
    { calls: [{ name: ['Glob'], input: { pattern: '*.ts' } }] },
    { calls: [read('package.json')], afterMs: 3000 },
    { text: 'Nothing rounds twice.', afterMs: 500 },
  ],
  'Plan the change': [
    { calls: [{ name: ['EnterPlanMode'], input: {} }] },
    {
      calls: [
        {
          name: ['ExitPlanMode'],
          input: {
            plan: `# Round prices half to even

## Context
\`price\` divides and leaves the fraction.

## Steps
1. Add \`roundEven\` to \`price.ts\`.
2. Use it in \`price\`.
3. Run the tests.

## Success criteria
- 0.125 is shown as 0.12
- 0.135 is shown as 0.14`,
          },
        },
      ],
    },
    { text: 'Then it is planned.' },
  ],
  'What is wrong': [
    { calls: [bash('cat missing.txt; node -e "throw new Error(1)"', 'Read a file that is not there')] },
    { text: 'It failed, as it should.' },
  ],
  'Delete the old': [
    { calls: [bash('rm -rf dist', 'Delete the old build')] },
    { text: 'A rule denies it; the build stays.' },
  ],
  'Break down': [{ status: 400 }],
}

export interface Scene {
  readonly agent: string
  start(words?: string): void
  type(text: string): void
  press(...keys: string[]): void
  until(shown: RegExp, seconds?: number): Promise<void>
  wait(ms: number): Promise<void>
  clear(): void
  shoot(name: string): Promise<void>
}

export async function scenes({ agent, start, type, press, until, wait, shoot }: Scene): Promise<void> {
  const isOna = agent === 'ona'
  const say = async (text: string) => {
    type(text)
    await wait(300)
    press('Enter')
  }
  const slash = async (text: string) => {
    await say(text)
    await wait(800)
  }
  const idle = () => wait(700)
  start()
  await until(isOna ? /❯ ask|\? (for|keys)/ : /\? for shortcuts|❯/)
  await wait(1500)
  await shoot('prompt')
  await say('Where are prices rounded?')
  await until(/the article/)
  await idle()
  await shoot('answer')
  press('C-l')
  await say('Round half to even, please')
  await until(/1\. Yes/)
  await shoot('permission-edit')
  press('1')
  await until(/rounds half to even now/)
  await idle()
  await shoot('edit')
  await say('Run the tests now')
  await until(/1\. Yes/)
  await shoot('permission')
  press('1')
  await until(/All 60/)
  await idle()
  await shoot('output')
  await say('Prepare the release')
  await wait(2500)
  await shoot('todo')
  await until(/is prepared|1\. Yes/)
  await shoot('todo-done')
  press('1')
  await idle()
  press('BSpace')
  await say('Look at both ends')
  await wait(2500)
  await shoot('agents')
  await until(/Both agree/)
  await idle()
  await shoot('agents-done')
  await say('What is wrong here')
  await until(/1\. Yes/)
  await wait(700)
  press('1')
  await until(/as it should/)
  await idle()
  await shoot('failure')
  await say('Delete the old build')
  await until(/the build stays/)
  await idle()
  await shoot('denied')
  await say('Break down, please')
  await until(/Overloaded|API Error|400/)
  await idle()
  await shoot('error')
  await slash('/status')
  await shoot('status')
  press('Escape')
  await wait(500)
  await slash('/model')
  await shoot('model')
  press('Escape')
  await wait(300)
  await slash('/help')
  await shoot('help')
  press('Escape')
  await wait(300)
  type('/')
  await wait(600)
  await shoot('menu')
  press('Escape')
  press('C-u')
  press('BSpace')
  press('BTab', 'BTab')
  await wait(600)
  await shoot('plan-mode')
  await say('Plan the change well')
  await until(/Would you like|1\. Yes|pprove/)
  await shoot('plan')
  press('Escape')
  await wait(800)
  press('C-c')
  await wait(200)
  press('C-c')
  await wait(1500)
  press('C-c')
  await wait(1000)
  await shoot('exit')
  start()
  await until(isOna ? /❯ ask/ : /\? for shortcuts|❯/)
  await wait(1500)
  await say('Delete the old build, and say what else is in the way')
  await until(/the build stays/)
  await idle()
  press('C-c')
  await wait(200)
  press('C-c')
  await wait(2500)
  start('--resume')
  await until(/Resume/)
  await wait(3000)
  await shoot('resume')
  press('Down')
  await wait(300)
  press('Space')
  await until(isOna ? /up and down to scroll/ : /Enter to resume/)
  await shoot('resume-preview')
  press('Escape', 'Escape')
  press('C-c', 'C-c')
}

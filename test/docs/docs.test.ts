/** What the pages say can be typed, followed and found. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import settingsSchema from '../../schemas/settings.schema.json' with { type: 'json' }
import { flags } from '../../src/cli/flags.ts'
import { commands, flagCommands } from '../../src/cli/table.ts'
import { historyReaders } from '../../src/hosts/history/readers.ts'
import { sdkKeys } from '../../src/sdk/check-definition.ts'
import { patterns } from '../interop/hook-patterns.ts'
import { runCommands } from '../support/program.ts'

const root = join(import.meta.dirname, '../..')
const pages = ['*.md', 'docs/**/*.md', 'examples/**/*.md'].flatMap((pattern) => globSync(pattern, { cwd: root }))
const textOf = (page: string) => readFileSync(join(root, page), 'utf8')

/** Code: fenced lines, and what stands between backticks. */
function codeIn(page: string): string[] {
  const fence = /^```[^`\n]*\n([\s\S]*?)^```$/gm
  const text = textOf(page)
  const fenced = Array.from(text.matchAll(fence), ([, body]) => body!.split('\n')).flat()
  const inline = Array.from(text.replaceAll(fence, '').matchAll(/`([^`]+)`/g), ([, code]) =>
    code!.replaceAll(/\s+/g, ' '),
  )
  return [...fenced, ...inline]
}

/** The command lines of ona in them: the words up to a comment or the next command. */
const linesIn = (page: string): { page: string; words: string[] }[] =>
  codeIn(page)
    .flatMap((code) => code.replace(/(^|\s)#.*/, '').split(/&&|;|\|(?=\s)/))
    .map((code) => code.trim().match(/^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:npx )?ona (.*)$/)?.[1])
    .flatMap((line) =>
      line === undefined ? [] : [{ page, words: line.replaceAll(/'[^']*'|"[^"]*"/g, '…').split(/\s+/) }],
    )

const lines = pages.flatMap(linesIn)

test('the page of commands lists every shell command', () => {
  const code = codeIn('docs/commands.md')
  const missing = [...Object.keys(commands), ...Object.keys(flagCommands)].filter(
    (name) => !code.some((each) => each.startsWith(`ona ${name}`)),
  )
  assert.deepEqual(missing, [])
})

test('every command and verb that a page names is one', () => {
  const wrong = lines.flatMap(({ page, words: [first = '', second = ''] }) => {
    if (!/^[a-z]/.test(first)) return []
    const entry = commands[first]
    if (!entry) return [`${page}: ona ${first}`]
    if (!entry.verbs || !/^[a-z]/.test(second)) return []
    return second.split('|').flatMap((verb) => (entry.verbs!.includes(verb) ? [] : [`${page}: ona ${first} ${verb}`]))
  })
  assert.ok(lines.length > 50, `${lines.length} command lines were found`)
  assert.deepEqual(wrong, [])
})

/** The words that name the command of a line, and its verb. */
function commandOf([first = '', second = '', ...rest]: readonly string[]): string[] {
  const entry = commands[first]
  if (entry) return entry.verbs?.includes(second) ? [first, second] : [first]
  return [first, second, ...rest].filter((word) => Object.hasOwn(flagCommands, word)).slice(0, 1)
}

test('every flag that a page gives a command is one that its help names', () => {
  const named = [...new Set(lines.map(({ words }) => commandOf(words).join(' ')))].filter(Boolean)
  const helps = runCommands(named.map((words) => [...words.split(' '), '--help']))
  const helpOf = new Map(named.map((words, index) => [words, helps[index]!.stdout]))
  const wrong: string[] = []
  for (const { page, words } of lines) {
    const own = words.includes('--') ? words.slice(0, words.indexOf('--')) : words
    const command = commandOf(words).join(' ')
    const help = helpOf.get(command) ?? ''
    for (const word of own) {
      const flag = word.match(/^\[?(--[a-z][a-z-]*)/)?.[1]
      if (!flag || Object.hasOwn(flagCommands, flag) || flag === '--help' || help.includes(flag)) continue
      if (command === '' && Object.hasOwn(flags, flag.slice(2))) continue
      wrong.push(`${page}: ona ${words.join(' ')}: ${flag}`)
    }
  }
  assert.deepEqual(wrong, [])
})

/** The pages a user reads; the tables of acceptance and forks are for reviewers. */
const guides = pages.filter((page) => !/docs\/(ACCEPTANCE|FORKS|decisions)/.test(page))
const told = (word: string) => guides.some((page) => new RegExp(`${word}(?![\\w-])`).test(textOf(page)))

test('every command, verb and flag is told on a page', () => {
  const verbs = Object.entries(commands).flatMap(([name, { verbs = [] }]) =>
    verbs.filter((verb) => !lines.some(({ words }) => words[0] === name && words[1]?.split('|').includes(verb))),
  )
  const silent = [...Object.keys(flagCommands), ...Object.keys(flags).map((flag) => `--${flag}`)]
  assert.deepEqual([verbs, silent.filter((flag) => !told(flag))], [[], []])
  assert.deepEqual(
    Object.keys(commands).filter((name) => !told(`ona ${name}`)),
    [],
  )
})

test('every setting is told in the table of the settings, and nothing else is', () => {
  const [, table = ''] = textOf('docs/settings.md').split('## Every key\n')
  const [rows = ''] = table.split('\n## ')
  const named = Array.from(rows.matchAll(/^\| (.*?) \|/gm), ([, cell]) =>
    Array.from(cell!.replaceAll(/\(.*?\)/g, '').matchAll(/`(\w+)`/g), ([, key]) => key!),
  ).flat()
  const { $schema: _, ...known } = settingsSchema.properties
  assert.deepEqual(named.toSorted(), Object.keys(known).toSorted())
})

/** Set by the system, by the agent that runs us, or by ourselves for a child. */
const notForPeople = [
  ...[
    'HOME',
    'PATH',
    'TERM',
    'LANG',
    'LC_ALL',
    'LC_CTYPE',
    'TMUX',
    'TERM_PROGRAM',
    'XTERM_VERSION',
    'COLORTERM',
    'COLORFGBG',
    'VTE_VERSION',
    'KITTY_WINDOW_ID',
    'KONSOLE_VERSION',
    'WT_SESSION',
    'WAYLAND_DISPLAY',
    'WSL_DISTRO_NAME',
    'COPILOT_SESSION_ID',
    'COPILOT_CLI',
  ],
  ...[
    'CLAUDE_PROJECT_DIR',
    'ONA_DISPATCHER_WARM',
    'ONA_HOOK_COMMAND',
    'ONA_HOOK_FILTER',
    'ONA_HOOK_TIMEOUT_MS',
    'ONA_HOOK_ON_FAILURE',
  ],
]

test('every variable of the environment that is read is told in the table of the settings', () => {
  const [, table = ''] = textOf('docs/settings.md').split('## Environment variables\n')
  const sources = globSync('src/**/*.ts', { cwd: root }).filter((file) => !/test|suite/.test(file))
  const read = sources.flatMap((file) =>
    Array.from(textOf(file).matchAll(/\benv(?:\.|\??\.?\[')([A-Z][A-Z0-9_]+)/g), ([, name]) => name!),
  )
  assert.ok(read.length > 60, `${read.length} were found`)
  const silent = new Set(read.filter((name) => !notForPeople.includes(name) && !table.includes(`\`${name}\``)))
  assert.deepEqual([...silent], [])
})

test('every key of an agent, a tool, a field, a run and a runtime is told on the page of the SDK', () => {
  const page = textOf('docs/sdk.md')
  assert.deepEqual(
    Object.values(sdkKeys)
      .flat()
      .filter((key) => !page.includes(`\`${key}\``)),
    [],
  )
})

test('every link to a file or a heading of ours leads there', () => {
  const wrong = pages.flatMap((page) =>
    Array.from(textOf(page).matchAll(/\]\(([^)\s]+)\)/g), ([, link]) => link!).flatMap((link) => {
      if (/^[a-z]+:/.test(link)) return []
      const [path = '', heading] = link.split('#')
      const file = path === '' ? page : join(dirname(page), path)
      if (!existsSync(join(root, file))) return [`${page}: ${link}`]
      return heading && file.endsWith('.md') && !headingsOf(file).includes(heading) ? [`${page}: ${link}`] : []
    }),
  )
  assert.deepEqual(wrong, [])
})

const headingsOf = (page: string): string[] =>
  Array.from(textOf(page).matchAll(/^#+ (.*)$/gm), ([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  )

test('every page can be reached from the README', () => {
  const reached = new Set(['README.md'])
  for (const page of reached)
    for (const [, link] of textOf(page).matchAll(/\]\(([^)#\s]+\.md)/g)) {
      const to = join(dirname(page), link!)
      if (pages.includes(to)) reached.add(to)
    }
  const own = pages.filter((page) => page.startsWith('docs/') && !page.startsWith('docs/decisions/'))
  assert.deepEqual(
    own.filter((page) => !reached.has(page)),
    [],
  )
})

test('the index lists every page', () => {
  const index = textOf('docs/README.md')
  assert.deepEqual(
    globSync('docs/*.md', { cwd: root }).filter(
      (page) => page !== 'docs/README.md' && !index.includes(`](${page.slice('docs/'.length)})`),
    ),
    [],
  )
})

test('every page and example that a page or a message of ours names is there', () => {
  const sources = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  const wrong = [...pages, ...sources].flatMap((file) =>
    Array.from(textOf(file).matchAll(/(?<![\w/.])(?:docs\/[\w./-]+\.md|examples\/[\w./-]*\w)/g), ([path]) => path!)
      .filter((path) => !existsSync(join(root, path)))
      .map((path) => `${file}: ${path}`),
  )
  assert.deepEqual(wrong, [])
})

test('what the README counts is as many as there are', () => {
  const words = ['seven', 'eight', 'nine', 'ten', 'eleven', 'twelve']
  const attacks = spawnSync(process.execPath, [join(root, 'scripts/count-attacks.ts'), '--json'], { encoding: 'utf8' })
  const { redteam, escapes } = JSON.parse(attacks.stdout)
  const readme = textOf('README.md').replaceAll(/\s+/g, ' ')
  const claims = [
    `${redteam.classes} classes of attacks`,
    `${escapes.cases} attempts to leave the sandbox`,
    `${patterns.length} common patterns`,
    `the histories of ${words[historyReaders.length - 7]} agents`,
    `(bench/lib/floor-agent.mjs), ${textOf('bench/lib/floor-agent.mjs').trimEnd().split('\n').length} lines)`,
  ]
  assert.deepEqual(
    claims.filter((claim) => !readme.includes(claim)),
    [],
  )
})

/**
 * The mechanical checker: a case must assert something that can be observed from outside, and nothing else.
 *
 * It cannot tell a good case from a poor one; it refuses what the specification forbids (spec 003 §8.5): imports of the
 * project's modules, doubles of any kind, looking at the implementation, and checks that only show that nothing crashed.
 */
import { builtinModules } from 'node:module'
import { basename } from 'node:path'
import type { ShellCommand } from '../../permissions/shell/parse/command.ts'
import { readShell } from '../../permissions/shell/parse/read.ts'

export interface CaseToCheck {
  readonly criterion: string | null
  readonly content: string
}

export interface CheckContext {
  /** The project itself, which a case never names: it works on the copy in $PROJECT_DIR. */
  readonly projectDir: string
  /** Ids of the plan's criteria. */
  readonly criteria: readonly string[]
  /** What each of them says. */
  readonly texts?: ReadonlyMap<string, string>
  /** Files that were created or changed while implementing, relative to the project. */
  readonly implementation: readonly string[]
  /** Entry points among them that a case may run: what the project declares as its commands. */
  readonly entryPoints: readonly string[]
}

/** Why a case is refused, in words for the generator; empty when it may stand. */
export function caseProblems({ criterion, content }: CaseToCheck, context: CheckContext): string[] {
  const { commands, unknown } = readShell(content)
  const problems: string[] = []
  if (content.trim() === '') return ['the case is empty']
  if (criterion !== null && !context.criteria.includes(criterion)) {
    problems.push(
      `it traces to ${criterion}, which the plan does not have; the criteria are ${context.criteria.join(', ')}`,
    )
  }
  if (commands.length === 0) problems.push(`it is not a shell script that can be read${unknown ? `: ${unknown}` : ''}`)
  for (const { pattern, why } of forbidden) {
    const found = pattern.exec(withoutComments(content))
    if (found) problems.push(`${why}: ${found[0].trim().slice(0, 60)}`)
  }
  problems.push(...loaded(withoutComments(content)), ...sourced(commands), ...looksInside(commands, content, context))
  problems.push(...overwrites(commands), ...leavesTheCopy(content, context))
  if (criterion !== null) {
    problems.push(...assertionProblems(content))
    if (!/help|usage|version/i.test(context.texts?.get(criterion) ?? '')) problems.push(...onlyHelp(commands, context))
  }
  return problems
}

/** Whether all that it ever asks the program for is its help or its version. */
function onlyHelp(commands: readonly ShellCommand[], { entryPoints }: CheckContext): string[] {
  const names = new Set(entryPoints.map((file) => basename(file)))
  const runs = commands.flatMap(({ words }) => {
    const at = words.findIndex(({ text, value }) => inProject.test(text) || names.has(basename(value)))
    const isRun = at === 0 || (at > 0 && starters.has(words[0]!.value))
    return isRun ? [words.slice(at + 1).map(({ value }) => value)] : []
  })
  const asksHelp = (args: readonly unknown[]) => args.some((arg) => helpFlags.includes(arg as string))
  return runs.length > 0 && runs.every(asksHelp)
    ? ['it only looks at the help or the version of the program: run what the criterion is about']
    : []
}

/** Programs that start the one that follows. */
const starters = new Set(
  'node deno bun python python3 ruby perl lua php sh bash env timeout exec command time npx'.split(' '),
)
const helpFlags = ['--help', '-h', '-?', 'help', '--version', '-V', '-v', 'version', '--usage']

/** Programs and builtins that checks are made of. */
const shadowable =
  'node|npm|npx|deno|bun|python3?|ruby|perl|bash|sh|env|git|curl|sqlite3|ona|grep|egrep|fgrep|rg|diff|cmp|jq|cat|sed|awk|wc|head|tail|sort|test|\\[|\\[\\[|exit|return|set|trap|true|false|eval|exec|command|builtin|echo|printf|read|kill|timeout'

const forbidden: readonly { readonly pattern: RegExp; readonly why: string }[] = [
  {
    pattern:
      /\b(?:jest|vi|sinon|td)\s*\.\s*(?:fn|mock|stub|spyOn|replace)\b|\bunittest\.mock\b|\bmonkeypatch\b|\bproxyquire\b|\bnock\s*\(|\b(?:Mock|MagicMock|createMock|mockImplementation|stub)\s*\(/,
    why: 'it puts a double in the place of real code',
  },
  {
    pattern:
      /\bLD_PRELOAD\s*=|\bNODE_OPTIONS\s*=|\bPYTHONPATH\s*=|\bPYTHONSTARTUP\s*=|\bRUBYOPT\s*=|\bPERL5OPT\s*=|\bBASH_ENV\s*=|--(?:import|require|loader|experimental-loader)\b/,
    why: 'it changes how the program is loaded',
  },
  {
    pattern: /(?<![$\w{-])PATH\b|\bhash\s+-\w*p|\benable\s+-|\bcommand_not_found_handle\b/,
    why: 'it changes PATH, so that other programs than the real ones could run',
  },
  {
    pattern: new RegExp(
      `(?:^|[;&|({]|\\b(?:then|do|else))\\s*(?:(?:${shadowable})\\s*\\(\\s*\\)|function\\s+(?:${shadowable})(?=[\\s({]))|\\balias\\s+\\S+=`,
      'm',
    ),
    why: 'it shadows a real program',
  },
  { pattern: /\/proc\/(?:self|\d|\$|\*)|\/dev\/(?:fd|tcp|udp)\//, why: 'it looks at processes, not at the program' },
  {
    pattern:
      /\b(?:https?|ftp|ssh):\/\/(?!(?:localhost|127\.0\.0\.1|\[::1\])(?![\w.%@-]|:[^\s/?#]*@))(?:[\w.-]+|\[[\da-f:.]+\])/,
    why: 'it depends on the network',
  },
]

/** Comments tell what a case is about; they may name anything. A `#` in quotes begins none, and an apostrophe in a word no quote. */
const withoutComments = (text: string): string =>
  text.replace(/(\\.|\$'(?:\\.|[^'\\])*'|(?<!\w)'[^']*'|"(?:\\.|[^"\\])*")|(?<=^|(?<!\\)\s)#[^\n]*/gs, '$1')

/** Modules that a program in the script loads, beside those that the language itself brings. */
const loaded = (text: string): string[] =>
  loads
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .filter(([, module]) => module === undefined || !isBuiltIn(module))
    .map(([found]) => `it loads a module of the project's; run the program instead: ${found.trim().slice(0, 60)}`)

const loads: readonly RegExp[] = [
  /\b(?:require|import)\s*\(\s*(?:['"`]([^'"`$]*)['"`]\s*\))?/g,
  /\bimport\s+(?:[\w*{][^\n'"]*\bfrom\s*)?['"]([^'"]+)['"]/g,
  /\bfrom\s+([\w.]+)\s+import\b/g,
  /(?:^|['";])\s*import\s+([A-Za-z_][\w.]*)(?=\s*(?:$|[;,'"]|as\b))/gm,
  /\b(?:importlib|runpy|__import__|createRequire)\b/g,
]

const isBuiltIn = (module: string): boolean => module.startsWith('node:') || builtIn.has(module.split(/[./]/)[0]!)

const builtIn = new Set([
  ...builtinModules,
  ...'os sys subprocess json re pathlib tempfile sqlite3 time shutil io csv socket http urllib signal textwrap difflib hashlib math datetime unittest'.split(
    ' ',
  ),
])

const sourced = (commands: readonly ShellCommand[]): string[] =>
  commands
    .filter(({ words }) => words[0]?.value === 'source' || words[0]?.value === '.')
    .map(({ words }) => `it sources ${words[1]?.text ?? 'a file'}; a case stands alone`)

/** Whether it reads the implementation instead of running it. What the project declares as a command may be run. */
function looksInside(
  commands: readonly ShellCommand[],
  content: string,
  { implementation, entryPoints }: CheckContext,
): string[] {
  const text = withoutComments(content)
  const isRead = (file: string) =>
    commands.some(
      ({ words: [first, ...rest], reads }) =>
        reads.some(({ text }) => text.includes(file)) ||
        (readers.has(first?.value ?? '') && rest.some(({ text }) => text.includes(file))),
    )
  return implementation
    .filter((file) => text.includes(file) && (!entryPoints.includes(file) || isRead(file)))
    .map((file) => `it looks at ${file}, which is part of the implementation; look at what the program does`)
}

const readers = new Set(
  'cat grep egrep fgrep rg sed awk head tail less more wc diff cmp jq strings md5sum sha256sum sha1sum git source .'.split(
    ' ',
  ),
)

/** Whether it changes the program that it tests. */
const overwrites = (commands: readonly ShellCommand[]): string[] =>
  commands
    .filter(
      ({ words: [first, ...rest], writes }) =>
        writes.some(({ text }) => inProject.test(text)) ||
        (changers.has(first?.value ?? '') && inProject.test(rest.at(-1)?.text ?? '')) ||
        (removers.has(first?.value ?? '') && rest.some(({ text }) => inProject.test(text))),
    )
    .map(
      ({ words }) =>
        `it changes the project it tests: ${words
          .map(({ text }) => text)
          .join(' ')
          .slice(0, 60)}`,
    )

const inProject = /\$\{?PROJECT_DIR\b/
const changers = new Set(['cp', 'mv', 'install', 'ln', 'tee', 'dd', 'rsync'])
const removers = new Set(['rm', 'chmod', 'chown', 'truncate', 'patch', 'touch', 'shred', 'unlink'])

/** Whether it goes to the project itself instead of the copy that it is given. */
const leavesTheCopy = (content: string, { projectDir }: CheckContext): string[] =>
  projectDir !== '/' && content.includes(projectDir)
    ? ['it names the folder of the project itself: use "$PROJECT_DIR", which is a copy']
    : []

/** Checks that hold whatever the program does. */
const empty: readonly { readonly pattern: RegExp; readonly why: string }[] = [
  {
    pattern: /(?:\[\[?|\btest)\s+(?:!\s+)?("?'?\$?[\w{}]+"?'?)\s*(?:=|==|-eq|-ge|-le|=~)\s*\1(?=\s|$)/,
    why: 'it compares a value with itself',
  },
  {
    pattern: /(?:\[\[?|\btest)\s+(?:!\s+)?(["']?)[\w.-]+\1\s+(?:=|==|!=|-\w\w)\s+(["']?)[\w.-]+\2(?:\s+\]|\s*$)/m,
    why: 'it compares two constants',
  },
  {
    pattern: /(?:\]\]?|\b(?:grep|diff|cmp|test|jq)\b[^\n;&|]*)\s*\|\|\s*(?:true|:|exit\s+0|echo\b[^\n]*$)/m,
    why: 'its check cannot fail',
  },
  {
    pattern: /\b(?:grep|diff|cmp|test|jq)\b[^\n;&|]*[^\n;&|\s]\s*\|\s*(?:true|:|cat)(?=\s|$|;)/,
    why: 'its check cannot fail',
  },
  {
    pattern: /(?:\[\[?|\btest)\s+(?:-n\s+)?(["']?)[\w.]+\1\s*(?:\]|;|&|\||$)/m,
    why: 'its check is a constant',
  },
  { pattern: /(?:^|[;&])\s*set\s+\+(?:\w*e|o\s+errexit)\b[^\n]*/m, why: 'it hides failures' },
  {
    pattern: /(?:^|[;&])\s*trap\s+(['"]?)[^\n'"]*\b(?:exit\s*0?|true)\s*;?\s*\1\s+(?:EXIT|ERR|0)\b/m,
    why: 'it hides failures',
  },
  { pattern: /(?:^|[;&])\s*exec\s+(?:true|echo|printf)\b[^\n]*/m, why: 'it ends before its checks' },
  { pattern: /^exit(?:\s+0)?\s*$(?=[\s\S]*\S)/m, why: 'it ends before its checks' },
  { pattern: /^\s*if\s+(?:true\b|false\b|:[\s;])|\bwhile\s+false\b/m, why: 'a branch of it never runs' },
]

/** An assertion: a comparison that can fail, on something that came from outside. */
function assertionProblems(content: string): string[] {
  const text = withoutComments(content)
  const hollow = empty.flatMap(({ pattern, why }) => {
    const found = pattern.exec(text)
    return found ? [`${why}: ${found[0].trim().slice(0, 60)}`] : []
  })
  if (hollow.length > 0) return hollow
  const fails =
    /^\s*set\s+-[a-z]*e/m.test(text) ||
    /\|\|\s*(?:exit\s+[1-9]|\{|fail\b|die\b|return\s+[1-9])/.test(text) ||
    /\bexit\s+[1-9]/.test(text)
  if (!fails) return ['nothing in it can fail: begin with set -eu, or end each check with || exit 1']
  if (!assertions.some((pattern) => pattern.test(text))) {
    return [
      /\$\?|-eq\s+0|exit code/.test(text)
        ? 'it only checks that nothing crashed: compare output, a file, a row or an exit code with what the criterion says'
        : 'it asserts nothing that can be observed: compare output, a file, a row or an exit code with what the criterion says',
    ]
  }
  return []
}

const assertions: readonly RegExp[] = [
  // output or a file's content, by pattern
  /\b(?:grep|rg)\b(?:\s+-[-\w]*)*\s+['"$\w\\^]/,
  /\b(?:diff|cmp)\s+\S/,
  /\bjq\s+(?:-\w+\s+)*-e\b|\bjq\s+-\w*e/,
  // a value from outside against a value that is said
  /(?:\[\[?|test)\s+(?:!\s+)?["']?\$(?!\?)[\w{(][^\]\n]*?\s(?:=|==|!=|=~|-eq|-ne|-gt|-ge|-lt|-le)\s+\S/,
  /(?:\[\[?|test)\s+(?:!\s+)?\S+\s(?:=|==|!=)\s+["']?\$(?!\?)/,
  // a file's state
  /(?:\[\[?|test)\s+(?:!\s+)?-[edfhLsrwx]\s+\S/,
  /\bcase\s+["']?\$[\w{(]/,
  // by a program in the script
  /\bassert\b|\b(?:process|sys)\.exit(?:Code)?\b|\braise\s+SystemExit\b|\bthrow\s+new\b/,
  // an exit code other than 0
  /(?:\[\[?|test)\s+["']?\$\??\w*["']?\s+(?:-eq|=|==)\s+["']?[1-9]/,
]

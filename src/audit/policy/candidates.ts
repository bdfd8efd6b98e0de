/**
 * Rules that could answer a prompt for the user. A rule with `*` also covers what was never run, so only programs whose every
 * use is as harmless as the ones seen get one; of task runners, the very command. Of what is not known, nothing: a script
 * that was harmless when it was approved can be another one tomorrow.
 */
import { isSecretFile } from '../../permissions/secret-files.ts'
import type { RecordedCall } from '../replay/recorded-calls.ts'
import { hasRiskyName } from './destructive.ts'

/** Why a rule is not proposed; undefined: it may be. */
export type Refused = string | undefined

/** Programs, with their verbs, whose every use builds, tests, checks or looks. Those that take several targets are below. */
const packageScripts = ['test', 'lint', 'typecheck', 'type-check', 'format', 'check', 'build']
const jsTools = [
  ...['prettier', 'biome', 'oxlint', 'jest', 'vitest', 'mocha', 'ava', 'tap', 'cypress run'],
  ...['markdownlint', 'knip', 'depcheck', 'svelte-check', 'vue-tsc'],
]
const pythonTools = ['ruff', 'black', 'flake8', 'isort', 'pyright', 'unittest']
const jsRunners = ['npx', 'npx --no-install', 'pnpm exec', 'yarn', 'bunx']
const pythonRunners = ['python -m', 'python3 -m', 'uv run', 'poetry run', 'pdm run', 'hatch run']
const behind = (runners: readonly string[], tools: readonly string[]) =>
  tools.flatMap((tool) => [tool, ...runners.map((runner) => `${runner} ${tool}`)])

const harmless = new Set([
  ...['npm', 'pnpm', 'yarn'].flatMap((manager) => packageScripts.map((name) => `${manager} ${name}`)),
  ...['bun test', 'bun lint', 'bun typecheck', 'npm t', 'npm ls', 'npm list', 'npm explain', 'pnpm ls'],
  ...['deno check', 'deno lint'],
  ...behind(jsRunners, jsTools),
  ...behind(pythonRunners, pythonTools),
  ...behind(['bundle exec'], ['rspec']),
  ...['cargo check', 'cargo clippy', 'cargo tree'],
  ...['go test', 'go vet', 'go fmt', 'go list', 'go doc', 'go version'],
  ...['mix test', 'flutter test', 'dart test'],
  ...['node --test', 'shellcheck', 'yamllint', 'hadolint', 'actionlint'],
  ...['git add', 'git commit'],
  ...['docker ps', 'docker images', 'docker logs', 'docker compose ps', 'docker compose logs'],
  ...['kubectl logs', 'kubectl explain', 'kubectl top', 'helm list', 'terraform validate'],
  ...['gh pr view', 'gh pr list', 'gh pr diff', 'gh pr checks', 'gh pr status', 'gh issue view', 'gh issue list'],
  ...['gh run view', 'gh run list', 'pip list', 'pip show', 'pip freeze', 'uv pip list'],
  ...['echo', 'printf', 'pwd', 'exit', 'true', 'false', 'sleep'],
])

/**
 * They build, test or check too, but an option or a verb of theirs runs another program, empties or removes a folder (`pytest
 * --basetemp`), loads code, or writes anywhere: the very command that was approved.
 */
const oftenHarmless = [
  ...behind(jsRunners, ['c8', 'tsc', 'eslint', 'stylelint', 'playwright test']),
  ...behind(pythonRunners, ['pytest', 'coverage report', 'mypy', 'pylint']),
  ...behind(['bundle exec'], ['rubocop']),
  ...['cargo build', 'cargo test', 'cargo bench', 'cargo doc', 'cargo fmt', 'go build', 'gofmt', 'golangci-lint run'],
  ...['dotnet build', 'dotnet test', 'swift build', 'swift test', 'ctest', 'clang-format', 'clang-tidy'],
  ...['deno test', 'deno fmt', 'bun build', 'bun check', 'bun format', 'terraform fmt'],
]
const oftenExact = new RegExp(`^(?:${oftenHarmless.join('|')})(?: [\\w./:=@,+-]+){0,8}$`)
/** Options and verbs for which not even that is proposed. */
const riskyOption =
  /\s(?:-o|-w|-i|-r|-c|-p|-S|-A|-p:\S*|-load\S*|--(?:out|fix|write|clean|basetemp|init-hook|install-types|plugin|rulesdir|resolve-plugins|config|settings|target-dir|scratch-path|require|import|test-command|build-and-test|allow-|open)\S*|rm|sh|bash|node|npm|python3?)(?:[\s=]|$)/

/** `npm run lint`: the name says which one, and `hasRiskyName` which not. */
const named = /^(?:npm|pnpm|yarn|bun) run [a-zA-Z][\w:-]+$/
/** They take several targets (`make test deploy`), or are not harmless with every option: the very command, without options. */
const exact =
  /^(?:(?:make|just|task|(?:\.\/)?gradlew?|(?:\.\/)?mvnw?|tox|nox|rake|bundle exec rake)(?: [a-zA-Z][\w:.-]*){1,3}|docker compose (?:up|build|start)(?: -d)?(?: [a-zA-Z][\w-]*){0,3}|docker-compose (?:up|build|start)(?: -d)?(?: [a-zA-Z][\w-]*){0,3})$/

/** The rules to try for a call, from those that the prompt would offer. */
export function candidatesOf(call: RecordedCall, offered: readonly string[]): readonly string[] {
  const { command } = call.input
  if (call.tool !== 'Bash' || typeof command !== 'string') return offered.flatMap((rule) => fileRules(rule, call))
  return [...new Set(offered.flatMap((rule) => (isHarmless(rule) ? [rule] : narrower(rule, call))))]
}

/** `npm run *` as `npm run lint *` for the scripts of the line; of what is not known, the very command. */
function narrower(rule: string, call: RecordedCall): string[] {
  const start = rule.slice('Bash('.length).replace(/(?: \*)?\)$/, '')
  const known = Array.from(String(call.input['command']).matchAll(/[^;&|\n]+/g), ([part]) => part.trim())
    .filter((part) => part === start || part.startsWith(`${start} `))
    .flatMap((part) => prefixesOf(part))
    .map((prefix) => `Bash(${prefix} *)`)
    .filter(isHarmless)
  return known.length > 0 ? known.slice(0, 5) : exactRule(call).filter(isExact)
}

/** A rule on one command of a program whose other uses may do anything. */
const isExact = (rule: string): boolean =>
  isOftenHarmless(rule) || (exact.test(rule.slice('Bash('.length, -1)) && !hasRiskyName(rule))

/** The very command of a program that is known, and harmless as it was run. */
export function isOftenHarmless(rule: string): boolean {
  const line = rule.slice('Bash('.length, -1)
  return oftenExact.test(line) && !riskyOption.test(line) && !hasRiskyName(rule)
}

/** Beginnings of two to four words. */
function prefixesOf(part: string): string[] {
  const words = part.split(/\s+/)
  return [4, 3, 2].filter((count) => words.length >= count).map((count) => words.slice(0, count).join(' '))
}

export function isHarmless(rule: string): boolean {
  if (!rule.startsWith('Bash(') || !rule.endsWith(' *)')) return false
  const start = rule.slice('Bash('.length, -' *)'.length)
  return harmless.has(start) || (named.test(start) && !hasRiskyName(start))
}

/** The very command or file: a rule cannot hold one with a `*` or several lines. */
export function exactRule({ tool, input: { command, file_path } }: Pick<RecordedCall, 'tool' | 'input'>): string[] {
  if (tool === 'Bash')
    return typeof command === 'string' && !/[*\n]/.test(command) && command.length < 200 ? [`Bash(${command})`] : []
  return typeof file_path === 'string' && file_path.startsWith('/') ? [`${tool}(/${file_path})`] : []
}

/** `rm -rf *` and `rm *` for `rm -rf build`: beginnings of a plain command. Of a program with verbs, with the verb. */
export function widerRules({ tool, input: { command } }: Pick<RecordedCall, 'tool' | 'input'>): string[] {
  if (tool !== 'Bash' || typeof command !== 'string' || !/^[\w./:@=+, -]+$/.test(command)) return []
  const words = command.trim().split(/ +/)
  const fewest = withVerbs.has(words[0]!) ? 2 : 1
  return [3, 2, 1]
    .filter((count) => count >= fewest && count < words.length)
    .map((count) => `Bash(${words.slice(0, count).join(' ')} *)`)
}

const withVerbs = new Set(
  'git gh glab npm npx pnpm yarn bun deno cargo go docker podman kubectl helm terraform aws gcloud az make python python3 node sh bash env sudo brew apt apt-get pip uv'.split(
    ' ',
  ),
)

/** A folder outside the project as the very file, where the folder holds more than was asked for. */
function fileRules(rule: string, recorded: RecordedCall): string[] {
  if (!rule.startsWith('Read(') || isPlainPath(rule.slice('Read(/'.length, -'/**)'.length))) return [rule]
  return exactRule({ ...recorded, tool: 'Read' })
}

/** Deep enough to belong to one project, and neither the system's nor one of secrets. */
const isPlainPath = (path: string): boolean =>
  path.split('/').length > 4 && !systemFolder.test(path) && !isSecretFile(`${path}/x`) && !/\/\.|\*/.test(path)

const systemFolder = /^\/(?:etc|proc|sys|dev|boot|run|root|var)(?:\/|$)/

/** Why a rule must not be proposed at all, whatever the record says; Bash rules are judged by what they cover. */
export function refusedRule(rule: string, safety: (tool: string) => string): Refused {
  const [, tool = '', content = ''] = /^([^(]+)(?:\((.*)\))?$/s.exec(rule) ?? []
  if (tool === 'Bash') {
    if (isHarmless(rule) || isExact(rule)) return undefined
    return content.endsWith(' *') ? 'it covers more commands than were run' : 'what the program does is not known'
  }
  if (/^(?:Edit|Write|NotebookEdit)$/.test(tool)) return 'it allows writing outside the project'
  if (tool === 'Read' || tool === 'Grep' || tool === 'Glob')
    return isPlainPath(content.slice(1).replace(/\/\*\*$/, '')) && !isSecretFile(content.slice(1))
      ? undefined
      : 'it allows reading secrets, a home or the system'
  if (tool === 'WebFetch')
    return /^domain:(?:localhost|.*\.(?:local|internal)|[^.]*|.*:.*|[\d.]+)$/.test(content)
      ? 'it reaches this machine or network'
      : undefined
  if (tool === 'WebSearch' || tool === 'Skill') return undefined
  if (tool.startsWith('mcp__')) {
    const name = tool.slice(tool.lastIndexOf('__') + 2)
    return readVerb.test(name) && !hasRiskyName(name) && !/writ|creat|updat|set_|put_/i.test(name)
      ? undefined
      : 'the name of the tool does not say that it only reads'
  }
  return safety(tool) === 'read_only' ? undefined : 'the tool may change something'
}

const readVerb = /(?:^|[_-])(?:get|list|read|search|find|fetch|view|show|describe|count|status|lookup)(?:$|[_-]|[A-Z])/

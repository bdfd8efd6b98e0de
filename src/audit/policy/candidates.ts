/**
 * Rules that could answer a prompt for the user. A rule with `*` also covers what was never run, so only programs whose every
 * use is as harmless as the ones seen get one; of any other, the very command.
 */
import { isSecretFile } from '../../permissions/secret-files.ts'
import type { RecordedCall } from '../replay/recorded-calls.ts'
import { hasRiskyName } from './destructive.ts'

/** Why a rule is not proposed; undefined: it may be. */
export type Refused = string | undefined

/** Programs, with their verbs, that build, test, check or look. */
const harmless = new Set(
  [
    ...['npm test', 'npm t', 'npm ls', 'npm list', 'npm view', 'npm outdated', 'npm audit', 'npm pack', 'npm explain'],
    ...['pnpm test', 'pnpm ls', 'yarn test', 'bun test', 'deno test', 'deno check', 'deno lint', 'deno fmt'],
    ...['tsc', 'eslint', 'prettier', 'biome', 'oxlint', 'jest', 'vitest', 'mocha', 'ava', 'tap', 'c8', 'stylelint'],
    ...['pytest', 'ruff', 'black', 'mypy', 'flake8', 'pylint', 'isort', 'tox', 'pyright', 'rspec', 'rubocop'],
    ...[
      'cargo build',
      'cargo test',
      'cargo check',
      'cargo clippy',
      'cargo fmt',
      'cargo doc',
      'cargo tree',
      'cargo bench',
    ],
    ...['go build', 'go test', 'go vet', 'go fmt', 'go list', 'go doc', 'go version', 'gofmt', 'golangci-lint'],
    ...[
      'dotnet build',
      'dotnet test',
      'mvn test',
      'mvn compile',
      'mvn verify',
      'gradle build',
      'gradle test',
      'gradle check',
    ],
    ...['git add', 'git commit', 'git fetch', 'git status', 'git diff', 'git log', 'git show', 'git blame', 'git mv'],
    ...['docker ps', 'docker images', 'docker logs', 'docker build', 'docker compose ps', 'docker compose logs'],
    ...[
      'kubectl get',
      'kubectl describe',
      'kubectl logs',
      'kubectl explain',
      'kubectl top',
      'helm list',
      'helm template',
    ],
    ...['terraform plan', 'terraform fmt', 'terraform validate', 'terraform show', 'terraform output'],
    ...['gh pr view', 'gh pr list', 'gh pr diff', 'gh pr checks', 'gh pr status', 'gh issue view', 'gh issue list'],
    ...['gh run view', 'gh run list', 'pip list', 'pip show', 'pip freeze', 'uv pip list', 'make test', 'make check'],
    ...[
      'make lint',
      'make build',
      'mkdir',
      'touch',
      'echo',
      'printf',
      'date',
      'pwd',
      'exit',
      'true',
      'false',
      'sleep',
      'wc',
      'jq',
    ],
  ].flatMap((each) => [each, `npx ${each}`, `pnpm exec ${each}`, `python3 -m ${each}`, `python -m ${each}`]),
)
/** `npm run lint`, `make docs`: the name says which one, and `hasRiskyName` which not. */
const named = /^(?:(?:npm|pnpm|yarn|bun) run|make|just|task) [\w:./-]+$/

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
  if (known.length > 0) return known.slice(0, 5)
  return rule.endsWith(' *)') ? exactRule(call) : [rule]
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
  if (tool === 'Bash')
    return content.endsWith(' *') && !isHarmless(rule) ? 'it covers more commands than were run' : undefined
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

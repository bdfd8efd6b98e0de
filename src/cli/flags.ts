/** The flags of a run: one row each; from the rows come the parser, the errors and the help. */

type Kind = 'flag' | 'value' | 'maybe' | 'list'

interface Flag {
  readonly kind: Kind
  /** What stands for the value in the help. */
  readonly value?: string
  readonly about: string
  readonly short?: string
  readonly also?: readonly string[]
  readonly oneOf?: readonly string[]
}

export const flags = {
  print: { kind: 'flag', short: 'p', about: 'answer one prompt on stdout and exit' },
  'output-format': {
    kind: 'value',
    value: 'FORMAT',
    oneOf: ['text', 'json', 'stream-json'],
    about: 'with -p: text, json or stream-json',
  },
  'input-format': {
    kind: 'value',
    value: 'FORMAT',
    oneOf: ['text', 'stream-json'],
    about: 'with -p: text or stream-json',
  },
  'include-partial-messages': { kind: 'flag', about: 'with stream-json: text as it comes in' },
  'include-hook-events': { kind: 'flag', about: 'with stream-json: what hooks did' },
  'replay-user-messages': { kind: 'flag', about: 'with stream-json both ways: echo the user messages' },
  'json-schema': { kind: 'value', value: 'SCHEMA', about: 'with -p: answer with JSON that fits this JSON Schema' },
  'max-turns': { kind: 'value', value: 'N', about: 'end after this many requests to the model' },
  'max-budget-usd': { kind: 'value', value: 'USD', about: 'end when the estimated cost reaches this' },
  continue: { kind: 'flag', short: 'c', about: 'go on with the newest session of this folder' },
  resume: {
    kind: 'maybe',
    short: 'r',
    value: 'ID',
    about: 'go on with a session, by id or name; without one, choose from a list',
  },
  'fork-session': { kind: 'flag', about: 'with --continue or --resume: go on in a copy' },
  'session-id': { kind: 'value', value: 'UUID', about: 'the id of the new session' },
  name: { kind: 'value', short: 'n', value: 'NAME', about: 'a name for the session' },
  model: { kind: 'value', value: 'MODEL', about: 'a model id, alias or wire name' },
  'fallback-model': { kind: 'value', value: 'MODEL', about: 'used when the model is overloaded' },
  'permission-mode': {
    kind: 'value',
    value: 'MODE',
    oneOf: ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'],
    about: 'default, acceptEdits, plan, dontAsk or bypassPermissions',
  },
  'dangerously-skip-permissions': { kind: 'flag', about: 'the same as --permission-mode bypassPermissions' },
  'allowed-tools': {
    kind: 'list',
    value: 'RULE…',
    also: ['allowedTools'],
    about: 'rules to allow, e.g. "Bash(git *)" Edit',
  },
  'disallowed-tools': {
    kind: 'list',
    value: 'RULE…',
    also: ['disallowedTools'],
    about: 'rules to deny; a bare name also hides the tool',
  },
  tools: { kind: 'list', value: 'NAME…', about: 'only these built-in tools; "" for none' },
  'add-dir': { kind: 'list', value: 'DIR…', about: 'further working directories' },
  'append-system-prompt': { kind: 'value', value: 'TEXT', about: 'added after the system prompt' },
  'system-prompt': { kind: 'value', value: 'TEXT', about: 'instead of the system prompt' },
  settings: { kind: 'value', value: 'FILE|JSON', about: 'settings above the files' },
  'setting-sources': { kind: 'value', value: 'LIST', about: 'which files to read: user,project,local' },
  'mcp-config': { kind: 'list', value: 'FILE|JSON…', about: 'further MCP servers' },
  'strict-mcp-config': { kind: 'flag', about: 'only the servers of --mcp-config' },
  agents: { kind: 'value', value: 'JSON', about: 'sub-agents for this session' },
  agent: { kind: 'value', value: 'NAME', about: 'run the session as this sub-agent' },
  init: { kind: 'flag', about: 'raise Setup(init) first' },
  maintenance: { kind: 'flag', about: 'raise Setup(maintenance) first' },
  'init-only': { kind: 'flag', about: 'raise Setup(init) and exit' },
  bare: {
    kind: 'flag',
    about: 'nothing but what the flags name: no hooks, skills, MCP, instructions, OAuth or keychain',
  },
  trust: { kind: 'flag', about: 'trust this folder from now on' },
  record: { kind: 'value', value: 'FILE', about: 'keep the conversation as a rehearsal script' },
  worktree: { kind: 'maybe', short: 'w', value: 'NAME', about: 'work in a git worktree of its own' },
  cwd: { kind: 'value', value: 'DIR', about: 'start there' },
  verbose: { kind: 'flag', about: 'say more' },
  debug: { kind: 'flag', about: 'write what happens to stderr' },
} as const satisfies Record<string, Flag>

type Rows = typeof flags
export type Flags = {
  -readonly [N in keyof Rows]?: Rows[N]['kind'] extends 'flag'
    ? true
    : Rows[N]['kind'] extends 'list'
      ? string[]
      : string
}

export type ParsedFlags = { ok: true; flags: Flags; words: string[] } | { ok: false; why: string }

const names = new Map<string, keyof Rows>()
for (const [name, row] of Object.entries(flags) as [keyof Rows, Flag][]) {
  names.set(`--${name}`, name)
  if (row.short) names.set(`-${row.short}`, name)
  for (const other of row.also ?? []) names.set(`--${other}`, name)
}

/** Flags and the words left over. `--flag=value` works for all; after `--` everything is a word. */
export function parseFlags(args: readonly string[]): ParsedFlags {
  const found: Record<string, true | string | string[]> = {}
  const words: string[] = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!
    if (arg === '--') {
      words.push(...args.slice(index + 1))
      break
    }
    if (!arg.startsWith('-') || arg === '-') {
      words.push(arg)
      continue
    }
    const equals = arg.startsWith('--') ? arg.indexOf('=') : -1
    const name = names.get(equals > 0 ? arg.slice(0, equals) : arg)
    if (!name) return { ok: false, why: `there is no flag ${arg}${suggestion(arg)}; ona --help lists them` }
    const row: Flag = flags[name]
    const next = args[index + 1]
    const inline = equals > 0 ? arg.slice(equals + 1) : undefined
    if (row.kind === 'flag') {
      if (inline !== undefined) return { ok: false, why: `--${name} takes no value` }
      found[name] = true
    } else if (row.kind === 'list') {
      const values = inline !== undefined ? [inline] : []
      while (inline === undefined && args[index + 1] !== undefined && !args[index + 1]!.startsWith('-'))
        values.push(args[++index]!)
      if (values.length === 0) return { ok: false, why: `--${name} needs a value: ${row.value}` }
      const separate = name === 'mcp-config' ? values : values.flatMap(splitRules)
      found[name] = [...((found[name] as string[]) ?? []), ...separate]
    } else {
      const isMissing = inline === undefined && (next === undefined || (next.startsWith('-') && next !== '-'))
      if (isMissing && row.kind === 'value') return { ok: false, why: `--${name} needs a value: ${row.value}` }
      const value = isMissing ? '' : (inline ?? args[++index]!)
      if (row.oneOf && !row.oneOf.includes(value))
        return { ok: false, why: `--${name} must be one of ${row.oneOf.join(', ')}, not "${value}"` }
      found[name] = value
    }
  }
  return { ok: true, flags: found as Flags, words }
}

/** Commas and spaces separate rules, but not inside parentheses: `Bash(git log, *),Edit`. */
function splitRules(text: string): string[] {
  const parts: string[] = ['']
  let depth = 0
  for (const letter of text) {
    if (letter === '(') depth++
    if (letter === ')') depth--
    if (depth === 0 && (letter === ',' || letter === ' ')) parts.push('')
    else parts[parts.length - 1] += letter
  }
  const whole = parts.filter((part) => part !== '')
  return whole.length > 0 ? whole : ['']
}

function suggestion(arg: string): string {
  const wanted = arg.replace(/^-+/, '').split('=')[0]!
  const near = [...names.keys()].find((name) => {
    const plain = name.replace(/^-+/, '')
    return (
      plain.startsWith(wanted) ||
      wanted.startsWith(plain) ||
      plain.replaceAll('-', '') === wanted.replaceAll('-', '').toLowerCase()
    )
  })
  return near && wanted.length > 1 ? `; did you mean ${near}?` : ''
}

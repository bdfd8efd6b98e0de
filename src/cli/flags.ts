/** The flags of a run, one row each. The parser, error messages, help and completion are made from these rows. */
import type { FlagsOf, Row } from './args.ts'

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
  'include-partial-messages': { kind: 'flag', about: 'with stream-json: also the pieces of a reply as they arrive' },
  'include-hook-events': { kind: 'flag', about: 'with stream-json: also what hooks did' },
  'replay-user-messages': { kind: 'flag', about: 'with stream-json both ways: echo the user messages' },
  'json-schema': { kind: 'value', value: 'SCHEMA', about: 'with -p: answer with JSON that fits this JSON Schema' },
  'max-turns': { kind: 'value', value: 'N', about: 'end after this many requests to the model' },
  'max-budget-usd': { kind: 'value', value: 'USD', about: 'end when the estimated cost reaches this' },
  continue: { kind: 'flag', short: 'c', about: 'resume the newest session of this folder' },
  resume: {
    kind: 'maybe',
    short: 'r',
    value: 'ID',
    about: 'resume a session by id or name; other words search the list, none shows it',
  },
  'fork-session': { kind: 'flag', about: 'with --continue or --resume: work in a copy of the session' },
  'session-id': { kind: 'value', value: 'UUID', about: 'the id of the new session' },
  name: { kind: 'value', short: 'n', value: 'NAME', about: 'a name for the session' },
  model: { kind: 'value', value: 'MODEL', about: 'a model id, alias or wire name' },
  effort: {
    kind: 'value',
    value: 'LEVEL',
    oneOf: ['low', 'medium', 'high', 'xhigh', 'max'],
    about: 'how much the model works on an answer: low, medium, high, xhigh or max',
  },
  'fallback-model': { kind: 'value', value: 'MODEL', about: 'used when the model is overloaded' },
  'permission-mode': {
    kind: 'value',
    value: 'MODE',
    oneOf: ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions', 'manual', 'auto'],
    about: 'default, acceptEdits, plan, dontAsk or bypassPermissions',
  },
  'permission-prompt-tool': {
    kind: 'value',
    value: 'TOOL',
    about: 'with -p: an MCP tool that answers permission prompts; "stdio" sends them to the program that drives ona',
  },
  'dangerously-skip-permissions': { kind: 'flag', about: 'the same as --permission-mode bypassPermissions' },
  'allow-dangerously-skip-permissions': {
    kind: 'flag',
    about: 'the program that drives ona may switch to bypassPermissions later',
  },
  'allowed-tools': {
    kind: 'list',
    value: 'RULE…',
    split: splitRules,
    also: ['allowedTools'],
    about: 'rules to allow, e.g. "Bash(git *)" Edit',
  },
  'disallowed-tools': {
    kind: 'list',
    value: 'RULE…',
    split: splitRules,
    also: ['disallowedTools'],
    about: 'rules to deny; a bare name also hides the tool',
  },
  tools: { kind: 'list', value: 'NAME…', split: splitRules, about: 'only these built-in tools; "" for none' },
  'add-dir': { kind: 'list', value: 'DIR…', split: splitRules, about: 'further working directories' },
  'append-system-prompt': { kind: 'value', value: 'TEXT', about: 'added after the system prompt' },
  'append-system-prompt-file': { kind: 'value', value: 'FILE', about: 'the same, from a file' },
  'system-prompt': { kind: 'value', value: 'TEXT', about: 'instead of the system prompt' },
  'system-prompt-file': { kind: 'value', value: 'FILE', about: 'the same, from a file' },
  settings: { kind: 'value', value: 'FILE|JSON', about: 'settings that override the files' },
  'setting-sources': { kind: 'value', value: 'LIST', about: 'which files to read: user,project,local' },
  'mcp-config': { kind: 'list', value: 'FILE|JSON…', about: 'further MCP servers' },
  'strict-mcp-config': { kind: 'flag', about: 'only the servers of --mcp-config' },
  'plugin-dir': { kind: 'each', value: 'DIR', about: 'load a plugin from this folder for this session' },
  'plugin-dir-no-mcp': { kind: 'each', value: 'DIR', about: 'the same, without its MCP servers' },
  agents: { kind: 'value', value: 'JSON', about: 'sub-agents for this session' },
  agent: { kind: 'value', value: 'NAME', about: 'run the session as this sub-agent' },
  init: { kind: 'flag', about: 'raise Setup(init) first' },
  maintenance: { kind: 'flag', about: 'raise Setup(maintenance) first' },
  'init-only': { kind: 'flag', about: 'raise Setup(init) and exit' },
  'disable-slash-commands': { kind: 'flag', about: 'no skills' },
  bare: {
    kind: 'flag',
    about: 'use only what the flags name: no hooks, skills, MCP, instructions, OAuth or keychain',
  },
  trust: { kind: 'flag', about: 'trust this folder from now on' },
  record: { kind: 'value', value: 'FILE', about: 'save the conversation as a rehearsal script' },
  worktree: { kind: 'maybe', short: 'w', value: 'NAME', about: 'work in a git worktree of its own' },
  cwd: { kind: 'value', value: 'DIR', about: 'start there' },
  verbose: { kind: 'flag', about: 'with -p: report each tool call on stderr' },
  debug: { kind: 'flag', about: 'write events to stderr' },
  'debug-file': { kind: 'value', value: 'FILE', about: 'write events to this file' },
  'max-thinking-tokens': {
    kind: 'value',
    value: 'N',
    about: "the model's thinking budget; 0 turns thinking off",
  },
  thinking: {
    kind: 'value',
    value: 'KIND',
    about: 'adaptive, enabled or disabled',
    noEffect: 'the model decides how much it thinks',
  },
  'thinking-display': {
    kind: 'value',
    value: 'KIND',
    about: 'how thinking is shown to the program that drives ona',
    noEffect: 'thinking is sent as the model gives it',
  },
  betas: {
    kind: 'list',
    value: 'NAME…',
    split: splitRules,
    about: 'beta features of the Anthropic API',
    noEffect: 'ona requests the beta features that it uses',
  },
  'no-session-persistence': {
    kind: 'flag',
    about: 'accepted for other programs',
    noEffect: 'every session is recorded in the database',
  },
  version: { kind: 'flag', short: 'v', about: 'print the version' },
  help: { kind: 'flag', short: 'h', about: 'print this help' },
} as const satisfies Record<string, Row>

export type Flags = FlagsOf<typeof flags>

/** One line for each flag that was given and changes nothing. */
export function notesOn(given: Flags): string[] {
  const rows: Record<string, Row> = flags
  const idle = Object.keys(given).flatMap((name) => {
    const why = rows[name]?.noEffect
    return why ? [`--${name} has no effect: ${why}`] : []
  })
  if (given['permission-mode'] === 'auto') idle.push('--permission-mode auto is not supported; the mode is default')
  return idle
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

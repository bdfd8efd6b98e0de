/** Plays a script: gives the model's replies in order, and keeps what was not as the script expects. */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Chat, ChatMessage, Said } from './chat.ts'
import { plain } from './plain.ts'
import type { Expectation, Script, ScriptStep } from './script.ts'
import type { Player } from './server.ts'

export interface Play {
  readonly player: Player
  /** The prompt that is due, when the script has the user type next; undefined when it does not, or is over. */
  nextPrompt(): string | undefined
  /** Every request has been answered: checks what is left, and what was never reached. */
  finish(): void
  /** `script.yaml:12: …`, in the order of the script. */
  readonly problems: readonly string[]
  /** How many expectations were met. */
  met(): number
}

export interface PlayOptions {
  /** Where the files of `file` steps lie. */
  readonly cwd: string
  /** Runs the query of a `sql` step and gives its rows as text. */
  query?(sql: string): string
}

export function playScript(script: Script, { cwd, query }: PlayOptions): Play {
  const { steps, name } = script
  const problems: string[] = []
  let met = 0
  let at = 0
  /** Whether the script types the prompts itself; otherwise a user does, in their own words. */
  let directed = false
  let called = false

  const wrong = (step: ScriptStep, why: string) => void problems.push(`${name}:${step.line}: ${why}`)
  const judge = (step: ScriptStep, what: string, why: string | undefined) => {
    if (why === undefined) met++
    else wrong(step, `${what} ${why}`)
  }
  /** The steps up to the next reply or prompt: those that look at what has come of the last one. */
  const look = (chat: Chat | undefined) => {
    for (let step = steps[at]; step; step = steps[++at]) {
      if (step.kind === 'expect') {
        const result = chat && lastResults(chat.messages)
        judge(step, 'the result', result ? unmet(step.expect, result.text, result.isError) : 'never came')
      } else if (step.kind === 'sees')
        judge(step, 'the request', chat ? unmet(step.sees, wholeText(chat.messages)) : 'never came')
      else if (step.kind === 'file') judge(step, step.file, unmetFile(step, resolve(cwd, step.file)))
      else if (step.kind === 'sql') judge(step, 'the query', query ? unmetQuery(step, query) : 'needs a database')
      else return
    }
  }

  return {
    problems,
    met: () => met,
    nextPrompt() {
      directed = true
      look(undefined)
      const step = steps[at]
      if (step?.kind !== 'prompt') return undefined
      at++
      return step.prompt
    },
    player(chat) {
      // Requests without tools, or for an answer of a given form, are the agent's own (a summary, a title, a
      // classifier): no script foresees them.
      if (chat.tools.length === 0 || chat.answerSchema !== undefined) return plain(chat)
      if (steps[at]?.kind === 'prompt' && !directed) at++
      look(chat)
      const said = reply(chat)
      called = (said.calls ?? []).length > 0
      return said
    },
    finish() {
      look(undefined)
      const left = steps[at]
      if (left) wrong(left, `never reached: the run ended before this ${left.kind}`)
    },
  }

  function reply(chat: Chat): Said {
    const step = steps[at]
    if (!step || step.kind === 'prompt') {
      // A script need not say what the model says when its last call is done.
      if (called) return { text: 'Done.' }
      problems.push(`${name}: the model was asked once more than the script foresees, after: ${ending(chat.messages)}`)
      return { text: 'The script has nothing more to say here.' }
    }
    at++
    if (step.kind === 'fail') {
      const message = step.message ?? `the script fails here (line ${step.line})`
      return { fail: { status: step.fail, message, retryAfter: step.retryAfter } }
    }
    if (step.kind === 'say') {
      const next = steps[at]
      if (next?.kind !== 'call' && next?.kind !== 'calls') return { text: step.say }
      at++
      return { text: step.say, calls: callsOf(next) }
    }
    return { calls: callsOf(step) }
  }
}

const callsOf = (step: ScriptStep): NonNullable<Said['calls']> =>
  (step.kind === 'calls' ? step.calls : step.kind === 'call' ? [step] : []).map(({ call, input = {} }) => ({
    name: call,
    input,
  }))

/** Why a text is not as it should be; undefined when it is. */
function unmet(expected: Expectation, text: string, isError?: boolean): string | undefined {
  const { error, contains = [], excludes = [], matches, equals } = expected
  if (error !== undefined && isError !== undefined && error !== isError)
    return `${isError ? 'is an error' : 'is no error'}: ${shown(text)}`
  for (const part of [contains].flat()) if (!text.includes(part)) return `does not contain "${part}": ${shown(text)}`
  for (const part of [excludes].flat()) if (text.includes(part)) return `contains "${part}": ${shown(text)}`
  if (matches !== undefined && !new RegExp(matches).test(text)) return `does not match /${matches}/: ${shown(text)}`
  if (equals !== undefined && text.trim() !== equals.trim()) return `is not "${equals}" but ${shown(text)}`
  return undefined
}

function unmetFile(step: Extract<ScriptStep, { kind: 'file' }>, path: string): string | undefined {
  const { exists = true } = step
  if (existsSync(path) !== exists) return exists ? 'is not there' : 'is there'
  return exists ? unmet(step, readFileSync(path, 'utf8')) : undefined
}

function unmetQuery(step: Extract<ScriptStep, { kind: 'sql' }>, query: (sql: string) => string): string | undefined {
  try {
    return unmet(step, query(step.sql))
  } catch (cause) {
    return `failed: ${(cause as Error).message}`
  }
}

function lastResults(messages: readonly ChatMessage[]): { text: string; isError: boolean } | undefined {
  const at = messages.findLastIndex((message) => message.role === 'assistant')
  const results = messages.slice(at + 1).filter((message) => message.role === 'tool')
  if (results.length === 0) return undefined
  return { text: results.map(({ text }) => text).join('\n'), isError: results.some(({ isError }) => isError) }
}

const wholeText = (messages: readonly ChatMessage[]) => messages.map(({ text }) => text).join('\n')

const ending = (messages: readonly ChatMessage[]) => shown(messages.at(-1)?.text ?? '')

function shown(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ')
  return line.length > 300 ? `${line.slice(0, 300)}…` : line || '(nothing)'
}

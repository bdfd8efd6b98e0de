/** What the rehearsal model says about the results of its calls. */
import { counted } from '../hooks/text/counted.ts'
import type { ChatMessage, MadeCall } from './chat.ts'

type Result = Extract<ChatMessage, { role: 'tool' }>

export function readBack(calls: readonly MadeCall[], results: readonly Result[]): string {
  const failed = results.find((result) => result.isError)
  const result = failed ?? results.at(-1)
  if (!result) return 'Nothing came back.'
  const call = calls.find(({ id }) => id === result.id)
  const name = call?.name ?? 'The tool'
  if (failed) return `${name} failed:\n\n${quote(failed.text)}`
  const say = words[name]
  return say ? say(result.text, call?.input ?? {}) : `${name} answered:\n\n${quote(result.text)}`
}

const isEmpty = (text: string) => text.trim() === ''

const words: Record<string, (text: string, input: Record<string, unknown>) => string> = {
  Read: (text, { file_path }) => `This is ${file_path}:\n\n${quote(text)}`,
  Write: (_, { file_path }) => `${file_path} is written.`,
  Edit: (_, { file_path }) => `${file_path} is changed.`,
  Bash: (text, { command }) =>
    isEmpty(text) ? `\`${command}\` succeeded and printed nothing.` : `\`${command}\` printed:\n\n${quote(text)}`,
  Glob: (text) => (isEmpty(text) ? 'No file matches.' : `These files match:\n\n${quote(text)}`),
  Grep: (text, { pattern }) =>
    isEmpty(text) ? `Nothing matches ${pattern}.` : `Matches for ${pattern}:\n\n${quote(text)}`,
  TodoWrite: (_, { todos }) =>
    `The list has ${Array.isArray(todos) ? counted(todos.length, 'entry', 'entries') : 'some entries'}.`,
  ExitPlanMode: (text) => `You were shown the plan. ${text.trim().split('\n')[0]}`,
}

const LINES = 20

/** The beginning of a result, in a fence that the text itself cannot close. */
function quote(text: string): string {
  const lines = text.trimEnd().split('\n')
  const shown = lines.slice(0, LINES).join('\n').slice(0, 4000)
  const more = lines.length > LINES ? `\n… and ${lines.length - LINES} more lines` : ''
  const fence = '`'.repeat(Math.max(3, ...(shown.match(/`+/g) ?? []).map((run) => run.length + 1)))
  return `${fence}\n${shown}\n${fence}${more}`
}

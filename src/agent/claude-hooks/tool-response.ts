/** A tool's result in the form of Claude Code's `tool_response`, and back: what its hooks read, and what they may replace. */
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { readJson } from '../../hooks/text/json-text.ts'
import type { ToolOutput } from '../../tools/output.ts'

/** As the tool itself tells it, else from the call and its text. */
export function toolResponse(tool: string, input: JsonObject, output: ToolOutput): unknown {
  if (output.response) return output.response()
  if (tool.startsWith('mcp__')) return [{ type: 'text', text: output.content }]
  return fromText[tool]?.(input, output.content) ?? { content: output.content }
}

const fromText: Readonly<Record<string, (input: JsonObject, text: string) => unknown>> = {
  Read: ({ file_path }, text) => ({
    type: 'text',
    file: { filePath: file_path, content: text, numLines: lines(text), startLine: 1, totalLines: lines(text) },
  }),
  TodoWrite: ({ todos }) => ({ oldTodos: [], newTodos: todos }),
  Skill: ({ skill }) => ({ success: true, commandName: skill }),
  WebFetch: ({ url }, text) => ({
    ...{ bytes: Buffer.byteLength(text), code: 200, codeText: 'OK', result: text, durationMs: 0, url },
  }),
  WebSearch: ({ query }, text) => ({ query, results: [text], durationSeconds: 0 }),
  AskUserQuestion: ({ questions, answers }, text) => ({ questions, answers: answers ?? {}, content: text }),
  Agent: ({ prompt }, text) => ({
    ...{ status: 'completed', prompt, content: [{ type: 'text', text: withoutNotes(text) }] },
    ...{ agentId: noteIn(text, /^agentId: (\S+)$/m), totalDurationMs: countIn(text, 'duration_ms') },
    ...{ totalTokens: countIn(text, 'total_tokens'), totalToolUseCount: countIn(text, 'tool_uses') },
  }),
  EnterPlanMode: (_, text) => ({ message: text }),
  ExitPlanMode: ({ plan }) => ({ plan: plan ?? null, isAgent: false }),
  TaskStop: ({ task_id, shell_id }, text) => ({ message: text, task_id: task_id ?? shell_id }),
  TaskOutput: ({ task_id }, text) => ({
    retrieval_status: noteIn(text, /<retrieval_status>(\w+)</),
    task: {
      task_id,
      task_type: noteIn(text, /<task_type>(\w+)</),
      status: noteIn(text, /<status>(\w+)</),
      output: noteIn(text, /<output>\n(.*)\n<\/output>/s),
    },
  }),
  ListMcpResources: (_, text) => json(text) ?? [],
  ReadMcpResource: ({ uri }, text) => json(text) ?? { contents: [{ uri, text }] },
  ToolSearch: ({ query }, text) => ({ query, matches: noteIn(text, /^Loaded (.*):$/m).split(', ') }),
  Brief: ({ message }) => ({ message }),
}

/** The output that a hook puts in its place, as the model reads it; undefined where its form is not the tool's. */
export function replacedBy(tool: string, response: unknown): string | undefined {
  if (typeof response === 'string') return response
  if (tool === 'Bash') return isObject(response) ? streams(response) : undefined
  if (tool === 'Read') return textOfFile(response)
  if (Array.isArray(response) && response.every(isTextBlock)) return response.map(({ text }) => text).join('\n')
  return response === undefined || response === null ? undefined : JSON.stringify(response)
}

function streams({ stdout, stderr }: JsonObject): string | undefined {
  if (typeof stdout !== 'string') return undefined
  return typeof stderr === 'string' && stderr !== '' ? `${stdout}\n--- stderr ---\n${stderr}` : stdout
}

function textOfFile(response: unknown): string | undefined {
  const file = isObject(response) && isObject(response['file']) ? response['file'] : undefined
  return typeof file?.['content'] === 'string' ? file['content'] : undefined
}

const isTextBlock = (block: unknown): block is { type: 'text'; text: string } =>
  isObject(block) && block['type'] === 'text' && typeof block['text'] === 'string'

const lines = (text: string) => text.split('\n').length
const noteIn = (text: string, pattern: RegExp): string => pattern.exec(text)?.[1] ?? ''
const countIn = (text: string, name: string): number => Number(noteIn(text, new RegExp(`${name}: (\\d+)`)))
/** What a sub-agent said, without the notes about it that end the result. */
const withoutNotes = (text: string): string => text.replace(/\n\nagentId: .*$/s, '')

function json(text: string): unknown {
  const read = readJson(text)
  return read.ok && typeof read.value === 'object' ? read.value : undefined
}

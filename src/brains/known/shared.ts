/** What several agents have in common. */
import type { Limit } from '../brain.ts'
import { type BrainHook, whatOf } from '../hook.ts'
import { notStrict } from '../json-text.ts'
import { namesIn } from '../tools.ts'

/** Copilot CLI's own names (GitHub's hooks reference); under Pascal event names it says Claude Code's instead. */
export const copilotTools = {
  Bash: ['bash', 'powershell'],
  Write: ['create', 'apply_patch'],
  Edit: ['edit', 'str_replace_editor', 'apply_patch'],
  Read: ['view'],
  Glob: ['glob'],
  Grep: ['grep', 'rg'],
  WebFetch: ['web_fetch'],
  WebSearch: ['web_search'],
  Agent: ['task'],
}

/** VS Code's pages show two sets of names for the same tools; both are taken (its hooks reference and samples). */
export const vscodeTools = {
  Bash: ['run_in_terminal', 'runTerminalCommand'],
  Write: ['create_file', 'createFile', 'apply_patch'],
  Edit: ['replace_string_in_file', 'multi_replace_string_in_file', 'insert_edit_into_file', 'apply_patch', 'editFiles'],
  Read: ['read_file', 'readFile'],
  Glob: ['file_search', 'fileSearch'],
  Grep: ['grep_search', 'textSearch'],
  WebFetch: ['fetch_webpage', 'fetch'],
  Agent: ['runSubagent'],
}

/** For agents that read strict JSON: a comment or a trailing comma makes them drop the whole file. */
export const strictRemarks = (title: string) => (text: string, file: string) => {
  const at = text.trim() === '' ? null : notStrict(text)
  return at
    ? [`${file}:${at}: ${title} reads strict JSON and will not read this file (a comment or a trailing comma)`]
    : []
}

/** What most agents lose of onBoot. */
export const noCompaction = (title: string) =>
  `${title} says nothing when a conversation was compacted, so it does not run again then`

/** Said of agents in which writing and editing are one tool, when a filter means only one of the two. */
export function oneOfTwo(hook: BrainHook, because: string): Limit[] {
  const names = namesIn(whatOf(hook)) ?? []
  if (names.includes('Write') === names.includes('Edit')) return []
  return [{ hook, dropped: false, why: `${because}, so the hook runs on both` }]
}

/** The agents whose histories can be read. */
import { claude } from '../claudecode/history.ts'
import { codex } from '../codex/history.ts'
import { copilot } from '../copilot/history.ts'
import { cursor } from '../cursor/history.ts'
import { gemini } from '../gemini/history.ts'
import { opencode } from '../opencode/history.ts'
import { pi } from '../pi/history.ts'
import { qwen } from '../qwen/history.ts'
import { vscode } from '../vscode/history.ts'
import type { HistoryReader } from './record.ts'

export const historyReaders: readonly HistoryReader[] = [
  claude,
  codex,
  opencode,
  gemini,
  copilot,
  qwen,
  pi,
  cursor,
  vscode,
]

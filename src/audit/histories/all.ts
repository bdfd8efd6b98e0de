/** The agents whose histories can be read. */
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { gemini } from './gemini.ts'
import type { HistoryReader } from './history.ts'
import { opencode } from './opencode.ts'
import { pi } from './pi.ts'
import { qwen } from './qwen.ts'

export const historyReaders: readonly HistoryReader[] = [claude, codex, opencode, gemini, copilot, qwen, pi]

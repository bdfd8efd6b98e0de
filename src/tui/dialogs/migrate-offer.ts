/** At the first start, one line for a user who comes from another agent. Nothing of it is read but whether it is there. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { writeAtomic } from '../../files/atomic-write.ts'

const signs: Readonly<Record<string, readonly string[]>> = {
  'Claude Code': ['.claude/settings.json', '.claude.json'],
  Codex: ['.codex/config.toml'],
  'Gemini CLI': ['.gemini/settings.json'],
  opencode: ['.config/opencode/opencode.json', '.config/opencode/opencode.jsonc'],
}

/** Undefined where it was said before, or where nothing was found. */
export function migrateOffer(home: string): string | undefined {
  const mark = join(home, '.ona', '.migrate-offered')
  if (existsSync(mark)) return undefined
  const found = Object.keys(signs).filter((title) => signs[title]!.some((path) => existsSync(join(home, path))))
  if (found.length === 0) return undefined
  mkdirSync(join(home, '.ona'), { recursive: true, mode: 0o700 })
  writeAtomic(mark, '', { flush: false })
  return `found settings of ${found.join(', ')}; ona migrate shows what ona does with them`
}

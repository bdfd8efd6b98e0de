/** The files that hooks run: whoever could edit one could take the guard away. */
import { statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

interface Places {
  readonly projectDir: string
  readonly home: string
}

/** Words of the commands that are files of the user's or the project's, as absolute paths. */
export function hookFiles(commands: readonly string[], { projectDir, home }: Places): readonly string[] {
  const found = commands.flatMap((command) =>
    command
      .replace(/\$\{?CLAUDE_PROJECT_DIR\}?/g, projectDir)
      .replace(/\$\{?HOME\}?|(?<![^\s'"=])~(?=\/)/g, home)
      .split(/[\s'"`;|&()<>=]+/)
      .filter((word) => word !== '' && !word.startsWith('-') && !word.includes('$'))
      .map((word) => (isAbsolute(word) ? word : join(projectDir, word)))
      .filter((path) => !system.test(path) && isFile(path)),
  )
  return [...new Set(found)]
}

/** Programs of the system are not the agent's to change. */
const system = /^\/(usr|bin|sbin|lib|opt|nix|dev|proc|System)\//

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false // no file, or a word that is none
  }
}

/** Which files the hooks execute: whoever may edit one of them decides what the guard says. */
import { realpathSync, statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import type { Handler } from './handler.ts'

export interface HookPlace {
  /** Where hooks run, and where a relative path in them starts. */
  readonly cwd: string
  readonly projectDir: string
  readonly home: string
}

/**
 * Absolute paths, as written and with links followed. Of a command every word that names an existing file counts,
 * whatever its place in the line: a script, the program that interprets it, and a file that it is given.
 */
export function filesHooksExecute(handlers: readonly Handler[], place: HookPlace): readonly string[] {
  const found = new Set<string>()
  const roots = [...new Set([place.cwd, place.projectDir])]
  for (const handler of handlers) {
    const words =
      handler.kind === 'command'
        ? [...wordsOf(handler.command), ...(handler.args ?? [])]
        : handler.kind === 'function' && handler.file !== undefined
          ? [handler.file]
          : []
    for (const word of words) {
      const path = expand(word, place)
      for (const file of isAbsolute(path) ? [path] : roots.map((root) => resolve(root, path))) {
        if (system.test(file) || !isFile(file)) continue
        found.add(file)
        found.add(realpathSync(file))
      }
    }
  }
  return [...found]
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

/** The words of a command line, quotes taken off and operators left out; a NUL ends none. */
const wordsOf = (command: string): string[] =>
  (command.match(/(?:"[^"]*"|'[^']*'|\\.|[^\s"'\\;&|<>()`=])+/gs) ?? []).map((word) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'|\\(.)/gs, (_, double, single, escaped) => double ?? single ?? escaped),
  )

const expand = (word: string, { projectDir, home, cwd }: HookPlace): string =>
  word
    .replace(/^~(?=\/|$)/, () => home)
    .replaceAll(/\$\{?(CLAUDE_PROJECT_DIR|HOME|PWD)\}?/g, (_, name: string) =>
      name === 'HOME' ? home : name === 'PWD' ? cwd : projectDir,
    )

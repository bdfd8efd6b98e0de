/** A line that writes a file and runs it: what runs is in no word of a command. */

import { filesOf } from '../files/files.ts'
import type { Line } from '../line.ts'
import { byName, named } from '../parse/by-name.ts'
import { type FileUse, plainWord, type ShellCommand, type ShellWord } from '../parse/command.ts'
import { formsOf, nameOf } from '../parse/wrappers.ts'

/** The first command that runs a file which a command of the line writes. */
export function runsOwnFile(line: Line): ShellCommand | undefined {
  const { commands } = line.reading
  if (commands.length < 2) return undefined
  const places = (word: ShellWord) => line.place.accesses(word, 'edit').flatMap(({ paths }) => paths)
  const written = new Set<string>()
  for (const command of commands)
    for (const use of filesOf(command))
      if (isFilled(command, use)) for (const path of places(use.word)) written.add(path)
  if (written.size === 0) return undefined
  return commands.find((command) => runBy(command).some((word) => places(word).some((path) => written.has(path))))
}

/** Whether a command fills the file with text. Their like makes a folder, a mode or an empty file. */
const isFilled = (command: ShellCommand, { kind, word }: FileUse): boolean =>
  kind === 'edit' &&
  !word.path.startsWith('/dev/') &&
  (command.writes.includes(word) || !noContents(nameOf(command.words)))
const noContents = named(/^(chmod|chown|chgrp|touch|mkdir|rm|rmdir|unlink|truncate|shred)$/)

/** What is run as a program, or by one that takes code from files. */
const runBy = (command: ShellCommand): readonly ShellWord[] =>
  formsOf(command).flatMap((form) => {
    const [name, ...args] = form
    if (!name) return []
    const own = name.path.includes('/') ? [name] : []
    const program = nameOf(form)
    return [...own, ...(takesCode(program) ? args.flatMap(pathsOf) : []), ...readByItself(program)]
  })

/** Files with code that programs look for. */
const makefiles = ['Makefile', 'makefile', 'GNUmakefile']
const looksFor: Readonly<Record<string, readonly string[]>> = {
  make: makefiles,
  gmake: makefiles,
  ninja: ['build.ninja'],
  ...Object.fromEntries(['npm', 'pnpm', 'yarn', 'bun'].map((name) => [name, ['package.json', '.npmrc']])),
  pytest: ['conftest.py'],
  cargo: ['build.rs', 'Cargo.toml'],
  rake: ['Rakefile'],
}
const readByItself = byName((name): readonly ShellWord[] =>
  Object.hasOwn(looksFor, name) ? looksFor[name]!.map(plainWord) : [],
)

const takesCode = named(
  /^(\w*sh|source|\.|python[\d.]*|pypy3?|node|nodejs|tsx|ts-node|deno|bun|perl[\d.]*|ruby|php|lua[\d.]*|expect|osascript|Rscript|julia|g?make|ninja|[gmn]?awk|sed|vim?|nvim|ex|emacs|gdb|gcc|g\+\+|cc|c\+\+|clang|rustc|go|tcc|at|batch|crontab|git|curl|wget|psql|mysql|sqlite3)$/,
)

/** A word, and the file in `-fFILE` and `--file=FILE`. */
const pathsOf = (word: ShellWord): readonly ShellWord[] => {
  const inner = /^(?:--?[\w-]+=|-[a-zA-Z])(.+)/s.exec(word.path)?.[1]
  return inner === undefined ? [word] : [{ ...word, path: inner }]
}

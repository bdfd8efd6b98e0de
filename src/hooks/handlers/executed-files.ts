/** Which files the hooks execute: a user who may edit one of them controls the guard. */
import { realpathSync, statSync } from 'node:fs'
import { basename, isAbsolute, resolve } from 'node:path'
import type { Handler } from '../handler.ts'

export interface HookPlace {
  /** Where hooks run, and where a relative path in them starts. */
  readonly cwd: string
  readonly projectDir: string
  readonly home: string
}

/**
 * Absolute paths, as written and with links followed. Of a command every word that names an existing file counts,
 * whatever its place in the line: a script, the program that interprets it, and a file that it is given. `npm run lint`
 * counts as package.json. What a script imports is not looked for.
 */
export function filesHooksExecute(handlers: readonly Handler[], place: HookPlace): readonly string[] {
  const words = handlers.flatMap((handler) =>
    handler.kind === 'command'
      ? [...wordsOf(handler.command), ...(handler.args ?? []).flatMap(withValue)]
      : handler.kind === 'function' && handler.file !== undefined
        ? [handler.file]
        : [],
  )
  return filesOf(words, place)
}

/** The same for other commands that settings name. */
export const filesCommandsExecute = (commands: readonly string[], place: HookPlace): readonly string[] =>
  filesOf(commands.flatMap(wordsOf), place)

function filesOf(words: readonly string[], place: HookPlace): readonly string[] {
  const found = new Set<string>()
  const roots = [...new Set([place.cwd, place.projectDir])]
  for (const word of words) {
    const runner = basename(word)
    if (Object.hasOwn(runners, runner))
      for (const name of runners[runner]!) for (const root of roots) found.add(resolve(root, name))
    const path = expand(word, place)
    for (const file of isAbsolute(path) ? [path] : roots.map((root) => resolve(root, path))) {
      if (system.test(file) || !isFile(file)) continue
      found.add(file)
      found.add(realpathSync(file))
    }
  }
  return [...found]
}

const manifest = ['package.json']
const python = ['pyproject.toml', 'setup.cfg', 'tox.ini', 'noxfile.py', 'conftest.py', 'pytest.ini']

/** Programs that run what a file of the project says, also one that is not there yet. */
const runners: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(['npm', 'npx', 'pnpm', 'pnpx', 'yarn', 'bun', 'bunx'].map((name) => [name, manifest])),
  ...Object.fromEntries(['make', 'gmake'].map((name) => [name, ['GNUmakefile', 'makefile', 'Makefile']])),
  ...Object.fromEntries(['poetry', 'uv', 'pdm', 'hatch', 'tox', 'nox', 'pytest'].map((name) => [name, python])),
  just: ['justfile', 'Justfile', '.justfile'],
  task: ['Taskfile.yml', 'Taskfile.yaml'],
  cargo: ['Cargo.toml', 'build.rs'],
  rake: ['Rakefile'],
  bundle: ['Gemfile'],
  gradle: ['build.gradle', 'build.gradle.kts'],
  gradlew: ['gradlew', 'build.gradle', 'build.gradle.kts'],
  mvn: ['pom.xml'],
  composer: ['composer.json'],
  deno: ['deno.json', 'deno.jsonc'],
  'pre-commit': ['.pre-commit-config.yaml'],
  lefthook: ['lefthook.yml'],
  direnv: ['.envrc'],
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

/** An argument as it is, and the file in `--rules=FILE`. */
const withValue = (word: string): string[] => [word, word.slice(word.indexOf('=') + 1)]

const expand = (word: string, { projectDir, home, cwd }: HookPlace): string =>
  word
    .replace(/^~(?=\/|$)/, () => home)
    .replaceAll(/\$\{?(CLAUDE_PROJECT_DIR|HOME|PWD)\}?/g, (_, name: string) =>
      name === 'HOME' ? home : name === 'PWD' ? cwd : projectDir,
    )

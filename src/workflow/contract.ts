/** What the outside may know of a project: its declared commands, their help, its published schemas and documents. */

import { existsSync, globSync, realpathSync, statSync } from 'node:fs'
import { join, normalize, relative } from 'node:path'
import { readPlainFile } from '../files/plain-file.ts'
import { counted } from '../hooks/text/counted.ts'
import type { Implementation } from './implementation.ts'

export interface ContractPart {
  readonly name: string
  readonly text: string
}

export interface PublicContract {
  readonly parts: readonly ContractPart[]
  /** Files that are run as commands, relative to the project. */
  readonly entryPoints: readonly string[]
  /** What was left out, and why: it is part of the implementation. */
  readonly leftOut: readonly { readonly name: string; readonly why: string }[]
}

const mostText = 20_000

/**
 * Gathers the contract. A part that is an implementation file, or holds one's text, is left out.
 * `help` runs a declared command with --help, where it may run, and gives what it printed.
 */
export async function publicContract(
  projectDir: string,
  implementation: Implementation,
  help: (file: string) => Promise<string | undefined>,
): Promise<PublicContract> {
  const entryPoints = declaredCommands(projectDir)
  const leftOut: { name: string; why: string }[] = []
  const parts: ContractPart[] = []
  const isShared = linesOf([...implementation.files.keys()].map((path) => contentOf(join(projectDir, path))))
  const add = (name: string, text: string, path?: string) => {
    if (path !== undefined && implementation.files.has(path))
      return void leftOut.push({ name, why: 'it was written while implementing' })
    const lines = text.split('\n')
    const shared = lines.filter(isShared)
    if (shared.filter(isCode).length === 0) return void parts.push({ name, text: text.slice(0, mostText) })
    leftOut.push({ name, why: `it holds ${counted(shared.length, 'line')} of the implementation` })
    const rest = lines.filter((line) => !isShared(line)).join('\n')
    if (shared.length * 2 < lines.length && rest.trim() !== '') parts.push({ name, text: rest.slice(0, mostText) })
  }

  const manifest = join(projectDir, 'package.json')
  if (existsSync(manifest)) {
    const { name, version, description, bin, exports, engines } = parsed(manifest)
    add(
      'package.json (name, bin, exports)',
      JSON.stringify({ name, version, description, bin, exports, engines }, null, 2),
    )
  }
  for (const [command, file] of entryPoints) {
    const printed = await help(file)
    if (printed) add(`${command} --help`, printed)
  }
  for (const file of published(projectDir)) add(file, contentOf(join(projectDir, file)), file)
  return { parts, entryPoints: [...new Set(entryPoints.map(([, file]) => file))], leftOut }
}

/** Whether a line is one of these texts', however it is indented, numbered or quoted; or holds encoded text, which no reader needs. */
function linesOf(texts: readonly string[]): (line: string) => boolean {
  const code = new Set(texts.flatMap((text) => text.split('\n').map(plain)).filter((line) => line.length >= 8))
  const long = [...code].filter((line) => line.length >= 16)
  return (line) => {
    const text = plain(line)
    return code.has(text) || encoded.test(text) || (isCode(text) && long.some((each) => text.includes(each)))
  }
}

const plain = (line: string): string =>
  line
    .replace(/\u001b\[[\d;]*m/g, '')
    .replace(/\s+/g, ' ')
    .trim()
const encoded = /(?<![\w/:.])[A-Za-z0-9+/]{60,}={0,2}(?![\w/])/

/** Usage lines stand in the source as they are printed, and may be known; statements may not. */
const isCode = (line: string): boolean =>
  encoded.test(line) ||
  /[;{}]\s*$|=>|[=!]==|:=|^\s*(?:import|export|const|let|var|function|class|def|return|async|await|func|fn|pub|use|local|echo|printf|print|console|if|elif|else|for|while|try|except|catch|#include|#!)\b|\w\(.*\)/.test(
    line,
  )

/** What a package manifest says can be run. */
function declaredCommands(projectDir: string): [name: string, file: string][] {
  const { name, bin } = parsed(join(projectDir, 'package.json'))
  const pairs: [string, unknown][] =
    typeof bin === 'string' ? [[String(name ?? 'command'), bin]] : Object.entries(bin ?? {})
  return pairs
    .filter((pair): pair is [string, string] => typeof pair[1] === 'string')
    .map(([command, file]): [string, string] => [command, normalize(file)])
    .filter(([, file]) => {
      const path = join(projectDir, file)
      return !file.startsWith('..') && existsSync(path) && statSync(path).isFile()
    })
}

/** Documents and schemas that a user of the project is given. A link is none, wherever it leads. */
const published = (projectDir: string): string[] =>
  ['README.md', 'docs/**/*.md', 'schemas/**/*.json', '*.schema.json', 'openapi.{json,yaml,yml}', 'schema.sql']
    .flatMap((pattern) => globSync(pattern, { cwd: projectDir }))
    .filter((file) => {
      const path = join(projectDir, file)
      return existsSync(path) && relative(projectDir, realpathSync(path)) === normalize(file)
    })
    .sort()
    .slice(0, 40)

function parsed(file: string): Record<string, unknown> {
  try {
    return JSON.parse(readPlainFile(file)) ?? {}
  } catch {
    return {} // a manifest that is not there or cannot be read declares nothing
  }
}

function contentOf(file: string): string {
  try {
    return readPlainFile(file)
  } catch {
    return '' // gone or unreadable: there is nothing to tell
  }
}

/** A rules file that is reported once per version when it is broken, and hashed and checked only when it looks different. */
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { sha256 } from '../lazy-builtins.ts'
import { readJson } from '../session/files.ts'
import { isObject } from '../session/paths.ts'
import type { Json } from '../types.ts'
import { checkSchema } from './check-schema.ts'
import type { Schema } from './schemas.ts'

export type RulesFile =
  | { kind: 'absent' }
  | { kind: 'broken'; why: string; stamp: string; isNews: boolean }
  /** `faults`: what a new version says and its schema does not allow; the rules are applied as far as they can be. */
  | { kind: 'rules'; rules: Json; stamp: string; isNews: boolean; faults: readonly string[] }

/**
 * `known`: the stamp the state holds; a stamp is the file's time and size: cheap, and changed by every edit. `schemaFile`: what a new
 * version is checked against.
 */
export function readRules(file: string, known: unknown, schemaFile?: string): RulesFile {
  const { value, problem } = readJson(file)
  if (value === undefined && problem === undefined) return { kind: 'absent' }
  let stamp = 'unknown'
  try {
    const { mtimeMs, size } = statSync(file)
    stamp = `${Math.round(mtimeMs)}-${size}`
  } catch {} // taken away in between: what was read counts
  const isNews = stamp !== known
  if (problem !== undefined) return { kind: 'broken', why: problem, stamp, isNews }
  if (!isObject(value)) return { kind: 'broken', why: 'it is not a JSON object', stamp, isNews }
  return {
    kind: 'rules',
    rules: value,
    stamp,
    isNews,
    faults: isNews && schemaFile ? faultsIn(value, file, schemaFile) : [],
  }
}

/** At most this many are reported; the doctor has them all. */
const mostFaults = 5

function faultsIn(rules: Json, file: string, schemaFile: string): string[] {
  const name = basename(file)
  const { value: schema } = readJson(schemaFile)
  if (!isObject(schema)) return []
  try {
    return checkSchema(schema as Schema, rules)
      .slice(0, mostFaults)
      .map((fault) => `${name}: ${fault}`)
  } catch (cause) {
    return [`${name} could not be checked: ${(cause as Error).message}`] // the schema is a file that anyone may have edited
  }
}

export const hashOf = (rules: Json): string => sha256(JSON.stringify(rules), 16)

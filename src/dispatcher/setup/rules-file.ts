/** A rules file that is reported once per version when it is broken, and hashed only when it looks different. */
import { statSync } from 'node:fs'
import { sha256 } from '../lazy-builtins.ts'
import { readJson } from '../session/files.ts'
import { isObject } from '../session/paths.ts'
import type { Json } from '../types.ts'

export type RulesFile =
  | { kind: 'absent' }
  | { kind: 'broken'; why: string; stamp: string; isNews: boolean }
  | { kind: 'rules'; rules: Json; stamp: string; isNews: boolean }

/** `known`: the stamp the state holds. A stamp is the file's time and size: cheap, and changed by every edit. */
export function readRules(file: string, known: unknown): RulesFile {
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
  return { kind: 'rules', rules: value, stamp, isNews }
}

export const hashOf = (rules: Json): string => sha256(JSON.stringify(rules), 16)

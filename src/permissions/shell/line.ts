/** A command line under judgement: what was read, and where it is judged. */
import type { PermissionQuestion } from '../question.ts'
import type { Rules } from '../rules/rules.ts'
import { directoriesOf } from './files/directories.ts'
import { type Place, placeOf } from './files/place.ts'
import type { Reading } from './parse/command.ts'
import { readShell } from './parse/read.ts'

export interface Line {
  readonly source: string
  readonly reading: Reading
  readonly question: PermissionQuestion
  readonly place: Place
}

export function lineOf(question: PermissionQuestion, rules: Rules): Line {
  const source = typeof question.input.command === 'string' ? question.input.command : ''
  const reading = readShell(source)
  const place = placeOf(question, rules)
  const directories = directoriesOf(reading, question)
  const stays = directories?.length === 1
  return { source, reading, question, place: stays ? place : place.at(directories) }
}

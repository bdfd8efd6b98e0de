/** A command line under judgement: what was read, and where it is judged. */
import type { PermissionQuestion } from '../question.ts'
import type { Rules } from '../rules/rules.ts'
import type { Reading } from './command.ts'
import { directoriesOf } from './directories.ts'
import { type Place, placeOf } from './place.ts'
import { readShell } from './read.ts'

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

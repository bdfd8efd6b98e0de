/**
 * Where in a text the words are that a search matched. The index keeps no text and other forms of a word match too, so a
 * table of one row, with the same tokenizer, is asked.
 */
import type { Db } from '../../../store/open.ts'
import { tokenizer } from './tables.ts'

/** Returns pieces of the text around the best match; every second piece is a match. */
export function marker(db: Db, match: string): (text: string) => string[] {
  db.run(`CREATE VIRTUAL TABLE IF NOT EXISTS temp.ona_inspect_one USING fts5(body, tokenize='${tokenizer}')`)
  return (text) => {
    const line = text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()
    db.run('DELETE FROM temp.ona_inspect_one')
    db.run('INSERT INTO temp.ona_inspect_one(body) VALUES (?)', line)
    const found = db.get<{ part: string }>(
      `SELECT snippet(ona_inspect_one, 0, char(1), char(2), '…', 40) AS part FROM temp.ona_inspect_one
       WHERE ona_inspect_one MATCH ?`,
      match,
    )
    const pieces = (found?.part ?? line).split(/[\u0001\u0002]/)
    return pieces.map((piece, at) => (at === 0 ? lastOf(piece) : firstOf(piece)))
  }
}

/** A token can be as long as a file. */
const longest = 200
const firstOf = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text)
const lastOf = (text: string): string => (text.length > longest ? `…${text.slice(-longest)}` : text)

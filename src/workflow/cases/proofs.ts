/** What was found out about the worth of a case: a row for each, of the case as it stands. */
import type { Db } from '../../store/open.ts'
import type { Case } from './cases.ts'

export interface Proof {
  readonly caseId: number
  readonly hash: string
  /** The implementation that it was tried on. */
  readonly codeHash: string
  /** Why it shows nothing although it passes. */
  readonly flaw: Flaw | undefined
  readonly mutants: readonly string[]
  /** Those of the mutants that it failed on. */
  readonly killed: readonly string[]
}

export type Flaw = (typeof flaws)[number]

/** By the number that is stored, from 1. */
const flaws = ['passes without the change', 'reads the source', 'not the same twice', 'kills no mutant'] as const

/** For the writer of the case, who must not hear anything of the code, and for the report. */
export const flawInWords: Record<Flaw, string> = {
  'passes without the change': 'passes without the change as well, so it proves nothing',
  'reads the source':
    'passes on the program with all its code there and none of it running: it looks at the text of the program, not at what it does',
  'not the same twice':
    'fails when it runs again, or when a comment is added to the program: it looks at the text, or keeps something between its runs',
  'kills no mutant': 'passes whatever fault is put into the program, so it proves nothing',
}

export function saveProof(db: Db, { caseId, hash, codeHash, flaw, mutants, killed }: Proof): void {
  db.transaction(() =>
    db.run(
      `INSERT OR REPLACE INTO ona_test_proofs(case_id, hash, code_hash, passes_emptied, mutants, killed)
       VALUES (?, ?, ?, ?, ?, ?)`,
      caseId,
      hash,
      codeHash,
      flaw === undefined ? 0 : flaws.indexOf(flaw) + 1,
      JSON.stringify(mutants),
      JSON.stringify(killed),
    ),
  )
}

/** The last proof of a case as it stands. */
export function proofOf(db: Db, { id, hash }: Pick<Case, 'id' | 'hash'>): Proof | undefined {
  const row = db.get<{ codeHash: string; flaw: number; mutants: string; killed: string }>(
    `SELECT code_hash AS codeHash, passes_emptied AS flaw, mutants, killed
     FROM ona_test_proofs WHERE case_id = ? AND hash = ?`,
    id,
    hash,
  )
  if (!row) return undefined
  const { codeHash, flaw, mutants, killed } = row
  return { caseId: id, hash, codeHash, flaw: flaws[flaw - 1], mutants: JSON.parse(mutants), killed: JSON.parse(killed) }
}

/**
 * What a case is worth: it must fail where the change is taken out, and should fail on mutants of it. Tried in throw-away
 * copies of the project.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Db } from '../store/open.ts'
import { hashOf } from '../store/plans.ts'
import type { Case } from './cases.ts'
import { type Implementation, textOf } from './implementation.ts'
import { type Mutant, mutantsOf } from './mutants.ts'
import { emptied } from './project-copy.ts'
import { runScript, type ScriptPlace } from './run-script.ts'

export interface Proof {
  readonly caseId: number
  readonly hash: string
  /** The implementation that it was tried on. */
  readonly codeHash: string
  /** It passed without the change, and so shows nothing. */
  readonly passesEmptied: boolean
  readonly mutants: readonly string[]
  /** Those of the mutants that it failed on. */
  readonly killed: readonly string[]
}

/** A run with many cases and mutants ends after this; what was not tried does not count. */
const longestMs = 120_000
const mostMutants = 12

export async function proveCases(cases: readonly Case[], change: Implementation, place: ScriptPlace): Promise<void> {
  const files = present(change, place.projectDir)
  if (cases.length === 0 || files.size === 0) return
  const until = performance.now() + longestMs
  const codeHash = codeHashOf(change)
  const mutants = mutantsOf(files, mostMutants)
  const proofs = new Map<Case, Proof>()
  const keep = (each: Case, proof: Proof) => {
    proofs.set(each, proof)
    saveProof(place.db, proof)
  }
  for (const each of cases) {
    if (place.signal?.aborted || performance.now() > until) return
    const passesEmptied = await passesWithoutChange(each.content, files.keys(), place)
    keep(each, { caseId: each.id, hash: each.hash, codeHash, passesEmptied, mutants: [], killed: [] })
  }
  const copy = emptied(place.projectDir, [])
  try {
    for (const mutant of mutants) {
      for (const [each, proof] of proofs) {
        if (place.signal?.aborted || performance.now() > until) return
        const survives = await passesOn(
          mutant,
          each.content,
          { ...place, projectDir: copy.path, packages: copy.packages },
          files,
        )
        const killed = survives ? proof.killed : [...proof.killed, mutant.name]
        keep(each, { ...proof, mutants: [...proof.mutants, mutant.name], killed })
      }
    }
  } finally {
    copy.remove()
  }
}

/** Whether a script passes on the project as it would be without the change. */
export async function passesWithoutChange(
  script: string,
  files: Iterable<string>,
  place: ScriptPlace,
): Promise<boolean> {
  const copy = emptied(place.projectDir, files)
  try {
    return (
      (await runScript(script, { ...place, projectDir: copy.path, packages: copy.packages, timeoutMs: caseMs }))
        .exitCode === 0
    )
  } finally {
    copy.remove()
  }
}

/** A program that hangs with a fault in it is as good as one that fails. */
const caseMs = 20_000

async function passesOn(
  { file, text }: Mutant,
  script: string,
  place: ScriptPlace,
  files: ReadonlyMap<string, string>,
): Promise<boolean> {
  writeFileSync(join(place.projectDir, file), text)
  try {
    return (await runScript(script, { ...place, timeoutMs: caseMs })).exitCode === 0
  } finally {
    writeFileSync(join(place.projectDir, file), files.get(file)!)
  }
}

/** The texts of the change that are still there. */
export const present = ({ files }: Implementation, projectDir: string): Map<string, string> =>
  new Map(
    [...files.keys()].flatMap((path): [string, string][] => {
      const text = textOf(join(projectDir, path))
      return text === undefined || text.includes('\0') ? [] : [[path, text]]
    }),
  )

const codeHashOf = ({ files }: Implementation): string => hashOf(JSON.stringify([...files]))

function saveProof(db: Db, { caseId, hash, codeHash, passesEmptied, mutants, killed }: Proof): void {
  db.transaction(() =>
    db.run(
      `INSERT OR REPLACE INTO ona_test_proofs(case_id, hash, code_hash, passes_emptied, mutants, killed)
       VALUES (?, ?, ?, ?, ?, ?)`,
      caseId,
      hash,
      codeHash,
      passesEmptied ? 1 : 0,
      JSON.stringify(mutants),
      JSON.stringify(killed),
    ),
  )
}

/** The last proof of a case as it stands. */
export function proofOf(db: Db, { id, hash }: Pick<Case, 'id' | 'hash'>): Proof | undefined {
  const row = db.get<{ codeHash: string; passesEmptied: number; mutants: string; killed: string }>(
    `SELECT code_hash AS codeHash, passes_emptied AS passesEmptied, mutants, killed
     FROM ona_test_proofs WHERE case_id = ? AND hash = ?`,
    id,
    hash,
  )
  if (!row) return undefined
  const { codeHash, passesEmptied, mutants, killed } = row
  return {
    caseId: id,
    hash,
    codeHash,
    passesEmptied: passesEmptied === 1,
    mutants: JSON.parse(mutants),
    killed: JSON.parse(killed),
  }
}

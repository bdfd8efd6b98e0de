/**
 * What a case is worth: it must fail where the change is taken out and where its code does not run, hold where only a
 * comment is added, and fail on mutants of the change. Tried in throw-away copies of the project.
 */
import { join } from 'node:path'
import { type Implementation, textOf } from '../implementation.ts'
import type { Case } from './cases.ts'
import { type Mutant, mutantsOf, spread } from './mutants.ts'
import type { ProjectCopy } from './project-copy.ts'
import { type Flaw, proofOf, saveProof } from './proofs.ts'
import { copyFor, runScript, type ScriptPlace } from './run-script.ts'
import { commentedOut, endedFirst, reworded } from './variants.ts'

/** What the implement phase left in the project: the files by path, and the texts of those that have one. */
export interface Change {
  readonly hash: string
  readonly files: readonly string[]
  readonly texts: ReadonlyMap<string, string>
}

export function changeOf({ files, hash }: Implementation, projectDir: string): Change {
  const present = [...files].filter(([, content]) => content !== '').map(([path]) => path)
  const texts = present.flatMap((path): [string, string][] => {
    const text = textOf(join(projectDir, path))
    return text === undefined || text.includes('\0') ? [] : [[path, text]]
  })
  return { hash, files: present, texts: new Map(texts) }
}

/** A run with many cases and mutants ends after this; what was not tried does not count. */
const longestMs = 120_000
/** Every case is tried on so many mutants; one that fails on none of them, on more. */
const mostMutants = 12
const mostForOne = 40
/** Fewer mutants than this say nothing about a case that fails on none. */
const fewestToJudge = 3

/** Tries cases that pass on the project as it is, and keeps what came of it. */
export async function proveCases(cases: readonly Case[], change: Change, place: ScriptPlace): Promise<void> {
  if (cases.length === 0 || change.files.length === 0) return
  const until = performance.now() + longestMs
  const over = () => place.signal?.aborted || performance.now() > until
  const all = mutantsOf(change.texts)
  const first = spread(all, mostMutants)
  const more = spread(all, mostForOne).filter((mutant) => !first.includes(mutant))
  for (const each of cases) {
    if (over()) return
    const { content } = each
    const flaw = isKnownSound(each, change, place)
      ? undefined
      : ((await flawWithoutChange(content, change, place)) ??
        ((await passesWith(reworded(change.texts), content, place)) ? undefined : 'not the same twice'))
    const tried: Mutant[] = []
    const killed: Mutant[] = []
    const keep = (found: Flaw | undefined) =>
      saveProof(place.db, {
        caseId: each.id,
        hash: each.hash,
        codeHash: change.hash,
        flaw: found,
        mutants: tried.map(({ name }) => name),
        killed: killed.map(({ name }) => name),
      })
    keep(flaw)
    if (flaw !== undefined) continue
    await onMutants(place, change, async (passes) => {
      for (const mutant of [...first, ...more]) {
        if (over() || (tried.length >= first.length && killed.length > 0)) break
        if (!(await passes(mutant, content))) killed.push(mutant)
        tried.push(mutant)
      }
    })
    keep(killsNothing(tried.length, killed.length, all.length) ? 'kills no mutant' : undefined)
  }
}

/** It was tried on this very change when it was written. */
function isKnownSound(each: Case, change: Change, { db }: ScriptPlace): boolean {
  const known = proofOf(db, each)
  return known !== undefined && known.codeHash === change.hash && known.flaw === undefined
}

const killsNothing = (tried: number, killed: number, possible: number): boolean =>
  killed === 0 && tried === possible && possible >= fewestToJudge

/** What is wrong with a script that nobody has seen pass yet. Says nothing of one that fails on the project as it is. */
export async function flawOf(script: string, change: Change, place: ScriptPlace): Promise<Flaw | undefined> {
  if (change.files.length === 0) return undefined
  const flaw = await flawWithoutChange(script, change, place)
  if (flaw !== undefined) return flaw
  if (!(await passesWith(reworded(change.texts), script, place)))
    return (await passesWith(new Map(), script, place)) ? 'not the same twice' : undefined
  const all = mutantsOf(change.texts)
  let tried = 0
  let killed = 0
  await onMutants(place, change, async (passes) => {
    for (const mutant of spread(all, mostForOne)) {
      if (killed > 0 || place.signal?.aborted) break
      if (!(await passes(mutant, script))) killed++
      tried++
    }
  })
  return killsNothing(tried, killed, all.length) ? 'kills no mutant' : undefined
}

/** Whether it passes where the files of the change are empty: nothing of the code can be learned from this. */
export const passesEmptied = async (script: string, { files }: Change, place: ScriptPlace): Promise<boolean> =>
  files.length > 0 && passesWith(new Map(files.map((file) => [file, ''])), script, place)

/** Whether it passes where the change cannot do anything: its files empty, all their lines comments, or ended before them. */
async function flawWithoutChange(script: string, change: Change, place: ScriptPlace): Promise<Flaw | undefined> {
  if (await passesEmptied(script, change, place)) return 'passes without the change'
  for (const dead of [commentedOut(change.texts), endedFirst(change.texts)])
    if (dead.size > 0 && (await passesWith(dead, script, place))) return 'reads the source'
  return undefined
}

/** A program that hangs with a fault in it is as good as one that fails. */
const caseMs = 20_000

async function passesWith(texts: ReadonlyMap<string, string>, script: string, place: ScriptPlace): Promise<boolean> {
  const copy = await copyFor(place, texts)
  try {
    return await passesIn(copy, script, place)
  } finally {
    copy.remove()
  }
}

const passesIn = async ({ path, packages }: ProjectCopy, script: string, place: ScriptPlace): Promise<boolean> =>
  (await runScript(script, { ...place, projectDir: path, packages, timeoutMs: caseMs })).exitCode === 0

/** One copy for all mutants: each puts its file in, and the file as it was comes back after it. */
async function onMutants(
  place: ScriptPlace,
  { texts }: Change,
  work: (passes: (mutant: Mutant, script: string) => Promise<boolean>) => Promise<void>,
): Promise<void> {
  const copy = await copyFor(place)
  try {
    await work(async ({ file, text }, script) => {
      copy.write(file, text)
      try {
        return await passesIn(copy, script, place)
      } finally {
        copy.write(file, texts.get(file)!)
      }
    })
  } finally {
    copy.remove()
  }
}

/** `ona attest verify`: whether an attestation holds for a repository. */

import { existsSync, readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { type Opened, openEnvelope, type Predicate, parsed } from '../../../audit/evidence/attestation.ts'
import { defaultKeyFile } from '../../../audit/evidence/keys.ts'
import type { Finding } from '../../../audit/evidence/sarif.ts'
import { git } from '../../../hooks/process/quiet-git.ts'
import { counted } from '../../../hooks/text/counted.ts'
import { dbPath, type ReadDb, readDb, StoreError } from '../../../store/open.ts'
import { failed, said, saidJson, warned } from '../../print.ts'
import { writePage } from '../../write-page.ts'

/** What git prints; undefined where there is no repository, or no such thing in it: the caller says which. */
export async function gitText(repo: string, ...words: string[]): Promise<string | undefined> {
  const { ok, text } = await git(repo, words)
  return ok ? text.trim() : undefined
}

export interface VerifyFlags {
  readonly repo: string
  readonly key?: string | undefined
  readonly identity?: string | undefined
  readonly issuer?: string | undefined
  readonly 'trusted-root'?: string | undefined
  readonly sarif?: string | undefined
  readonly json?: boolean | undefined
}

export async function verify(file: string, flags: VerifyFlags): Promise<number> {
  const { repo, json } = flags
  const opened = await open(file, flags)
  const report = (problems: readonly string[], level: 'error' | 'note' = 'error') =>
    problems.map((message) => ({ rule: 'attestation', level, message, file: relative(repo, resolve(file)) }))
  const written = async (findings: readonly Finding[]) => {
    if (flags.sarif === undefined) return
    const { sarif } = await import('../../../audit/evidence/sarif.ts')
    const problem = writePage(flags.sarif, sarif('ona attest verify', findings))
    if (problem !== undefined) warned(problem)
  }
  if (!opened.ok) {
    if (json) saidJson({ ok: false, problems: [opened.why] })
    await written(report([opened.why]))
    return failed(`${file}: ${opened.why}`)
  }
  const { predicate, commit } = opened
  const problems: string[] = []
  const notes: string[] = []
  if ((await gitText(repo, 'cat-file', '-e', `${commit}^{commit}`)) === undefined)
    problems.push(`${repo} does not have commit ${commit}`)
  else if ((await gitText(repo, 'merge-base', '--is-ancestor', commit, 'HEAD')) === undefined)
    problems.push(`commit ${commit.slice(0, 12)} is not part of HEAD`)
  else if ((await gitText(repo, 'rev-parse', 'HEAD')) !== commit)
    notes.push(`HEAD has commits after ${commit.slice(0, 12)}, which it says nothing about`)
  if (!predicate.coverage.ready)
    problems.push(`not everything is covered: ${predicate.coverage.missing ?? 'cases are missing'}`)
  if (!predicate.plan?.approvedAt) problems.push('no plan was approved')
  if (!predicate.signOff) notes.push('nobody has signed it off yet')
  notes.push(...chainNotes(predicate, problems))
  await written([...report(problems), ...report(notes, 'note')])
  if (json) saidJson({ ok: problems.length === 0, commit, problems, notes, predicate })
  else {
    const { coverage, criteria, plan, signOff } = predicate
    said(
      `commit ${commit.slice(0, 12)}: ${counted(criteria.length, 'criterion', 'criteria')}, ${coverage.passed} of ${counted(coverage.cases, 'case')} passed; plan approved by ${plan?.approvedBy ?? 'nobody'}, signed off by ${signOff?.by ?? 'nobody'}`,
    )
    for (const note of notes) said(note)
    for (const problem of problems) warned(problem)
  }
  return problems.length === 0 ? 0 : 1
}

/** The chain can be compared only where the record is. */
function chainNotes({ chain }: Predicate, problems: string[]): string[] {
  let db: ReadDb
  try {
    db = readDb(dbPath())
  } catch (cause) {
    if (cause instanceof StoreError) return ['the record is not on this machine: the chain was not compared']
    throw cause
  }
  try {
    const link = db.get<{ hash: Uint8Array }>('SELECT hash FROM ona_chain WHERE id = ?', chain.link)
    if (!link) return ['this machine has another record: the chain was not compared']
    if (Buffer.from(link.hash).toString('hex') !== chain.head)
      problems.push(`link ${chain.link} of the record here is not the one that was attested`)
    return []
  } finally {
    db.close()
  }
}

/** By its kind: a Sigstore bundle names an identity, an envelope a key. */
async function open(file: string, { key, identity, issuer, ...flags }: VerifyFlags): Promise<Opened> {
  const no = (why: string): Opened => ({ ok: false, why })
  try {
    if (!existsSync(file)) return no('there is no such file')
    const found = parsed(readFileSync(file, 'utf8'))
    if (!String(found['mediaType']).startsWith('application/vnd.dev.sigstore.bundle'))
      return openEnvelope(found, readFileSync(key ?? `${defaultKeyFile()}.pub`, 'utf8'))
    if (identity === undefined)
      return no('it is signed with Sigstore; say whose signature counts with --identity NAME (and --issuer URL)')
    const { openBundle } = await import('../../../audit/evidence/sigstore.ts')
    const root = flags['trusted-root']
    return await openBundle(found, {
      identity,
      issuer: issuer ?? 'https://token.actions.githubusercontent.com',
      ...(root !== undefined && { trustedRoot: readFileSync(root, 'utf8') }),
    })
  } catch (cause) {
    return no((cause as Error).message)
  }
}

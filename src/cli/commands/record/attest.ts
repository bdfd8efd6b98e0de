/** `ona attest`: proof of a piece of work, for the pull request. */

import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { verifyReport } from '../../../agent/workflow/workflow.ts'
import { envelope, type Predicate, statementOf } from '../../../audit/evidence/attestation.ts'
import { defaultKeyFile, openSigner } from '../../../audit/evidence/keys.ts'
import { counted } from '../../../hooks/text/counted.ts'
import { type Db, dbPath, readDb } from '../../../store/open.ts'
import { operatorProblem } from '../../../store/operator.ts'
import type { Report } from '../../../workflow/report.ts'
import { command } from '../../command.ts'
import { openConversation } from '../../conversation.ts'
import { failed, said, saidJson, wrong } from '../../print.ts'
import { writePage } from '../../write-page.ts'
import { gitText, verify } from './attest-verify.ts'

const help = `ona attest writes an in-toto statement about a conversation's work: the plan and its approval, the criteria, the test cases
that were written without sight of the code with their results, the sign-off, the policy, the models, and the end of the
audit chain, for a range of commits. It is signed (DSSE) with an Ed25519 key, or with Sigstore.

  ona attest --out attestation.json                       the newest conversation, for HEAD
  ona attest --conversation ID --range main..HEAD --out attestation.json
  ona attest verify attestation.json --key audit.pem.pub  check signature, commit, chain and coverage, offline
  ona attest lines                                        which lines of the repository came from which session

  --conversation ID   this one (default: the newest of the folder)
  --range A..B        the commits it is about (default: HEAD alone)
  --repo DIR          the git repository (default: this folder)
  --out FILE          write it there instead of printing it
  --key FILE          to sign: the private key (default: ~/.ona/keys/audit.pem, made when missing); to verify: the public key
  --sigstore          sign with the identity of the CI job (or SIGSTORE_ID_TOKEN) instead of a key; needs a network
  --identity NAME     with verify, of a Sigstore bundle: whom the certificate must name, such as the URL of the workflow
  --issuer URL        with verify: who vouched for it (default: https://token.actions.githubusercontent.com)
  --trusted-root FILE with verify: Sigstore's trusted root, to verify offline (default: fetched)
  --sarif FILE        with verify: write the problems as SARIF, for code scanning
  --json              with verify: print the result as JSON

Exit code of verify: 0 it holds, 1 it does not, 2 wrong usage.
`

const flags = {
  conversation: 'value',
  range: 'value',
  repo: 'value',
  out: 'value',
  key: 'value',
  sigstore: 'flag',
  identity: 'value',
  issuer: 'value',
  'trusted-root': 'value',
  sarif: 'value',
  json: 'flag',
} as const
const name = 'ona attest'

export const run = command(name, { help, flags, words: 2 }, async (given, [verb, file]) => {
  const repo = resolve(given.repo ?? '.')
  if (verb === 'verify') {
    if (file === undefined) return wrong(name, 'name the file to verify')
    return verify(file, { ...given, repo })
  }
  if (verb === 'lines') {
    const { attributedLines } = await import('../../../audit/evidence/lines.ts')
    const db = readDb(dbPath())
    try {
      return saidJson({
        version: '0.1.0',
        vcs: { type: 'git', revision: (await gitText(repo, 'rev-parse', 'HEAD')) ?? null },
        files: attributedLines(db, repo),
      })
    } finally {
      db.close()
    }
  }
  if (verb !== undefined) return wrong(name, `unexpected argument "${verb}"`)
  const held = operatorProblem('signing an attestation', { home: process.env['HOME'] || homedir() })
  if (held) return failed(held)
  const range = await rangeOf(repo, given.range)
  if (typeof range === 'string') return failed(range)
  const opened = await openConversation(given.conversation, repo)
  if ('problem' in opened) return failed(opened.problem)
  const { session, close } = opened
  try {
    const predicate = predicateOf(session.runtime.db, verifyReport(session), range)
    const remote = (await gitText(repo, 'remote', 'get-url', 'origin'))?.replace(/\/\/[^@/]+@/, '//') ?? repo
    const statement = statementOf(predicate, remote)
    const made = given.sigstore
      ? await (await import('../../../audit/evidence/sigstore.ts')).sigstoreBundle(statement, process.env)
      : envelope(statement, openSigner(given.key === undefined ? defaultKeyFile() : resolve(given.key)))
    if (given.out === undefined) return saidJson(made)
    const problem = writePage(given.out, `${JSON.stringify(made)}\n`)
    if (problem) return failed(problem)
    const { coverage, criteria } = predicate
    return said(
      `${given.out}: ${counted(criteria.length, 'criterion', 'criteria')}, ${coverage.passed} of ${counted(coverage.cases, 'case')} passed, commit ${range.to.slice(0, 12)}`,
    )
  } catch (cause) {
    if (given.sigstore) return failed(`Sigstore did not sign it: ${(cause as Error).message}`)
    throw cause
  } finally {
    await close()
  }
})

async function rangeOf(repo: string, range: string | undefined): Promise<Predicate['range'] | string> {
  const [from, to = 'HEAD'] = range === undefined ? [undefined, 'HEAD'] : range.split('..')
  const commit = await gitText(repo, 'rev-parse', '--verify', '--end-of-options', `${to || 'HEAD'}^{commit}`)
  if (commit === undefined) return `${repo} has no commit ${to}; name a git repository with --repo`
  const base = from ? await gitText(repo, 'rev-parse', '--verify', '--end-of-options', `${from}^{commit}`) : undefined
  if (from && base === undefined) return `${repo} has no commit ${from}`
  const commits = base
    ? (await gitText(repo, 'rev-list', '--max-count=1000', `${base}..${commit}`))?.split('\n').filter(Boolean)
    : [commit]
  return { from: base ?? null, to: commit, commits: commits ?? [] }
}

function predicateOf(db: Db, report: Report, range: Predicate['range']): Predicate {
  const sha256 = (text: string) => process.getBuiltinModule('node:crypto').hash('sha256', text)
  const conversation = report.conversation
  const approved = db.get<{ by: string | null }>(
    `SELECT detail ->> 'by' AS by FROM events WHERE conversation_id = ? AND event_type = 'plan_approved' AND json_valid(detail)
     ORDER BY id DESC LIMIT 1`,
    conversation,
  )
  const models = db.all<{ model: string }>(
    `SELECT DISTINCT detail ->> 'model' AS model FROM events WHERE conversation_id = ? AND event_type = 'model_reply'
       AND json_valid(detail) AND detail ->> 'model' <> ''`,
    conversation,
  )
  const policy = db.get<{ json: string }>("SELECT json FROM settings_snapshot WHERE scope = 'effective'")?.json ?? ''
  const end = db.get<{ id: number; hash: Uint8Array }>('SELECT id, hash FROM ona_chain ORDER BY id DESC LIMIT 1')
  return {
    conversation,
    range,
    plan: report.plan && {
      hash: report.plan.hash,
      approvedAt: report.plan.approved_at,
      approvedBy: approved?.by ?? null,
    },
    criteria: report.coverage.map(({ criterion, text, cases }) => ({
      ...{ id: criterion, text },
      cases: cases.map((each) => ({
        ...{ name: each.name, state: each.state, exitCode: each.exit_code, ranAt: each.started_at },
        ...{ scriptSha256: sha256(each.script), blind: true as const },
      })),
    })),
    coverage: { cases: report.total, passed: report.passed, ready: report.ready, missing: report.missing },
    signOff: report.signed_off && { by: report.signed_off.by, at: report.signed_off.at },
    policy: { sha256: sha256(policy) },
    models: models.map(({ model }) => model),
    chain: { link: end?.id ?? 0, head: end ? Buffer.from(end.hash).toString('hex') : '' },
    createdAt: new Date().toISOString(),
  }
}

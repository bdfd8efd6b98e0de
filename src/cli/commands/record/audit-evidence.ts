/** `ona audit verify|checkpoint|export|retain|erase`: the record as evidence. */

import { appendFileSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { checkpointProblem, makeCheckpoint, readCheckpoints } from '../../../audit/evidence/checkpoint.ts'
import { exportFormats, exportHead, exportLine, exportRows } from '../../../audit/evidence/export.ts'
import { defaultKeyFile, openSigner } from '../../../audit/evidence/keys.ts'
import { verifyChain } from '../../../audit/evidence/verify.ts'
import { isDevice, writeInto } from '../../../files/device-write.ts'
import { counted, grouped } from '../../../hooks/text/counted.ts'
import { dbPath, readDb } from '../../../store/open.ts'
import { operatorProblem } from '../../../store/operator.ts'
import { command } from '../../command.ts'
import { failed, said, saidJson, warned, write, wrong } from '../../print.ts'
import { openProgress } from '../../progress.ts'
import { sinceMs, sinceProblem, sqlTime } from '../../since.ts'

const verifyHelp = `ona audit verify walks the chain of hashes over the record, and names the first row that was changed, removed or inserted
by another program.

  ona audit verify
  ona audit verify --checkpoint checkpoints.jsonl     also compare with signed checkpoints: a record that was cut off shows

  --checkpoint FILE   checkpoints that ona audit checkpoint wrote
  --key FILE          the public key that signed them (default: ~/.ona/keys/audit.pem.pub)
  --json              print the result as JSON

Exit code: 0 the record is as it was written, 1 it is not.
`

export const verify = command(
  'ona audit verify',
  { help: verifyHelp, flags: { checkpoint: 'value', key: 'value', json: 'flag' } },
  ({ checkpoint, key, json }) => {
    const db = readDb(dbPath())
    try {
      const progress = openProgress()
      const { links } = db.get<{ links: number }>('SELECT coalesce(max(id), 0) AS links FROM ona_chain')!
      const { fault, ...found } = verifyChain(db, undefined, (done) =>
        progress.show(`${grouped(done)} of ${counted(links, 'link')}`, done / links),
      )
      progress.end()
      const problems = checkpoint === undefined ? [] : checkpointProblems(db, checkpoint, key)
      if (json) saidJson({ ok: !fault && problems.length === 0, ...found, ...(fault && { fault }), problems })
      else if (!fault) {
        const erased = found.erased > 0 ? `, ${grouped(found.erased)} erased on purpose` : ''
        const archived = found.archived > 0 ? `, ${grouped(found.archived)} of them in archives` : ''
        const before = found.before > 0 ? `; not in the chain: ${counted(found.before, 'older row')}` : ''
        said(
          `${counted(found.rows, 'row')} in ${counted(found.links, 'link')} are as they were written${archived}${erased}${before}\nhead ${found.head || 'none'}`,
        )
      }
      if (fault && !json)
        warned(
          `${fault.table} row ${fault.row}${fault.session ? ` (session ${fault.session})` : ''}: ${fault.kind}; ${fault.why}`,
        )
      for (const problem of problems) warned(problem)
      return fault || problems.length > 0 ? 1 : 0
    } finally {
      db.close()
    }
  },
)

function checkpointProblems(db: ReturnType<typeof readDb>, file: string, key: string | undefined): string[] {
  try {
    const found = readCheckpoints(readFileSync(file, 'utf8'))
    if (typeof found === 'string') return [`${file}: ${found}`]
    if (found.length === 0) return [`${file} holds no checkpoint`]
    const publicPem = readFileSync(key ?? `${defaultKeyFile()}.pub`, 'utf8')
    return found.flatMap((each) => checkpointProblem(db, each, publicPem) ?? [])
  } catch (cause) {
    return [(cause as Error).message]
  }
}

const checkpointHelp = `ona audit checkpoint signs the end of the chain with an Ed25519 key. Keep the line elsewhere: with it, ona audit verify
notices a record that was cut off or rewritten.

  ona audit checkpoint                          print it
  ona audit checkpoint --out checkpoints.jsonl  add it to a file

  --key FILE   the private key, PEM (default: ~/.ona/keys/audit.pem, which is made when it is missing)
`

export const checkpoint = command(
  'ona audit checkpoint',
  { help: checkpointHelp, flags: { out: 'value', key: 'value', json: 'flag' } },
  ({ out, key }) => {
    const held = operatorProblem('signing a checkpoint', { home: process.env['HOME'] || homedir() })
    if (held) return failed(held)
    const db = readDb(dbPath())
    try {
      const made = makeCheckpoint(
        db,
        openSigner(key === undefined ? defaultKeyFile() : resolve(key)),
        new Date().toISOString(),
      )
      if (!made) return failed('nothing is in the chain yet')
      if (out === undefined) return saidJson(made)
      const line = `${JSON.stringify(made)}\n`
      if (isDevice(out)) writeInto(out, line)
      else appendFileSync(out, line, { mode: 0o600 })
      return said(`${out}: link ${made.link}, signed with key ${made.keyId.slice(0, 16)}`)
    } finally {
      db.close()
    }
  },
)

const exportHelp = `ona audit export prints the record, one line a row, for a SIEM or a spreadsheet. Prompts, inputs and outputs are left out.

  ona audit export --format jsonl --since 30d > audit.jsonl
  ona audit export --format ocsf | your-forwarder

  --format F          jsonl (default), ocsf (Open Cybersecurity Schema Framework 1.3, API Activity) or csv
  --since 30d|DATE    rows since then
  --content           with outputs of tools and hooks; secrets are redacted
`

export const exporting = command(
  'ona audit export',
  { help: exportHelp, flags: { format: { kind: 'value', oneOf: exportFormats }, since: 'value', content: 'flag' } },
  ({ format = 'jsonl', since, content }) => {
    const from = since === undefined ? 0 : sinceMs(since)
    if (from === undefined) return wrong('ona audit export', sinceProblem(since!))
    const db = readDb(dbPath())
    try {
      let text = exportHead[format]
      for (const row of exportRows(db, { since: from === 0 ? '' : sqlTime(from), content: content === true })) {
        text += exportLine[format](row)
        if (text.length < 64 * 1024) continue
        write(text)
        text = ''
      }
      return write(text)
    } finally {
      db.close()
    }
  },
)

/** Checkpoints: the end of the chain, signed and kept elsewhere, so that cutting the record off shows too. */
import { isObject } from '../../hooks/shape.ts'
import type { ReadDb } from '../../store/open.ts'
import { isSignedBy, keyIdOf, type Signer } from './keys.ts'

export interface Checkpoint {
  readonly link: number
  readonly hash: string
  readonly at: string
  readonly keyId: string
  readonly signature: string
}

/** Undefined when nothing is chained yet. */
export function makeCheckpoint(db: ReadDb, signer: Signer, at: string): Checkpoint | undefined {
  const last = db.get<{ id: number; hash: Uint8Array }>('SELECT id, hash FROM ona_chain ORDER BY id DESC LIMIT 1')
  if (!last) return undefined
  const unsigned = { link: last.id, hash: Buffer.from(last.hash).toString('hex'), at, keyId: signer.keyId }
  return { ...unsigned, signature: signer.sign(signed(unsigned)).toString('base64') }
}

const signed = ({ link, hash, at, keyId }: Omit<Checkpoint, 'signature'>): Buffer =>
  Buffer.from(`ona checkpoint\n${link}\n${hash}\n${at}\n${keyId}\n`)

/** The checkpoints of a file, one JSON object a line; a text when one of them is none. */
export function readCheckpoints(text: string): Checkpoint[] | string {
  const found: Checkpoint[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const value = parsed(line)
    const { link, hash, at, keyId, signature } = value
    const texts = [hash, at, keyId, signature]
    if (!Number.isSafeInteger(link) || !texts.every((each) => typeof each === 'string'))
      return `line ${index + 1} is no checkpoint`
    found.push(value as unknown as Checkpoint)
  }
  return found
}

/** What is wrong with the record in the light of a checkpoint; undefined when it is as it was. */
export function checkpointProblem(db: ReadDb, checkpoint: Checkpoint, publicPem: string): string | undefined {
  const name = `the checkpoint of ${checkpoint.at}`
  if (checkpoint.keyId !== keyIdOf(publicPem))
    return `${name} was signed with another key (${checkpoint.keyId.slice(0, 16)})`
  if (!isSignedBy(publicPem, signed(checkpoint), checkpoint.signature))
    return `${name} is not signed by this key, or was changed`
  const link = db.get<{ hash: Uint8Array }>('SELECT hash FROM ona_chain WHERE id = ?', checkpoint.link)
  if (!link) return `the record was cut off: link ${checkpoint.link}, which ${name} saw, is not there`
  return Buffer.from(link.hash).toString('hex') === checkpoint.hash
    ? undefined
    : `the record was rewritten: link ${checkpoint.link} is not the one that ${name} saw`
}

function parsed(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

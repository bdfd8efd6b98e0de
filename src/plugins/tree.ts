/** A plugin's folder as a whole: every file in it is checked, hashed and copied by the same walk. */
import { chmodSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { leadsOut } from '../files/leads-out.ts'
import { readPlainBytes, statOf } from '../files/plain-file.ts'
import { Problem } from '../files/problem.ts'
import { visible } from '../hooks/text/visible.ts'

/** More than any plugin needs; a bigger one is a mistake or an attack. */
export const limits = { files: 10_000, fileBytes: 32 << 20, bytes: 256 << 20, depth: 24 }

interface TreeFile {
  /** From the root, with "/". */
  readonly path: string
  readonly executable: boolean
  readonly bytes: Buffer
}

/** What git keeps for itself is no part of the plugin. */
const skipped = new Set(['.git'])

/**
 * Every file, in a fixed order. Links that stay inside count as what they lead to; a circle of them ends at the limit of depth. Throws a Problem at a link that
 * leads out, a pipe or device, a name with control characters, and at whatever is over the limits.
 */
export function* filesOf(root: string): Generator<TreeFile> {
  const spent = { files: 0, bytes: 0 }
  yield* walk(root, '', spent, 0)
}

function* walk(
  root: string,
  under: string,
  spent: { files: number; bytes: number },
  depth: number,
): Generator<TreeFile> {
  const refuse = (path: string, why: string) => new Problem(`${join(root, visible(path))} ${why}`)
  if (depth > limits.depth) throw refuse(under, `lies over ${limits.depth} folders deep; a plugin is flatter`)
  const names = readdirSync(join(root, under)).sort((a, b) => (a < b ? -1 : 1))
  for (const name of names) {
    if (skipped.has(name)) continue
    const path = under === '' ? name : `${under}/${name}`
    if (/[\p{Cc}\ufffd]/u.test(name)) throw refuse(path, 'has a control character in its name; rename it')
    const at = join(root, path)
    const isLink = lstatSync(at).isSymbolicLink()
    if (isLink && leadsOut(root, at))
      throw refuse(path, 'is a link that leads out of the plugin; put the file itself there')
    const stat = statOf(at)
    if (stat?.isDirectory()) {
      yield* walk(root, path, spent, depth + 1)
      continue
    }
    if (!stat?.isFile()) throw refuse(path, 'is neither a file nor a folder; remove it')
    if (stat.size > limits.fileBytes) throw refuse(path, `is over ${limits.fileBytes >> 20} MiB; remove it`)
    spent.files++
    spent.bytes += stat.size
    if (spent.files > limits.files) throw refuse(path, `is one file too many: a plugin has at most ${limits.files}`)
    if (spent.bytes > limits.bytes) throw refuse(path, `exceeds the ${limits.bytes >> 20} MiB that a plugin may have`)
    yield { path, executable: (stat.mode & 0o111) !== 0, bytes: readPlainBytes(at, limits.fileBytes) }
  }
}

/** One hash over all paths, modes and contents: whatever a plugin could run is covered by it. */
export function hashTree(root: string): string {
  const { createHash } = process.getBuiltinModule('node:crypto')
  const hash = createHash('sha256')
  for (const { path, executable, bytes } of filesOf(root))
    hash.update(`${Buffer.byteLength(path)}:${path}${executable ? 'x' : '-'}${bytes.length}:`).update(bytes)
  return hash.digest('hex')
}

/** Copies what `filesOf` accepts. Compiled Python is left out: the interpreter would run it in place of its source. */
export function copyTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (const { path, executable, bytes } of filesOf(from)) {
    if (/(^|\/)__pycache__\/|\.pyc$/.test(path)) continue
    const target = join(to, path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, bytes, { flag: 'wx' })
    chmodSync(target, executable ? 0o755 : 0o644)
  }
}

/** Trust in a plugin: given by the operator for exactly what its folder held then, kept in `~/.ona/plugins/trust.json`. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { updateFile } from '../files/atomic-write.ts'
import { isObject, type JsonObject } from '../hooks/shape.ts'
import { requireOperator } from '../store/operator.ts'
import { ownFolder, textIn } from './registry.ts'
import { hashTree } from './tree.ts'

export type Trust = 'trusted' | 'new' | 'changed'

/** Over every file of the plugin, and over what its marketplace declares for it. Throws a Problem at a hostile folder. */
export function contentHash({ root, entry }: { readonly root: string; readonly entry?: JsonObject }): string {
  const tree = hashTree(root)
  if (!entry) return tree
  const { createHash } = process.getBuiltinModule('node:crypto')
  return createHash('sha256')
    .update(`${tree}\n${JSON.stringify(entry)}`)
    .digest('hex')
}

export function trustOf(home: string, id: string, hash: string): Trust {
  const known = hashesIn(textIn(fileOf(home)))[id]
  if (known === undefined) return 'new'
  return known === hash ? 'trusted' : 'changed'
}

export function trustPlugin(home: string, id: string, hash: string | undefined): void {
  requireOperator('trusting a plugin', { home })
  if (hash === undefined && !existsSync(fileOf(home))) return
  updateFile(fileOf(home), (text) => {
    const hashes = { ...hashesIn(text) }
    if (hash === undefined) delete hashes[id]
    else hashes[id] = hash
    return `${JSON.stringify({ plugins: hashes }, null, 2)}\n`
  })
}

const fileOf = (home: string): string => join(ownFolder({ home }), 'trust.json')

/** A damaged file trusts nothing. */
function hashesIn(text: string | undefined): Record<string, string> {
  try {
    const value: unknown = JSON.parse(text ?? '')
    const plugins = isObject(value) && isObject(value['plugins']) ? value['plugins'] : {}
    return Object.fromEntries(
      Object.entries(plugins).filter((each): each is [string, string] => typeof each[1] === 'string'),
    )
  } catch {
    return {}
  }
}

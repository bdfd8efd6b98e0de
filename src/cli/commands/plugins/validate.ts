/** `ona plugin validate`: a plugin or a marketplace, checked for its author. */

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Problem } from '../../../files/problem.ts'
import { counted } from '../../../hooks/text/counted.ts'
import { readPlugin } from '../../../plugins/read-plugin.ts'
import { summaryOf } from '../../../plugins/summary.ts'
import { hashTree } from '../../../plugins/tree.ts'
import { command } from '../../command.ts'
import { failed, said, saidJson, warned, wrong } from '../../print.ts'

const help = `ona plugin validate checks a plugin or a marketplace without installing it. Nothing of it is run.

  ona plugin validate ./my-plugin
  ona plugin validate ./my-marketplace --json

Exit code: 0 valid (there may be warnings), 1 not, 2 wrong usage.
`

export const validate = command(
  'ona plugin validate',
  { help, flags: { json: 'flag' }, words: 1 },
  async ({ json }, [word]) => {
    if (word === undefined) return wrong('ona plugin validate', 'name a folder, as in ona plugin validate ./my-plugin')
    const { problems, warnings, kind } = await examined(resolve(word))
    if (json) saidJson({ kind, valid: problems.length === 0, problems, warnings })
    else {
      for (const warning of warnings) warned(warning)
      if (problems.length === 0)
        said(`${word}: a valid ${kind}${warnings.length > 0 ? `, with ${counted(warnings.length, 'warning')}` : ''}`)
      else failed(problems.join('\n'))
    }
    return problems.length > 0 ? 1 : 0
  },
)

async function examined(folder: string) {
  const { marketplaceIn } = await import('../../../plugins/marketplaces.ts')
  const kind = existsSync(join(folder, '.claude-plugin/marketplace.json')) ? 'marketplace' : 'plugin'
  const problems: string[] = []
  const warnings: string[] = []
  const check = (root: string, entry: object = {}) => {
    const read = readPlugin(root, { env: process.env, entry: { ...entry } })
    if ('problem' in read) return void problems.push(read.problem)
    warnings.push(...read.warnings)
    summaryOf(read)
  }
  try {
    hashTree(folder)
    if (kind === 'plugin') check(folder)
    else {
      const { marketplace, warnings: of } = marketplaceIn(folder)
      warnings.push(...of)
      for (const { name, source, parts } of marketplace.plugins)
        if (typeof source === 'string') check(join(folder, source), { name, ...parts })
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    problems.push(error.message)
  }
  return { kind, problems, warnings }
}

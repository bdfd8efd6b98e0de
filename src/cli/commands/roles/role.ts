/** `ona role`: makes a new role, and lists those that are here. */

import { homedir } from 'node:os'
import { hooksOf } from '../../../brains/role.ts'
import { createRole } from '../../../brains/roles/create.ts'
import { findRoles } from '../../../brains/roles/find.ts'
import { repositoryOf } from '../../../brains/targets.ts'
import { counted } from '../../../hooks/text/counted.ts'
import { command, family } from '../../command.ts'
import { said, saidJson, warned, wrong } from '../../print.ts'
import type { Verb } from '../../verbs.ts'

const help = `ona role: makes a role, and lists those that are here.

  ona role new mechanic    .agent/repo=.this/role=mechanic, with a hook and the test of it
  ona role list [--json]   roles in .agent, in ona.roles.*, and in the packages of this repository
`

const create = command('ona role new', { help, flags: { json: 'flag' }, words: 1 }, ({ json }, [slug]) => {
  if (!slug) return wrong('ona role new', 'give it one name, as in ona role new mechanic')
  const files = createRole(repositoryOf(process.cwd()), slug)
  if (json) return saidJson({ files })
  const tests = files.find((path) => path.endsWith('.test.mjs'))
  return said(`${files.map((path) => `  ${path}\n`).join('')}
  node --test ${tests}    test its hook
  ona init --hooks --dry-run    see what it would put into your agents
`)
})

const list = command('ona role list', { help, flags: { json: 'flag' } }, async ({ json }) => {
  const root = repositoryOf(process.cwd())
  const { isTrusted } = await import('../../../store/settings/trust.ts')
  const { roles, failed, problems } = await findRoles(root, { runCode: isTrusted(root, { home: homedir() }) })
  if (json) {
    const shown = roles.map(({ role, author, source, linked }) => ({
      author,
      purpose: role.purpose,
      source,
      linked,
      hooks: hooksOf(role),
    }))
    saidJson({ root, roles: shown, failed, problems })
  } else {
    for (const { role, author, source, linked } of roles) {
      const hooks = hooksOf(role).length
      said(`${author}  ${counted(hooks, 'hook')}  ${linked ? 'linked' : 'not linked'}  ${source}`)
    }
    if (roles.length === 0) said('no roles here; ona role new NAME makes one')
  }
  for (const problem of [...failed.map(({ why }) => why), ...problems]) warned(problem)
  return failed.length + problems.length > 0 ? 1 : 0
})

export const run = family<Verb<'role'>>('ona role', help, { new: create, list })

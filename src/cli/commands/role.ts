/** `ona role`: makes a new role, and lists those that are here. */
import { homedir } from 'node:os'
import { Problem } from '../../brains/problem.ts'
import { hooksOf } from '../../brains/role.ts'
import { createRole } from '../../brains/roles/create.ts'
import { findRoles } from '../../brains/roles/find.ts'
import { repositoryOf } from '../../brains/targets.ts'

export async function run([word, ...rest]: string[]): Promise<number> {
  try {
    if (word === 'new') return create(rest)
    if (word === 'list') return await list(rest)
  } catch (thrown) {
    if (!(thrown instanceof Problem)) throw thrown
    process.stderr.write(`ona role: ${thrown.message}\n`)
    return 1
  }
  if (word === '--help' || word === '-h') {
    process.stdout.write(help)
    return 0
  }
  process.stderr.write(word ? `ona role: there is no "${word}"; it takes new and list\n` : help)
  return 2
}

function create(words: readonly string[]): number {
  const [slug, ...more] = words
  if (slug === '--help' || slug === '-h') {
    process.stdout.write(help)
    return 0
  }
  if (!slug || slug.startsWith('-') || more.length > 0) {
    process.stderr.write('ona role new: give it one name, as in ona role new mechanic\n')
    return 2
  }
  const files = createRole(repositoryOf(process.cwd()), slug)
  const tests = files.find((path) => path.endsWith('.test.mjs'))
  process.stdout.write(`${files.map((path) => `  ${path}\n`).join('')}
  node --test ${tests}    test its hook
  ona init --hooks --dry-run    see what it would put into your agents
`)
  return 0
}

async function list(words: readonly string[]): Promise<number> {
  const wrong = words.find((word) => word !== '--json')
  if (wrong) {
    process.stderr.write(`ona role list: there is no option ${wrong}; it takes --json\n`)
    return 2
  }
  const root = repositoryOf(process.cwd())
  const { isTrusted } = await import('../../store/trust.ts')
  const { roles, failed, problems } = await findRoles(root, { runCode: isTrusted(root, { home: homedir() }) })
  if (words.includes('--json')) {
    const shown = roles.map(({ role, author, source, linked }) => ({
      author,
      purpose: role.purpose,
      source,
      linked,
      hooks: hooksOf(role),
    }))
    process.stdout.write(`${JSON.stringify({ root, roles: shown, failed, problems }, null, 2)}\n`)
  } else {
    for (const { role, author, source, linked } of roles) {
      const hooks = hooksOf(role).length
      process.stdout.write(
        `${author}  ${hooks} ${hooks === 1 ? 'hook' : 'hooks'}  ${linked ? 'linked' : 'not linked'}  ${source}\n`,
      )
    }
    if (roles.length === 0) process.stdout.write('no roles here; ona role new NAME makes one\n')
    for (const { why } of failed) process.stderr.write(`ona role: ${why}\n`)
    for (const problem of problems) process.stderr.write(`ona role: ${problem}\n`)
  }
  return failed.length + problems.length > 0 ? 1 : 0
}

const help = `ona role: makes a role, and lists those that are here.

  ona role new mechanic    .agent/repo=.this/role=mechanic, with a hook and the test of it
  ona role list [--json]   roles in .agent, in ona.roles.*, and in the packages of this repository
`

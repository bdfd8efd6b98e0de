/** Creates a role with a working hook and its test. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Problem } from '../../files/problem.ts'

/** Makes the role's folder and gives the files in it, from the root. */
export function createRole(root: string, slug: string): string[] {
  if (!/^[\w][\w.-]*$/.test(slug))
    throw new Problem(`"${slug}" cannot name a role; use letters, digits, ".", "_" and "-"`)
  const folder = `.agent/repo=.this/role=${slug}`
  if (existsSync(join(root, folder))) throw new Problem(`${folder} already exists`)
  const files = Object.entries(filesOf(folder, slug)).map(([name, text]) => [`${folder}/${name}`, text] as const)
  for (const [path, text] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text, { flag: 'wx' })
  }
  return files.map(([path]) => path)
}

const filesOf = (folder: string, slug: string) => ({
  'role.yaml': `# The role ${slug}. \`ona init --hooks\` writes its hooks into every agent that this repository uses.
purpose: keeps secrets out of the work of agents
briefs:
  dirs: briefs
hooks:
  onBrain:
    onTool:
      - command: node ${folder}/hooks/guard.mjs
        timeout: PT10S
        filter: { what: Write|Edit, when: before }
        onFailure: refuse
`,
  'briefs/secrets.md': `# Secrets

Keys and passwords live in \`.env\` files, which users edit and agents do not.
`,
  'hooks/guard.mjs': `// Refuses to write to .env files. The event is on stdin; exit 2 refuses, and stderr is the reason.
import { readFileSync } from 'node:fs'

const event = readFileSync(0, 'utf8')
const { tool_input: input = {} } = JSON.parse(event)
// Codex gives a patch instead of a path
const paths = [input.file_path, input.path, ...Array.from(JSON.stringify(input).matchAll(/\\*\\*\\* (?:Add|Update|Delete) File: (.+?)\\\\n/g), ([, path]) => path)]
const secret = paths.find((path) => typeof path === 'string' && /(^|[\\\\/])\\.env(\\.|$)/.test(path))
if (secret) {
  console.error(\`\${secret} holds secrets; ask the user to change it\`)
  process.exit(2)
}
`,
  'hooks/guard.test.mjs': `// node --test ${folder}/hooks/guard.test.mjs
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

const guard = (tool_name, tool_input) => {
  const input = JSON.stringify({ hook_event_name: 'PreToolUse', tool_name, tool_input })
  const { status, stderr } = spawnSync(process.execPath, [\`\${import.meta.dirname}/guard.mjs\`], { input, encoding: 'utf8' })
  return { status, stderr }
}

test('an .env file is refused, and the reason names it', () => {
  assert.deepEqual(guard('Write', { file_path: '/repo/.env', content: 'A=1' }), {
    status: 2,
    stderr: '/repo/.env holds secrets; ask the user to change it\\n',
  })
})

test('a patch to an .env file is refused', () => {
  assert.equal(guard('apply_patch', { command: '*** Begin Patch\\n*** Update File: .env.local\\n*** End Patch' }).status, 2)
})

test('any other file may be written', () => {
  assert.deepEqual(guard('Edit', { file_path: '/repo/src/environment.ts' }), { status: 0, stderr: '' })
})
`,
})

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Bench } from '../../test/support/tool-host.ts'
import { builtInTools } from './all.ts'
import { type Sample, toolSuite } from './suite.ts'

const odd = 'odd — nämë \'"$(x)`;\n*?[a] 😀.txt'
const huge = 'x'.repeat(3_000_000)
const notText = Buffer.from([0x66, 0xff, 0xfe, 0xc3, 0x28, 0x0a])

async function readFirst(b: Bench, name: string, content: string | Uint8Array): Promise<string> {
  const path = b.file(name, content)
  await b.use('Read', { file_path: path })
  return path
}

const server = { listResources: async () => ok('[]'), readResource: async () => ok('{}'), callTool: async () => ok('') }
const ok = (content: string) => ({ content, isError: false })

const samples: Record<string, Sample> = {
  Read: {
    valid: (b) => ({ file_path: b.file('a.txt', 'a\n') }),
    hard: (b) => [
      { file_path: b.file(odd, 'a\n') },
      { file_path: b.file('n', notText) },
      { file_path: b.file('h', huge) },
      { file_path: b.file('l', `${huge}\n`.repeat(3)), limit: 1_000_000 },
      { file_path: 'relative', offset: 9_000_000_000 },
      { file_path: '' },
      { file_path: '\0' },
      { file_path: `${b.folder}/${'d/'.repeat(3000)}` },
    ],
  },
  Write: {
    valid: (b) => ({ file_path: `${b.folder}/new.txt`, content: 'x' }),
    hard: (b) => [
      { file_path: odd, content: huge },
      { file_path: `deep/er/${odd}`, content: '\ud800 lone' },
      { file_path: '', content: '' },
      { file_path: `${b.folder}/${'d'.repeat(3000)}`, content: '' },
    ],
  },
  Edit: {
    valid: async (b) => ({ file_path: await readFirst(b, 'a.txt', 'a\n'), old_string: 'a', new_string: 'b' }),
    hard: async (b) => [
      { file_path: await readFirst(b, odd, 'a\n'), old_string: 'a', new_string: huge },
      { file_path: await readFirst(b, 'n', notText), old_string: '(', new_string: '日本' },
      { file_path: await readFirst(b, 'h', huge), old_string: 'x', new_string: 'y' },
      { file_path: await readFirst(b, 'i', huge), old_string: 'x', new_string: 'yy', replace_all: true },
      { file_path: await readFirst(b, 'm', huge), old_string: huge.replace('x', 'z'), new_string: '' },
    ],
  },
  NotebookEdit: {
    valid: async (b) => ({
      notebook_path: await readFirst(b, 'n.ipynb', '{"cells":[{"id":"a","cell_type":"code","source":"x"}]}'),
      new_source: 'y',
      cell_id: 'a',
    }),
    hard: async (b) => [
      { notebook_path: await readFirst(b, 'b.ipynb', notText), new_source: '' },
      { notebook_path: await readFirst(b, 'c.ipynb', '{"cells":[{"source":7}]}'), new_source: huge, cell_id: 'cell-0' },
    ],
  },
  Bash: {
    valid: () => ({ command: 'echo hi' }),
    hard: () => [
      { command: `cat <<'E'\n${odd}\nE` },
      { command: 'head -c 3000000 /dev/urandom; head -c 3000000 /dev/urandom >&2' },
      { command: "printf '\\xff\\xfe'" },
      { command: '' },
      { command: `: ${huge}` },
    ],
  },
  Glob: {
    valid: () => ({ pattern: '**/*' }),
    hard: (b) => [
      { pattern: `${'{a,'.repeat(50)}b`, path: b.folder },
      { pattern: '[' },
      { pattern: '**/'.repeat(40) },
      { pattern: '(((' },
      { pattern: b.file(odd, '') },
      { pattern: '../../../../../*' },
    ],
  },
  Grep: {
    valid: () => ({ pattern: 'x' }),
    hard: (b) => [
      { pattern: '.', path: b.file('h', huge), output_mode: 'content' },
      { pattern: '.', path: b.file('n', notText), output_mode: 'content' },
      { pattern: 'a', path: b.file(odd, 'a\n'), output_mode: 'content' },
      { pattern: '(' },
      { pattern: '--files', glob: '--no-ignore' },
      { pattern: 'x', glob: '[' },
      { pattern: huge },
    ],
  },
  WebFetch: {
    async valid(b) {
      const page = createServer((_, response) => response.end('a page'))
      await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve))
      b.t.after(() => page.close())
      return { url: `http://127.0.0.1:${(page.address() as AddressInfo).port}/`, prompt: 'x' }
    },
    host: { mayReachPrivate: () => true },
    hard: () => [
      { url: huge, prompt: 'x' },
      { url: 'http://[', prompt: 'x' },
      { url: `http://127.0.0.1/${odd}`, prompt: 'x' },
    ],
  },
  WebSearch: {
    valid: () => ({ query: 'a thing' }),
    hard: () => [{ query: odd }, { query: huge }],
    host: { searchWeb: async () => ({ found: [], text: 'found' }) },
  },
  AskUserQuestion: {
    valid: () => ({
      questions: [
        {
          question: 'Which?',
          header: 'H',
          options: [
            { label: 'a', description: '' },
            { label: 'b', description: '' },
          ],
        },
      ],
    }),
    host: { askUser: async () => ({ 'Which?': 'a' }) },
  },
  TodoWrite: {
    valid: () => ({ todos: [{ content: 'x', status: 'pending', activeForm: 'x' }] }),
    hard: () => [{ todos: Array.from({ length: 1000 }, () => ({ content: odd, status: 'pending', activeForm: '' })) }],
  },
  TaskOutput: {
    async valid(b) {
      await b.use('Bash', { command: 'true', run_in_background: true })
      return { task_id: 'task-1' }
    },
    hard: () => [{ task_id: odd }],
  },
  Agent: {
    valid: () => ({ description: 'x', prompt: 'y' }),
    host: { agentTypes: () => [{ name: 'general-purpose', description: '' }], runAgent: async () => ok('done') },
  },
  Skill: {
    valid: () => ({ skill: 'help' }),
    hard: () => [{ skill: odd, args: huge }, { skill: '../../etc/passwd' }],
    host: {
      skills: {
        list: () => [],
        load: async (name) => (name === 'help' ? { ok: true, text: 'x' } : { ok: false, why: 'Unknown skill' }),
      },
    },
  },
  EnterPlanMode: { valid: () => ({}) },
  ExitPlanMode: { valid: () => ({ plan: 'x' }) },
  ListMcpResources: { valid: () => ({ server: 's' }), host: { mcp: server } },
  ReadMcpResource: { valid: () => ({ server: 's', uri: 'u' }), host: { mcp: server } },
  ToolSearch: { valid: () => ({ query: 'x' }), hard: () => [{ query: odd }, { query: huge.slice(0, 100_000) }] },
  Brief: { valid: () => ({ message: 'x' }), hard: () => [{ message: huge }] },
  TaskStop: {
    async valid(b) {
      await b.use('Bash', { command: 'sleep 60', run_in_background: true })
      return { task_id: 'task-1' }
    },
  },
}

test('the built-in tools are these, in this order', () => {
  assert.deepEqual(
    builtInTools.map(({ name }) => name).join(' | '),
    'Read | Write | Edit | NotebookEdit | Bash | Glob | Grep | WebFetch | WebSearch | AskUserQuestion | TodoWrite | TaskOutput | Agent | Skill | EnterPlanMode | ExitPlanMode | ListMcpResources | ReadMcpResource | ToolSearch | Brief | TaskStop',
  )
})

for (const tool of builtInTools) toolSuite(tool, samples[tool.name]!)

test('telling the model of all tools loads nothing that a tool needs only to run', () => {
  const loaded = `const before = new Set(process.moduleLoadList)
    await import(${JSON.stringify(join(import.meta.dirname, 'all.ts'))})
    console.log(process.moduleLoadList.filter((name) => !before.has(name)).join('\\n'))`
  const names = execFileSync(process.execPath, ['--input-type=module', '-e', loaded], { encoding: 'utf8' })
  assert.doesNotMatch(names, /child_process|worker|http|crypto|zlib|\bdns\b/)
})

/** The types as another's project sees them: from the built package, under the strictest settings of the compiler. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')
const installed = ['zod', 'valibot', 'arktype', '@types', '@ark', 'arkregex', 'undici-types']

test('a program against the package compiles, whatever its compiler is asked to check', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-user-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, 'ona'), { recursive: true })
  for (const name of ['package.json', 'dist']) symlinkSync(join(root, name), join(modules, 'ona', name))
  for (const name of installed) symlinkSync(join(root, 'node_modules', name), join(modules, name))
  for (const file of globSync(['examples/sdk/*.ts', 'src/sdk/types.test.ts'], { cwd: root }))
    copyFileSync(join(root, file), join(folder, basename(file)))
  const shown = ['README.md', 'docs/hooks.md', 'docs/steps.md', 'docs/sdk.md', 'docs/sdk-from-ruby.md'].flatMap(shownIn)
  for (const [at, block] of shown.entries()) writeFileSync(join(folder, `shown-${at}.ts`), block)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: strictest, include: ['*.ts'] }))
  const { stdout, status } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', '.'], {
    cwd: folder,
    encoding: 'utf8',
  })
  assert.deepEqual([stdout, status], ['', 0])
})

/** The programs of a page; what they leave out, they are given. */
const shownIn = (page: string): string[] =>
  Array.from(readFileSync(join(root, page), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm), ([, block]) =>
    block!.includes("from 'ona") ? `${given}${block}` : `${given}${leftOut}${whole(block!)}`,
  )

/** Hooks, or keys of a definition, are shown without what stands around them. */
function whole(block: string): string {
  if (/^(\/\/.*\n)?on[A-Z]\w+:/.test(block)) return `defineAgent({ name: 'a', instructions: '', hooks: {\n${block}} })`
  return block.startsWith('resultTransform:')
    ? `defineAgent({ name: 'a', instructions: '', output: lead, ${block}})`
    : block
}

const given = `
declare const findCompanies: (region: string) => string[]
declare const tracker: { record(all: { inputTokens: number }): void }
declare const leads: string[]
declare const projectFolder: string
declare const tokenTracker: typeof tracker
`
const leftOut = `
import { Context, defineAgent, openRuntime, run, stream } from 'ona'
const agent = defineAgent({ name: 'a', instructions: '' })
const finder = agent
import * as z from 'zod'
const prospect = z.object({ name: z.string(), passed_filter: z.boolean() })
const lead = z.object({ data: z.string(), prospects: z.array(prospect), metadata: z.unknown() })
type Prospect = z.infer<typeof prospect>
type Lead = z.infer<typeof lead>
declare const enhance: (one: Prospect, metadata: unknown) => Prospect
`

const strictest = {
  ...{ target: 'es2024', lib: ['es2024', 'esnext.disposable'], module: 'nodenext', types: ['node'], noEmit: true },
  ...{ strict: true, skipLibCheck: false, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  ...{ noPropertyAccessFromIndexSignature: true, noImplicitOverride: true, noImplicitReturns: true },
  ...{ verbatimModuleSyntax: true, isolatedModules: true, preserveSymlinks: true },
}

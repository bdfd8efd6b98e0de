/**
 * Bundles src/ into dist/: CommonJS, split by command, so that a start loads only what the command needs. Beside it lie
 * the public parts and their types.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { build } from 'rolldown'
import { buildDispatcher, bundle } from './build-dispatcher.ts'
import { buildInspect } from './build-inspect.ts'
import { buildMan } from './build-man.ts'

/** What makes and reads the database: all that some commands need. */
const store = withImports('src/store/open.ts', 'src/store/conversations.ts')
/** What every session loads at once: one file instead of fifty, since each file costs half a millisecond at start. */
const core = withImports('src/cli/conversation.ts', 'src/agent/tool-call.ts', 'src/hooks/text/json-text.ts')
/** What is needed where hooks are asked. */
const round = withImports('src/hooks/round/round.ts')
/** What reads a file: the commonest call. */
const read = withImports('src/tools/read/read-file.ts')
/** What is needed to ask a model, and to take a turn: a single call of the operator's does without. */
const model = withImports('src/agent/model/choose-model.ts')
const loop = withImports('src/agent/session/start.ts', 'src/agent/turn.ts')
/** What is on the screen before the agent is loaded, and the way to it. */
const terminal = withImports(
  'src/cli/commands/agent.ts',
  'src/cli/commands/repl.ts',
  'src/tui/session/repl-terminal.ts',
)

/** Built here and then put in place at once, so that a program which runs from dist/ is not left without its files. */
const fresh = 'node_modules/.cache/ona-dist'
const replaced = `${fresh}-replaced`
for (const folder of [fresh, replaced]) rmSync(folder, { recursive: true, force: true })
const { output } = await build({
  input: {
    main: 'src/cli/main.ts',
    worker: 'src/tools/worker.ts',
    'replay-thread': 'src/cli/commands/hooks/replay-thread.ts',
    sdk: 'src/sdk/index.ts',
    hooks: 'src/hooks/index.ts',
    brains: 'src/brains/index.ts',
    dispatcher: 'src/dispatcher/index.ts',
  },
  platform: 'node',
  external: [/^node:/, /^@napi-rs\/keyring/, /^@vscode\/ripgrep/],
  resolve: { mainFields: ['module', 'main'] },
  transform: { target: 'node24' },
  onLog(level, log, tell) {
    // unpdf asks for the place of a module that reading text does without
    if (log.code !== 'EMPTY_IMPORT_META' || !log.id?.includes('/unpdf/')) tell(level, log)
  },
  output: {
    dir: fresh,
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    minify: true,
    charset: 'ascii', // so that V8 keeps it at one byte a letter
    codeSplitting: {
      // a module goes into the first that takes it
      groups: [
        {
          name: 'root',
          test: /rolldown\/runtime|package-root|plain-file|hooks\/text\/nearest|cli\/(args|print|command|table)\.ts/,
        }, // what every command needs
        { name: 'options', test: /cli\/(options|options-check|flags)\.ts/ },
        { name: 'store', test: (id) => store.has(id) },
        { name: 'core', test: (id) => core.has(id) },
        { name: 'read-file', test: (id) => read.has(id) },
        { name: 'round', test: (id) => round.has(id) },
        { name: 'model', test: (id) => model.has(id) },
        { name: 'loop', test: (id) => loop.has(id) },
        { name: 'terminal', test: (id) => terminal.has(id) },
      ],
    },
  },
})
await buildDispatcher(`${fresh}/dispatcher`)
await buildInspect(`${fresh}/inspect`)
buildMan(`${fresh}/man/ona.1`)
writeFileSync(`${fresh}/guard.cjs`, await bundle('src/brains/enforce/guard-main.ts', {}, 'cjs'))

const types = spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json', '--outDir', `${fresh}/types`], {
  stdio: 'inherit',
})
if (types.status !== 0) process.exit(1)
keepChunks()
if (existsSync('dist')) renameSync('dist', replaced)
renameSync(fresh, 'dist')
rmSync(replaced, { recursive: true, force: true })

/** A program that began with the last build loads its parts from there when it needs them. Not in what npm packs. */
function keepChunks(): void {
  const list = `${fresh}-chunks.json`
  const last: string[] = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : []
  writeFileSync(
    list,
    JSON.stringify(output.map(({ fileName }) => fileName).filter((name) => name.startsWith('chunks/'))),
  )
  if (process.env['npm_lifecycle_event'] !== 'build') return
  for (const name of last)
    if (existsSync(`dist/${name}`) && !existsSync(`${fresh}/${name}`)) copyFileSync(`dist/${name}`, `${fresh}/${name}`)
}

/** Files and all that they import at once; what is imported when it is needed stays apart. */
function withImports(...files: string[]): Set<string> {
  const found = new Set<string>()
  const open = files.map((file) => resolve(file))
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file)) continue
    found.add(file)
    const text = readFileSync(file, 'utf8')
    for (const [, name] of text.matchAll(/^(?:import|export)\s(?!type\s)[^']*?from '(\.[^']+)'/gm)) {
      open.push(resolve(dirname(file), name!))
    }
  }
  return found
}

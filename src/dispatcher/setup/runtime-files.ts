/** What the installed tree consists of besides bundles: the small files whose text is ours to the letter. */

/**
 * dispatch.mjs. Must parse and answer on any Node, even when the rest of the tree is damaged. It compiles the bundle by
 * itself, because finding it with `require` takes two milliseconds, and with V8's code cache when there is one for this
 * Node: cold code is most of what an event costs. V8 trusts a cache, runs it for any program of the same length and dies of
 * a damaged byte, so ours holds it twice with the program behind it and is used only when both copies agree and the program
 * is this one. It is written only when `ona dispatcher` asks for it (ONA_DISPATCHER_WARM), never by an event.
 */
export const entryFile = String.raw`// node .ai/hooks/dispatch.mjs <Event> [dialect]: see lib/dispatch.cjs, and lib/hot.cjs, its part for PreToolUse.
try {
  process.getBuiltinModule ??= (await import('node:module')).createRequire(import.meta.url)
  const builtin = process.getBuiltinModule
  const fs = builtin('node:fs')
  const folder = import.meta.dirname ?? builtin('node:url').fileURLToPath(new URL('.', import.meta.url)).slice(0, -1)
  const name = process.argv[2] === 'PreToolUse' ? 'hot' : 'dispatch'
  const filename = folder + '/lib/' + name + '.cjs'
  const program = fs.readFileSync(filename)
  const cache = folder + '/lib/cache/' + [name, process.version, process.arch].join('-')
  let cachedData
  try {
    const kept = fs.readFileSync(cache)
    const size = (kept.length - program.length) / 2
    const [once, again, of] = [kept.subarray(0, size), kept.subarray(size, 2 * size), kept.subarray(2 * size)]
    if (size > 0 && once.equals(again) && of.equals(program)) cachedData = once
  } catch {} // not warmed for this Node
  const text = '(function(exports,require){' + program.latin1Slice() + '\n})' // all of it is ASCII
  const script = new (builtin('node:vm').Script)(text, { filename, cachedData })
  const exports = {}
  script.runInThisContext()(exports, builtin)
  if (process.env.ONA_DISPATCHER_WARM)
    process.on('exit', () => {
      const data = script.createCachedData()
      fs.writeFileSync(cache + '.' + process.pid, Buffer.concat([data, data, program]))
      fs.renameSync(cache + '.' + process.pid, cache)
    })
  await exports.run(folder, (url) => import(url))
} catch (cause) {
  const { writeSync } = await import('node:fs')
  const why = String(cause?.message ?? cause).split('\n')[0]
  const systemMessage = 'dispatcher: cannot start (' + why + '); its rules were not applied. Run: ona dispatcher doctor'
  const contract = process.argv[2] === 'PreToolUse' && process.argv[3] !== 'claude' && !process.env.CLAUDE_PROJECT_DIR
  writeSync(1, JSON.stringify({ ...(contract && { decision: 'allow', warnings: [systemMessage] }), systemMessage }) + '\n')
  process.exit(0)
}
`

/** The libraries modules may import: lib/NAME.mjs. */
export const libFiles: Readonly<Record<string, { source: string; text: string }>> = {
  paths: {
    source: 'src/dispatcher/session/paths.ts',
    text: `// Where everything lies, and the form in which paths are compared.
import lib from './paths.cjs'

export const { buildPaths, readWorkspace, normalisePath, isBelow, isSegment } = lib
`,
  },
  glob: {
    source: 'src/dispatcher/rules/glob.ts',
    text: `// The pattern dialect of every list in the configuration.
import lib from './glob.cjs'

export const { globMatches, matchesAny, isRepoWide, globInside } = lib
`,
  },
  testing: {
    source: 'src/dispatcher/setup/testing.ts',
    text: `// testContext(folder, { module, event, input }): a context to try a module with.
import lib from './testing.cjs'

export const { testContext } = lib
`,
  },
  'neo4j-cap': {
    source: 'src/dispatcher/neo4j-cap.ts',
    text: `// await neo4jCapability(ctx): from the state on PreToolUse, asked at most every five minutes elsewhere.
import lib from './neo4j-cap.cjs'

export const { neo4jCapability } = lib
`,
  },
}

/** Which source each shipped feature is built from. */
export const moduleSources: Readonly<Record<string, string>> = {
  session: 'src/dispatcher/modules/session.ts',
  'graph-pretooluse': 'src/dispatcher/modules/graph-pretooluse.ts',
  'planGraph-exec': 'src/dispatcher/modules/plan-graph-exec.ts',
  'plan-subagent-contract': 'src/dispatcher/modules/plan-subagent-contract.ts',
  'rlm-work': 'src/dispatcher/modules/rlm-work.ts',
  'memory-journal': 'src/dispatcher/modules/memory-journal.ts',
  'memory-activation': 'src/dispatcher/modules/memory-activation.ts',
  'stop-synth': 'src/dispatcher/modules/stop-synth.ts',
}

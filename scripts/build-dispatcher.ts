/** Builds the files that `ona dispatcher install` copies: plain JavaScript for Node 20 and later, no node_modules. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { installedText } from '../src/dispatcher/load-modules.ts'
import { entryFile, libFiles, moduleSources } from '../src/dispatcher/setup/runtime-files.ts'
import { schemas } from '../src/dispatcher/setup/schemas.ts'

export async function buildDispatcher(folder: string): Promise<void> {
  const put = (file: string, text: string) => {
    mkdirSync(join(folder, file, '..'), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  let installed = ''
  for (const [name, source] of Object.entries(moduleSources)) {
    const text = await bundle('hook', { hook: `export { hook as default } from '${source}'` }, 'esm')
    put(`features/${name}/hook.mjs`, text)
    installed += installedText(name, text)
  }
  put('lib/features.txt', installed)
  put('lib/dispatch.cjs', await bundle('src/dispatcher/bundle.ts', {}, 'cjs'))
  put('lib/hot.cjs', await bundle('src/dispatcher/bundle-hot.ts', {}, 'cjs'))
  put('dispatch.mjs', entryFile)
  for (const [name, { source, text }] of Object.entries(libFiles)) {
    put(`lib/${name}.cjs`, await bundle(source, {}, 'cjs'))
    put(`lib/${name}.mjs`, text)
  }
  for (const [name, schema] of Object.entries(schemas))
    put(`schema/${name}.schema.json`, `${JSON.stringify(schema, null, 2)}\n`)
}

/**
 * One file, pure ASCII (so that V8 keeps it at one byte a letter). Readable code, never minified: a repository commits it,
 * its reviewers read it, and the owner of a module may change it.
 * `given`: modules whose text is not on disk.
 */
export async function bundle(input: string, given: Record<string, string>, format: 'esm' | 'cjs'): Promise<string> {
  const build = await rolldown({
    input,
    platform: 'node',
    external: [/^node:/],
    transform: { target: 'node20' },
    plugins: [
      {
        name: 'given',
        resolveId: (id) => {
          const name = Object.keys(given).find((key) => id === key || id === `./${key}`)
          if (name !== undefined) return `\0given:${name}`
          return id.startsWith('src/') ? join(process.cwd(), id) : undefined
        },
        load: (id) => (id.startsWith('\0given:') ? given[id.slice(7)] : undefined),
      },
    ],
    logLevel: 'warn',
  })
  const { output } = await build.generate({ format, charset: 'ascii', codeSplitting: false })
  await build.close()
  return output[0].code.endsWith('\n') ? output[0].code : `${output[0].code}\n`
}

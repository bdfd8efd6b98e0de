/**
 * Compiles the test files that are named on stdin and all that they import, for the cache of compile-cache.mjs. One process
 * strips the types of all of them for what it costs fifty to load the stripper.
 */
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import './compile-cache.mjs'

const files = (await text(process.stdin)).split('\n').filter(Boolean)
const imports = files.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)}\n`)
// nothing of a module runs when one of its imports is missing
const module = `${imports.join('')}import { missing } from 'node:fs'\n`
await import(`data:text/javascript,${encodeURIComponent(module)}`).catch((cause) => {
  if (!cause.message.includes("'missing'")) throw cause
})

/** For a process that a test starts on a file of src: `spawn(process.execPath, [compileCache, file])` compiles nothing twice. */
import { join } from 'node:path'

export const compileCache = `--import=${join(import.meta.dirname, '../../scripts/compile-cache.mjs')}`

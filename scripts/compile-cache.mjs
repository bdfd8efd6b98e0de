/** Loaded before each test file: the TypeScript of a module is stripped and compiled once, not once a file. Children do not get it. */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/ona-tests'))

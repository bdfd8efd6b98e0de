/** Hooks in TypeScript from a user's file: what it exports with `defineHook` and `defineStepHook`. */
import { existsSync } from 'node:fs'
import type { RegisterHooksOptions } from 'node:module'
import { isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Handler } from '../../hooks/handler.ts'
import type { LoadHooks } from '../../hooks/settings.ts'
import { isObject } from '../../hooks/shape.ts'
import { packageRoot } from '../../package-root.ts'

/** Loads and so runs the file, at once: what it guards must not begin without it. */
export function hooksOfFile(path: string): ReturnType<LoadHooks> {
  if (!existsSync(path)) return { why: `there is no file ${path}` }
  const { createRequire, registerHooks } = process.getBuiltinModule('node:module')
  const ours = registerHooks({ resolve: findOurs })
  try {
    const handlers = exportedBy(createRequire(path)(path))
    if (handlers.length > 0) return { handlers }
    return { why: `${path} exports no hook; write: export const mine = defineHook('PreToolUse', …)` }
  } catch (cause) {
    return { why: `${path} cannot be loaded: ${faultOf(cause, path)}` }
  } finally {
    ours.deregister()
  }
}

/** Only the first line of its stack says where a syntax error stands, and it may stand in a file that this one imports. */
function faultOf(cause: unknown, path: string): string {
  if (!(cause instanceof Error)) return String(cause)
  const [, named, line] = /^(file:\/\/.*|\/.*):(\d+)\n/.exec(cause.stack ?? '') ?? []
  if (named === undefined) return cause.message
  const file = named.startsWith('/') ? named : fileURLToPath(named)
  return `${file === path ? `line ${line}` : `${file}:${line}`}: ${cause.message}`
}

/**
 * Loads the files that settings of a level name. A project's paths start at its folder; a user's own apply in every
 * folder, and must not mean a file of whichever one they are in.
 */
export const hookFiles =
  (level: string, { cwd, home }: { cwd: string; home: string }): LoadHooks =>
  (file) => {
    if (file.startsWith('~/')) return hooksOfFile(join(home, file.slice(2)))
    if (isAbsolute(file)) return hooksOfFile(file)
    if (ofFolder.includes(level)) return hooksOfFile(resolve(cwd, file))
    return { why: `must begin with / or ~/ in what counts in every folder, not "${file}"` }
  }

const ofFolder = ['project', 'local', 'flag']

/** Each once, however often it is exported; one that has no name has that of its export. */
function exportedBy(module: object): Handler[] {
  const found = new Map<unknown, Handler>()
  for (const [name, value] of Object.entries(module))
    for (const each of [value].flat())
      if (isHandler(each) && !found.has(each)) found.set(each, each.name === 'anonymous' ? { ...each, name } : each)
  return [...found.values()]
}

const isHandler = (value: unknown): value is Handler & { kind: 'function' } =>
  isObject(value) && value['kind'] === 'function' && typeof value['run'] === 'function'

/** `ona/hooks` is found from any folder: where the file's own project has none, it is this one. */
const findOurs: RegisterHooksOptions['resolve'] = (name, context, next) => {
  try {
    return next(name, context)
  } catch (cause) {
    if (name !== 'ona/hooks') throw cause
    const built = join(packageRoot, 'dist/hooks.cjs')
    const url = pathToFileURL(existsSync(built) ? built : join(packageRoot, 'src/hooks/index.ts')).href
    return { url, shortCircuit: true }
  }
}

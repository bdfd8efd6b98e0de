/** Hooks in TypeScript from a file of the person's: what it exports by `defineHook` and `defineStepHook`. */
import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Handler } from '../hooks/handler.ts'
import { isObject } from '../hooks/shape.ts'
import { packageRoot } from '../package-root.ts'

export type HookFile = { readonly handlers: readonly Handler[] } | { readonly why: string }

/** Loads and so runs the file. */
export async function hooksOfFile(file: string): Promise<HookFile> {
  const path = resolve(file)
  if (!existsSync(path)) return { why: `there is no file ${path}` }
  const ours = registerHooks({ resolve: findOurs })
  try {
    const exported = Object.values(await import(pathToFileURL(path).href)).flat()
    const handlers = [...new Set(exported)].filter(isHandler)
    if (handlers.length > 0) return { handlers }
    return { why: `${path} exports no hook; write: export const mine = defineHook('PreToolUse', …)` }
  } catch (cause) {
    return { why: `${path} cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}` }
  } finally {
    ours.deregister()
  }
}

const isHandler = (value: unknown): value is Handler =>
  isObject(value) && value['kind'] === 'function' && typeof value['run'] === 'function'

/** `ona/hooks` is found from any folder: where the file's own project has none, it is this one. */
const findOurs: Parameters<typeof registerHooks>[0]['resolve'] = (name, context, next) => {
  try {
    return next(name, context)
  } catch (cause) {
    if (name !== 'ona/hooks') throw cause
    const built = join(packageRoot, 'dist/hooks.cjs')
    const url = pathToFileURL(existsSync(built) ? built : join(packageRoot, 'src/hooks/index.ts')).href
    return { url, shortCircuit: true }
  }
}

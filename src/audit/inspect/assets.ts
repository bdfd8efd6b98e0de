/** The script and the style of the served pages, as the build left them in `dist/inspect`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../package-root.ts'
import { sharedStyle } from '../../page.ts'
import { inspectStyle } from './style.ts'

/** `built`: a file of the bundle; `before`: what goes in front of it. */
const assets: Readonly<Record<string, { type: string; built: string; before: string }>> = {
  '/assets/inspect.js': { type: 'text/javascript', built: 'inspect.js', before: '' },
  '/assets/inspect.css': { type: 'text/css', built: 'inspect.css', before: sharedStyle + inspectStyle },
  '/favicon.ico': { type: 'image/svg+xml', built: 'icon.svg', before: '' },
}

export function asset(path: string): { readonly type: string; readonly body: string } | undefined {
  const wanted = Object.hasOwn(assets, path) ? assets[path] : undefined
  if (!wanted) return undefined
  const body = readFileSync(join(packageRoot, 'dist', 'inspect', wanted.built), 'utf8')
  return { type: wanted.type, body: wanted.before + body }
}

/** `ona dispatcher new-module NAME`: a module to start from, its test, and its line in the manifest. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../package-root.ts'
import { modulePath, shipped } from '../manifest.ts'
import { readJson } from '../session/files.ts'
import { isObject, isSegment } from '../session/paths.ts'
import { strayFolder, writeJson, writeWhole } from './install.ts'

export type Made = { ok: true; files: string[] } | { ok: false; problem: string }

export function makeModule(repoRoot: string, name: string): Made {
  if (!isSegment(name))
    return { ok: false, problem: `"${name}" cannot be a module's name: letters, digits, dots, dashes and underscores` }
  if (Object.hasOwn(shipped, name)) return { ok: false, problem: `${name} is a shipped module; choose another name` }
  const stray = strayFolder(repoRoot)
  if (stray !== undefined) return { ok: false, problem: stray }
  const manifestPath = '.ai/hooks/dispatch.manifest.json'
  const { value, problem } = readJson(join(repoRoot, manifestPath))
  if (!isObject(value))
    return { ok: false, problem: `${manifestPath}: ${problem ?? 'not there'}; run: ona dispatcher install` }
  const path = `.ai/hooks/${modulePath(name)}`
  const test = `.ai/hooks/features/${name}/hook.test.mjs`
  for (const file of [path, test])
    if (existsSync(join(repoRoot, file))) return { ok: false, problem: `${file} is already there` }
  const entry = { enabled: true, priority: 200, path: modulePath(name), hotPathSafe: true, critical: false }
  const modules = Array.isArray(value['modules'])
    ? [...value['modules'], { name, ...entry }]
    : { ...(isObject(value['modules']) ? value['modules'] : {}), [name]: entry }
  writeWhole(join(repoRoot, path), template('hook.mjs', name))
  writeWhole(join(repoRoot, test), template('hook.test.mjs', name))
  writeJson(join(repoRoot, manifestPath), value, { ...value, modules })
  return { ok: true, files: [path, test, manifestPath] }
}

/** The example that is shown in the docs and tested with them, under the new name. */
const template = (file: string, name: string): string =>
  readFileSync(join(packageRoot, 'examples/dispatcher/migration-guard', file), 'utf8').replaceAll(
    'migration-guard',
    name,
  )

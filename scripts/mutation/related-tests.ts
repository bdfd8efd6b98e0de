/** Which test files reach a source file through imports, the nearest first. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

export type Graph = ReadonlyMap<string, readonly string[]>

/** Each file with those that import it. */
export function importersIn(root: string): Graph {
  const importers = new Map<string, string[]>()
  for (const file of globSync(['src/**/*.{ts,tsx}', 'test/**/*.ts'], { cwd: root }))
    for (const [, path] of readFileSync(join(root, file), 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
      const target = normalize(join(dirname(file), path!))
      if (existsSync(join(root, target))) importers.set(target, [...(importers.get(target) ?? []), file])
    }
  return importers
}

export function testsOf(file: string, importers: Graph): string[] {
  const seen = new Set([file])
  const tests: string[] = []
  for (let near = [file]; near.length > 0; ) {
    near = near.flatMap((at) => importers.get(at) ?? []).filter((at) => !seen.has(at) && seen.add(at))
    tests.push(...near.filter((at) => at.endsWith('.test.ts')))
  }
  return [...new Set(tests)]
}

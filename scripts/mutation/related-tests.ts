/** Which test files can notice a change of a source file: those that reach it through imports, and those that run the program. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

export type Graph = ReadonlyMap<string, readonly string[]>

/** Tests that run the program itself. */
const programTests: Record<string, readonly string[]> = {
  'src/permissions': ['test/permissions.test.ts', 'test/redteam'],
  'src/hooks': ['test/hooks'],
  'src/store': ['test/store.test.ts', 'test/audit'],
  'src/workflow': ['test/workflow.test.ts', 'test/redteam/blind-tests.test.ts', 'test/redteam/blind-generator.test.ts'],
  'src/dispatcher': ['test/dispatcher'],
}
/** Through these a test reaches everything, and looks at none of it closely. */
const hub = /^src\/(?:cli|tui)\//

const references = /(?:(?:from|import\(|new URL\()\s*'(?=\.)|import\.meta\.dirname, ')([^']+)'/g

/** Each file with those that import it, or run it by its URL or path. */
export function importersIn(root: string): Graph {
  const importers = new Map<string, string[]>()
  for (const file of globSync(['src/**/*.{ts,tsx}', 'test/**/*.ts', 'scripts/**/*.ts'], { cwd: root }))
    for (const [, path] of readFileSync(join(root, file), 'utf8').matchAll(references)) {
      const target = normalize(join(dirname(file), path!))
      if (existsSync(join(root, target))) importers.set(target, [...(importers.get(target) ?? []), file])
    }
  return importers
}

/** The nearest, and all that lie in the same folder of src: one there may be far by imports and still be about the file. */
export const nearTestsOf = (file: string, importers: Graph, near: number): string[] =>
  testsOf(file, importers).filter((test, at) => at < near || test.startsWith(`${folderOf(file)}/`))

/** The nearest first. */
function testsOf(file: string, importers: Graph): string[] {
  const seen = new Set([file])
  const tests: string[] = []
  for (let near = [file]; near.length > 0; ) {
    near = near.flatMap((at) => importers.get(at) ?? []).filter((at) => !seen.has(at) && seen.add(at))
    tests.push(...near.filter((at) => at.endsWith('.test.ts')))
    near = near.filter((at) => !hub.test(at) || hub.test(file))
  }
  return [...new Set(tests)]
}

export function programTestsOf(file: string, root: string): string[] {
  return (programTests[folderOf(file)] ?? []).flatMap((at) =>
    at.endsWith('.ts') ? [at] : globSync(`${at}/**/*.test.ts`, { cwd: root }).sort(),
  )
}

const folderOf = (file: string): string => file.split('/').slice(0, 2).join('/')

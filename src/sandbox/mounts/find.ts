/** Finds what a sandbox protects or hides below a folder. What was found stays known between commands. */
import { isSecret } from './secret-names.ts'
import { type Find, type Sort, Tree } from './tree.ts'

export type Found = Find<'git' | 'secret' | 'named' | 'match'>

export interface Marks {
  /** Names that are protected at any depth, in lower case. */
  readonly names?: ReadonlySet<string>
  readonly secrets?: boolean
  /** Held against the path relative to the folder. */
  readonly pattern?: RegExp
}

const trees = new Map<string, Tree<Found['kind']>>()
const mostTrees = 200

/** The same search of the same folder goes on with what it knows. */
export function finder(root: string, marks: Marks): Tree<Found['kind']> {
  const key = JSON.stringify([root, marks.secrets, marks.pattern?.source, [...(marks.names ?? [])]])
  const known = trees.get(key)
  if (known) return known
  if (trees.size >= mostTrees) trees.clear()
  const tree = new Tree(marks.pattern ? matching(root, marks.pattern) : marking(marks))
  trees.set(key, tree)
  return tree
}

/** Everything that a rule's pattern matches, wherever it is. */
function matching(root: string, pattern: RegExp): Sort<Found['kind']> {
  const start = root === '/' ? 1 : root.length + 1
  return (path, _name, isFolder) => (pattern.test(path.slice(start)) ? 'match' : isFolder ? 'down' : 'skip')
}

/** Installed packages and build output have no secrets of the user's; rules of the user's own search them all the same. */
const passedOver = new Set(['node_modules', '.venv', 'venv', 'target', 'vendor', '__pycache__', '.tox', '.gradle'])

function marking({ names, secrets }: Marks): Sort<Found['kind']> {
  return (path, name, isFolder) => {
    if (name === '.git') return 'git'
    if (names?.has(name.toLowerCase())) return 'named'
    if (secrets && isSecret(path, name, isFolder)) return 'secret'
    return isFolder && !passedOver.has(name) ? 'down' : 'skip'
  }
}

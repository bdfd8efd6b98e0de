/** The roles that a command line asks to link and to unlink. */
import { Problem } from '../../files/problem.ts'
import { type FoundRole, type Roles, roleNamed } from './find.ts'

/** Stands for the minus sign in front of a role to unlink; no role's name has it. */
export const unlinkSign = '\u2212'

export interface Wanted {
  readonly link: readonly FoundRole[]
  readonly unlink: readonly string[]
}

export function wantedRoles(words: readonly string[], all: Roles): Wanted {
  const adds = words
    .filter((word) => !word.startsWith(unlinkSign))
    .map((word) => roleNamed(word.replace(/^\+/, ''), all))
  const drops = words.filter((word) => word.startsWith(unlinkSign)).map((word) => linkedNamed(word.slice(1), all))
  return { link: adds, unlink: drops }
}

/** The author of a linked role; it need not be loadable, nor declared any more. */
function linkedNamed(word: string, { roles, failed, gone }: Roles): string {
  const linked = roles.filter((role) => role.linked)
  const authors = [...linked.map(({ author }) => author), ...failed.map(({ author }) => author), ...gone]
  const found = authors.filter(
    (author) => author === word || author.endsWith(`/role=${word}`) || author === `repo=${word.replace('/', '/role=')}`,
  )
  const own = linked.find(({ author, own }) => own && author === found[0])
  if (own) throw new Problem(`${own.author} is declared in ${own.source}; delete that folder to drop the role`)
  if (found.length === 1) return found[0]!
  if (found.length > 1)
    throw new Problem(`there is more than one linked role "${word}"; use one of ${found.join(', ')}`)
  throw new Problem(`no role "${word}" is linked here; linked are: ${authors.join(', ') || 'none'}`)
}

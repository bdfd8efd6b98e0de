/** What git reads: verbs and options that neither write nor run a program. */
import { abbreviates } from '../parse/abbreviates.ts'
import { byName } from '../parse/by-name.ts'
import type { ReadOnlyUse, ShellWord } from '../parse/command.ts'
import { isOneOption, isOneWord, isText, pathValue } from './unknown-values.ts'

const gitForbidden = [
  ...['--output', '--ext-diff', '--textconv', '--open-files-in-pager', '--exec', '--upload-pack', '--filters'],
  ...['--show-signature', '--contents', '--batch-check', '--batch-command', '--stdin', '--edit', '--paginate'],
  '--help', // it runs man, which runs a pager
  ...['--remerge-diff', '--ignore-revs-file'], // it writes the merge to compare with; it prints lines that it rejects
  '--no-index', // it reads what git does not know, too
]
const isForbiddenToGit = byName((option) => gitForbidden.some((each) => abbreviates(option, each)))
const gitTakes =
  /^(-n|-S|-G|-L|-U|--author|--grep|--since|--until|--after|--before|--format|--pretty|--date|--max-count|--sort|--contains|--merged|--no-merged|--points-at|--abbrev|-m|-A|-B|-C|-e|--get)$/

/** Those whose value is text with every verb; the others take none with some: `git blame -e a`, `git show -m HEAD:a`. */
const takesText = /^(-[SG]|--(author|grep|since|until|after|before|date|max-count))$/

const grepTakes = /^-[ABCme]$/

/** Options whose joined value is text: what it is when it runs does not matter. */
const gitText = /^-[SG]|^--(format|pretty|grep|author|since|until)/

/** `-O` reads a file, `--diff-merges=remerge` writes one. */
const readsFile = /^(-(?![SGL])\w*O.|--diff-me[a-z-]*=r)/

/** Formats that run gpg: `%G?`, `%(signature:grade)`. */
const verifies = /%G|%\(\*?signature/

/** Verbs that read whatever their operands are. */
const gitReads =
  /^(status|diff|log|show|rev-parse|rev-list|describe|ls-files|ls-tree|cat-file|blame|annotate|shortlog|grep|merge-base|name-rev|whatchanged|diff-tree|diff-files|diff-index|for-each-ref|show-ref|show-branch|count-objects|check-ignore|check-attr|cherry|range-diff|version)$/
/** Verbs that read with these words alone. */
const gitReadsWith: Record<string, RegExp> = {
  remote: /^(|-v|--verbose|get-url [\w./-]+)$/,
  reflog: /^(|show( .*)?|-n ?\d+|-\d+)$/s,
  stash: /^(list|show)( .*)?$/s,
  worktree: /^list( .*)?$/s,
  config: /^--get (user|remote|branch|init|core|pull|push)\.[\w.-]+$/,
}

/** Verbs that list with these options alone, and the options beside which a name is a pattern: beside others it is made. */
const gitLists: Record<string, { options: RegExp; patterns: RegExp }> = {
  branch: {
    options:
      /^(-[avr]+|-i|--(list|all|remotes|show-current|verbose|ignore-case|points-at|(no-)?(column|color|merged|contains|abbrev))(=.*)?|--(sort|format)=.*)$/s,
    patterns: /^(-[av]*[ar]+v*|--(list|all|remotes|show-current|points-at|(no-)?(merged|contains))(=.*)?)$/s,
  },
  tag: {
    options:
      /^(-n\d*|-[li]|--(list|ignore-case|points-at|(no-)?(column|color|merged|contains))(=.*)?|--(sort|format)=.*)$/s,
    patterns: /^(-n\d*|-l|--(list|points-at|(no-)?(merged|contains))(=.*)?)$/s,
  },
}

function gitOnlyLists(verb: string, rest: readonly ShellWord[]): boolean {
  const lists = Object.hasOwn(gitLists, verb) ? gitLists[verb]! : undefined
  const options = rest.map(({ value }) => value).filter((value) => value.startsWith('-'))
  if (!lists || !options.every((option) => lists.options.test(option))) return false
  if (options.length === rest.length) return true
  return rest[0]!.value === options[0] && options.some((option) => lists.patterns.test(option))
}

/** Undefined: it may do more than read. `args`: what stands behind `git`. */
export function gitUse(args: readonly ShellWord[]): ReadOnlyUse | undefined {
  let at = 0
  while (/^(--no-pager|-P|--no-optional-locks|--literal-pathspecs)$/.test(args[at]?.value ?? '')) at++
  const verb = args[at]
  const rest = args.slice(at + 1)
  if (!verb?.literal) return undefined
  const text = rest.map((word) => word.value).join(' ')
  const given = Object.hasOwn(gitReadsWith, verb.value) ? gitReadsWith[verb.value] : undefined
  if (!gitReads.test(verb.value) && !given?.test(text) && !gitOnlyLists(verb.value, rest)) return undefined
  if (given && /(^| )(-[dDmMcCfu]|--(delete|move|copy|force|set-upstream|unset|edit|track))/.test(text))
    return undefined
  const paths: ShellWord[] = []
  const isGrep = verb.value === 'grep'
  let expectsPattern = isGrep && !rest.some(({ value }) => /^-[a-zA-Z]*e/.test(value))
  for (const [index, word] of rest.entries()) {
    const before = rest[index - 1]?.value ?? ''
    if (word.value.startsWith('-')) {
      if (!word.literal && !(gitText.test(word.value) && isOneOption(word))) return undefined
      if (isForbiddenToGit(word.value) || verifies.test(word.value)) return undefined
      if (isGrep && /^(-\w*[Of]|--(unt|no-ex))/.test(word.value)) return undefined
      if (!isGrep && readsFile.test(word.value)) return undefined
      if (/^(blame|annotate)$/.test(verb.value) && /^-\w*S/.test(word.value)) return undefined
      paths.push(...pathValue(word.value), ...(word.value.startsWith('-L') ? afterLastColon(word) : []))
    } else if ((isGrep ? grepTakes : gitTakes).test(before)) {
      if (!isOneWord(word) || verifies.test(word.value)) return undefined
      const isPlain = isGrep ? before === '-e' : takesText.test(before)
      if (!isPlain) paths.push(word, ...afterColon(word), ...(before === '-L' ? afterLastColon(word) : []))
    } else if (expectsPattern) {
      if (!isText(word, false, rest)) return undefined
      expectsPattern = false
    } else paths.push(word, ...afterColon(word))
  }
  return { paths, metadata: false, git: true }
}

/** `HEAD:path` names a file in a commit. */
function afterColon(word: ShellWord): ShellWord[] {
  const colon = word.path.indexOf(':')
  return colon < 0 ? [] : [{ ...word, path: word.path.slice(colon + 1) || '.' }]
}

/** `-L1,5:path`, `-L:name:path`. */
function afterLastColon(word: ShellWord): ShellWord[] {
  const colon = word.path.lastIndexOf(':')
  return colon < 0 ? [] : [{ ...word, path: word.path.slice(colon + 1) || '.' }]
}

/** Commands that a command may stand for: without its first options, by the file that it runs, or with its options in full. */
import { HOLE } from '../wildcard.ts'
import { abbreviates, optionName } from './parse/abbreviates.ts'
import { byName, named } from './parse/by-name.ts'
import { plainWord, type ShellWord } from './parse/command.ts'
import { nameOf, programIn, unknownWords, wrapperOf } from './parse/wrappers.ts'

type Form = readonly ShellWord[]

/** With more words than this, a command may be anything. */
export const mostWords = 200

/** What a form may be besides itself; `isWanted`: whether a rule begins with the name. */
export function otherForms(form: Form, isWanted: (name: string) => boolean): readonly Form[] {
  const name = nameOf(form)
  const runs = runsFirst(name)
  if (!runs && !(isOption(form[1]) && name !== 'git' && isWanted(name))) return none
  const bare = withoutOptions(form)
  return runs ? [...bare, ...[form, ...bare].flatMap(ran)] : bare
}

const none: readonly Form[] = []
const isOption = (word: ShellWord | undefined): boolean =>
  word !== undefined && (word.value.startsWith('-') || word.value.startsWith('+'))

/** `npm -w a publish` as `npm a publish` and `npm publish`: whether an option takes the next word as its value is not known. */
function withoutOptions(form: Form): readonly Form[] {
  const found: Form[] = []
  const from = (at: number) => at < form.length && found.push([form[0]!, ...form.slice(at)])
  for (let at = 1; at < mostWords && isOption(form[at]); ) {
    const isAlone = !form[at]!.value.includes('=')
    from(++at)
    if (isAlone && !isOption(form[at])) from(++at)
  }
  return found
}

/**
 * `docker compose -f x down` as `docker compose down`, where a rule begins with these words: `verbs`. A line of many options that
 * may be one of the words may be all of them.
 */
export function withoutOptionsBetween(form: Form, verbs: readonly (readonly string[])[]): readonly Form[] {
  const found: Form[] = []
  for (const [program, ...words] of verbs) {
    if (form[0]!.value !== program) continue
    let begun = new Map<number, Form>([[1, [form[0]!]]])
    for (const word of words) {
      const next = new Map<number, Form>()
      for (const [from, kept] of begun)
        for (const at of behindOptions(form, from)) {
          const { value } = form[at]!
          if (value === word || value.includes(HOLE)) next.set(at + 1, [...kept, form[at]!])
        }
      begun = next
      if (begun.size > mostWays) break
    }
    if (begun.size > mostWays) found.push([form[0]!, ...words.map(plainWord), unknownWords])
    else for (const [at, kept] of begun) found.push([...kept, ...form.slice(at)])
  }
  return found
}

const mostWays = 16

/** Where the next word may stand: whether an option takes one as its value is not known. */
function behindOptions(form: Form, from: number): ReadonlySet<number> {
  const found = new Set<number>()
  if (from < form.length) found.add(from)
  for (const at of found) {
    if (!isOption(form[at])) continue
    if (at + 1 < form.length) found.add(at + 1)
    if (at + 2 < form.length && !form[at]!.value.includes('=') && !isOption(form[at + 1])) found.add(at + 2)
  }
  return found
}

/** `node /usr/lib/npm-cli.js publish` as `npm publish`, and `pnpm npm publish`, which has no such verb. */
function ran(form: Form): readonly Form[] {
  const [, first, ...rest] = form
  if (first?.value.includes(HOLE) && fallsBack(nameOf(form))) return [[first, ...rest]]
  if (!first?.literal || !/^[\w~./@][\w~./@-]*$/.test(first.value)) return none
  const program = programIn(first.value).replace(/(-cli)?\.([cm]?[jt]s|py|rb|pl|php|lua)$/, '')
  return fallsBack(nameOf(form)) && isVerb(program) ? none : [[plainWord(program), ...rest]]
}

/** Programs that run the file, or the program, that their first word names. */
export const runsFirst = named(/^(node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|pypy3?|perl|ruby|php|lua|pnpm|yarn)$/)
/** Package managers that run a program where they have no verb of that name, and their verbs that programs are called too. */
const fallsBack = named(/^(pnpm|yarn)$/)
const isVerb = named(/^(bin|env|install|link|list|ln|ls|node|patch|rm|root|run|start|test|unlink|up|version|why)$/)

/** `git reset --har` as `git reset --hard`: long options that rules name, where they are shortened. */
export function inFull(form: Form, options: readonly string[]): Form {
  const fullOf = ({ value }: ShellWord): string | undefined => {
    if (!value.startsWith('--')) return undefined
    const given = optionName(value)
    const option = options.includes(given) ? undefined : options.find((each) => shortens(given, each))
    return option && option + value.slice(given.length)
  }
  if (options.length === 0 || !form.some(fullOf)) return form
  return form.map((word) => plainWord(fullOf(word) ?? word.value))
}

/** At least two letters: shorter ones are never unique. */
const shortens = (given: string, option: string): boolean => given.length > 3 && abbreviates(given, option)

/** Known programs that run their words, on another machine, in a container, or behind one of these verbs. */
export const runsWords = (form: Form): boolean => {
  const verb = verbOf(nameOf(form))
  return verb !== undefined && form.some(({ value }, at) => at > 0 && verb.test(value))
}

/** Whether one of them may run what xargs adds: not behind `npm exec eslint`, which names its program. */
export function runsAdded(form: Form): boolean {
  if (form.at(-1) !== unknownWords) return false
  const name = nameOf(form)
  const verb = verbOf(name)
  if (!verb) return false
  if (form.find((word, at) => at > 0 && !isOption(word)) === unknownWords) return true
  return wrapperOf(name) === undefined ? runsWords(form) : verb.test(form.at(-2)!.value)
}

const verbOf = byName((name) => running.find(([program]) => program.test(name))?.[1])
const running: readonly (readonly [program: RegExp, verb: RegExp])[] = [
  [/^ssh$/, /^/],
  [/^(docker|podman|kubectl)$/, /^(exec|run|create|debug)$/],
  [/^(npm|pnpm|yarn|bun|composer|gem|tox)$/, /^(exec|dlx|x|explore)$/],
  [/^(gcloud|gh)$/, /^ssh$/],
  [/^cmake$/, /^-E$/],
]

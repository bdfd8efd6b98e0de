/** Whether a search by rg also finds hidden files: by its options, or by a pattern or a type that names them. */
import type { ShellWord } from '../parse/command.ts'

export function rgFindsHidden(words: readonly ShellWord[]): boolean {
  return words.some(({ value, path }, at) => {
    if (/^-[a-zA-Z]*[u.]|^--(hid|unr|no-ig|type-(add|clear))/.test(value)) return true
    const [, option, joined] = /^(-[gt]|--(?:i?glob|type)(?==|$))=?(.*)/s.exec(path) ?? []
    if (option === undefined) return false
    const given = value === option ? (words[at + 1]?.path ?? '') : joined!
    return /^(-t|--type)$/.test(option) ? /^(sh|all)$/.test(given) : mayBeHidden(given)
  })
}

/** A name that begins with a letter, or `*` and the ending of source code, is no hidden file with a secret in it. */
const mayBeHidden = (glob: string): boolean => !glob.startsWith('!') && !plainName.test(glob.split('/').at(-1)!)
const endings = (
  'astro bash c cc cfg cjs clj cpp cs css csv cts cxx dart ejs erl ex exs fish go gql gradle graphql h hbs hpp hs htm html ' +
  'ini ipynb java jl js json jsx kt kts less lock lua md mdx mjs ml mts php pl proto pug py pyi r rb rs sass scala scss sh ' +
  'sql svelte svg swift tf toml ts tsx txt vue xml yaml yml zsh'
).replaceAll(' ', '|')
const plainName = new RegExp(
  `^(?:[\\w-].*|\\*(?:\\.[\\w-]+)*\\.(?:${endings}|\\{(?:${endings})(?:,(?:${endings}))*\\}))$`,
  's',
)

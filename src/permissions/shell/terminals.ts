/** Programs that type into a terminal: what runs there is the operator's, and is judged by no rule. */
import { byName } from './parse/by-name.ts'
import type { ShellCommand, ShellWord } from './parse/command.ts'
import { formsOf, nameOf } from './parse/wrappers.ts'

/** The words that make a program type, run or leave something in another terminal. */
const typing: Readonly<Record<string, RegExp>> = {
  tmux: /^(send(-keys?|-prefix)?|paste-?b(uffer)?|pasteb|pipe-?p(ane)?|pipep|set-hook|bind(-key)?|if(-shell)?|source(-file)?|run(-shell)?|respawn-?[pw](ane|indow)?|respawn[pw]|confirm(-before)?|command-prompt|set(-option)?|setw)$/,
  screen: /^-[a-zA-Z]*X$/,
  zellij: /^(action|run|write|write-chars)$/,
  kitty: /^@/,
  kitten: /^@/,
  wezterm: /^cli$/,
  xdotool: /^(key|type|keydown|windowactivate)$/,
  ydotool: /^(key|type)$/,
  wtype: /^/,
  writevt: /^/,
  reptyr: /^/,
  dtach: /^-[apAc]$/,
  osascript: /^/,
}

export const typesIntoTerminal = (command: ShellCommand): boolean => formsOf(command).some(types)

const typingOf = byName((name) => (Object.hasOwn(typing, name) ? typing[name] : undefined))

function types(form: readonly ShellWord[]): boolean {
  const words = typingOf(nameOf(form))
  return words !== undefined && form.slice(1).some(({ value }) => words.test(value)) && !isOwnServer(form)
}

/** A tmux of its own, by another name than the operator's. */
function isOwnServer(form: readonly ShellWord[]): boolean {
  const at = form.findIndex(({ value }) => value === '-L')
  const name = form[at + 1]
  return nameOf(form) === 'tmux' && (at === 1 || at === 2) && name?.literal === true && name.value !== 'default'
}

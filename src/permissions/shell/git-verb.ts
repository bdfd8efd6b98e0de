/** Where git's own options end and its verb stands: `git -C dir --no-pager log`. */
import type { ShellWord } from './parse/command.ts'

/** git's options whose value is the next word. */
const takesNext = /^(-[cC]|--(git-dir|work-tree|namespace|config-env|attr-source|super-prefix))$/

/** The index of the verb among the words behind `git`, or their number. */
export function gitVerbAt(args: readonly ShellWord[]): number {
  let at = 0
  while (at < args.length && args[at]!.value.startsWith('-')) at += takesNext.test(args[at]!.value) ? 2 : 1
  return Math.min(at, args.length)
}

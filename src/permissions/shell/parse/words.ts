/** A word of the syntax tree as the rules see it: without its quotes, and with holes for what only the run can tell. */
import type { CommandArgument, SyntaxNode, Word } from 'unbash'
import { HOLE } from '../../wildcard.ts'
import { HOME, PWD, type ShellWord, shellWordOf } from './command.ts'

const needsNoQuotes = /^[\w./:=@%+,~^-]+$/

export function shellWord(word: CommandArgument): ShellWord {
  if (word.type === 'Assignment') {
    // `export X=$y`: an argument in the form of an assignment
    const inner = word.value.type === 'Word' ? shellWord(word.value) : undefined
    const value = inner ? `${word.name}${word.append ? '+' : ''}=${inner.value}` : `${word.name}=${HOLE}`
    const literal = inner?.literal === true && word.index === undefined
    return shellWordOf(value, word.text, inner?.path ?? HOLE, literal, false)
  }
  const { parts, text } = word
  if (parts === undefined) {
    const { value } = word
    const plain = value === text || needsNoQuotes.test(value)
    return shellWordOf(value, plain ? value : text, atHome(word, value), true, false)
  }
  const state = { literal: true, glob: false }
  const value = decode(parts, state, false)
  const { literal, glob } = state
  const path = literal ? value : decode(parts, state, true)
  return shellWordOf(value, literal && needsNoQuotes.test(value) ? value : text, atHome(word, path), literal, glob)
}

/** What a tilde at the start stands for; another name is someone else's home. */
const tildes: Readonly<Record<string, string>> = { '~': HOME, '~+': PWD }

function atHome({ text }: Word, path: string): string {
  if (!text.startsWith('~')) return path
  const tilde = /^~[^/]*(?=\/|$)/.exec(text)?.[0]
  return tilde && path.startsWith(tilde) ? (tildes[tilde] ?? HOLE) + path.slice(tilde.length) : path
}

interface Decoded {
  literal: boolean
  glob: boolean
}

function decode(parts: readonly SyntaxNode[], state: Decoded, asPath: boolean): string {
  let text = ''
  for (const part of parts) text += decodePart(part, state, asPath)
  return text
}

function decodePart(part: SyntaxNode, state: Decoded, asPath: boolean): string {
  if (part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted') return part.value
  if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') return decode(part.parts, state, asPath)
  state.literal = false
  if (part.type === 'Glob' || (part.type === 'BraceExpansion' && /^[\w./,*?{}@:+-]+$/.test(part.text))) {
    state.glob = true
    return asPath ? part.text : HOLE
  }
  if (asPath && part.type === 'ProcessSubstitution') return '/dev/fd/63' // what is in it is judged as commands
  if (asPath && (part.type === 'SimpleExpansion' || part.type === 'ParameterExpansion')) {
    if (/^\$\{?HOME\}?$/.test(part.text)) return HOME
    if (/^\$\{?PWD\}?$/.test(part.text)) return PWD
  }
  return HOLE
}

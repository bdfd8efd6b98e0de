/** The paths that stand inside the words of a command: behind an option, a mark or a name. */
import { HOLE } from '../../wildcard.ts'
import type { ShellWord } from '../parse/command.ts'

/** The paths in `--file=x`, `if=x`, `@x`, `HEAD:x`, `name=@x;type=text/plain`, `./x:/mnt:ro` or `type=bind,src=x`. */
export function pathsIn(word: ShellWord): ShellWord[] {
  const paths = new Set<string>()
  for (let rest: string | undefined = word.path; rest !== undefined; ) {
    rest = /^(?:-{0,2}[\w-]+=|[@<]|[^/]*:)(.+)/s.exec(rest)?.[1]
    if (rest !== undefined) paths.add(rest.replace(/^\/\/(?=\/)/, ''))
  }
  if (!/\s/.test(word.path))
    for (const part of word.path.split(delimiters)) if (part !== '' && part !== word.path) paths.add(part)
  return Array.from(paths, (path) => ({ ...word, path }))
}

export const mayHoldPath = /[=@:]/
const delimiters = /[=@:,;<]/

/** `-ofile`. */
export function joinedPath(word: ShellWord): ShellWord | undefined {
  const path = word.path.startsWith('-') ? /^-[A-Za-z]([^=]+)$/s.exec(word.path)?.[1] : undefined
  return path === undefined || path.includes(HOLE) ? undefined : { ...word, path }
}

/** The values of an option, as the next word or joined to it. */
export function valuesOf(args: readonly ShellWord[], alone: RegExp, joined?: RegExp): ShellWord[] {
  return args.flatMap((word, at) => {
    if (alone.test(word.value)) return args[at + 1] ?? []
    return joined?.test(word.value) ? [{ ...word, path: word.path.slice(word.path.indexOf('=') + 1) }] : []
  })
}

/** `cp -t. x`. */
export function joinedTarget(word: ShellWord): ShellWord[] {
  const path = /^-[a-su-zA-Z]*t(.+)/s.exec(word.path)?.[1]
  return path === undefined ? [] : [{ ...word, path }]
}

/** The folders of the host that a container is given: `-v .:/x`, `--volume=./a:/x:ro`, `--mount type=bind,src=.,dst=/x`, `--build-context a=.`. */
export function mounts(args: readonly ShellWord[]): { readonly word: ShellWord; readonly isReadOnly: boolean }[] {
  const values = [
    ...valuesOf(args, /^(-[a-zA-Z]*v|--volume|--mount)$/, /^--(volume|mount)=/),
    ...args.flatMap((word) => (/^-v[^-]/.test(word.path) ? { ...word, path: word.path.slice(2) } : [])),
  ]
  // `NAME=FOLDER`: a build is given a copy
  const contexts = valuesOf(args, /^--build-context$/, /^--build-context=/).map((word) => ({
    word: { ...word, path: word.path.slice(word.path.indexOf('=') + 1) },
    isReadOnly: true,
  }))
  const mounted = values.map((word) => {
    const path = /(?:^|,)(?:src|source)=([^,]*)/.exec(word.path)?.[1] ?? word.path.replace(/:.*/s, '')
    return { word: { ...word, path }, isReadOnly: word.literal && /[:,](ro|readonly)(=true)?(,|$)/.test(word.path) }
  })
  return [...mounted, ...contexts]
}

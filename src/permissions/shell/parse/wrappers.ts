/** Commands that run other commands: which they run, so that a rule holds for these too. */

import { HOLE } from '../../wildcard.ts'
import { byName } from './by-name.ts'
import { plainWord, type ShellCommand, type ShellWord } from './command.ts'

export interface Wrapper {
  /** Options whose value is the next word. */
  readonly takes?: readonly string[]
  /** Words of its own before the command it runs. */
  readonly own?: number
  /** `NAME=value` words may stand before the command. */
  readonly variables?: true
  /** Adds nothing a rule would mind: an allow rule for the inner command is enough, with these options at most. */
  readonly clear?: RegExp
  /** The option whose value is a script. */
  readonly script?: readonly string[]
  /** Wraps a command only after one of these words: `npm exec`. */
  readonly verbs?: readonly string[]
  /** Joins its words and hands them to a shell. */
  readonly joins?: true
}

const wrappers: Record<string, Wrapper> = {
  timeout: { takes: ['-k', '--kill-after', '-s', '--signal'], own: 1, clear: /./ },
  time: { takes: ['-f', '--format', '-o', '--output'], clear: /^-[pv]+$/ },
  nice: { takes: ['-n', '--adjustment'], clear: /./ },
  nohup: { clear: /./ },
  stdbuf: { takes: ['-i', '-o', '-e', '--input', '--output', '--error'], clear: /./ },
  command: { clear: /^-p$/ },
  builtin: { clear: /./ },
  noglob: { clear: /./ },
  xargs: {
    takes: ['-a', '-d', '-E', '-I', '-L', '-n', '-P', '-s', '--arg-file', '--delimiter', '--max-args', '--max-procs'],
    clear: /(?!)/,
  },
  env: { takes: ['-u', '--unset', '-C', '--chdir'], variables: true, script: ['-S', '--split-string'] },
  sudo: { takes: ['-u', '-g', '-h', '-p', '-C', '-r', '-t', '-T', '-U', '-D', '-R'], variables: true },
  doas: { takes: ['-u', '-C'] },
  su: { takes: ['-s', '-g', '-G'], own: 1, script: ['-c', '--command'] },
  setsid: {},
  ionice: { takes: ['-c', '-n', '--class', '--classdata'] },
  flock: { takes: ['-w', '-E', '--timeout', '--conflict-exit-code'], own: 1, script: ['-c', '--command'] },
  watch: { takes: ['-n', '--interval', '-q', '--equexit'], joins: true },
  exec: { takes: ['-a'] },
  chroot: { own: 1 },
  taskset: { own: 1 },
  chrt: { own: 1 },
  strace: { takes: ['-o', '-e', '-p', '-s', '-E', '-u'] },
  ltrace: { takes: ['-o', '-e', '-p', '-s', '-u'] },
  unshare: {},
  nsenter: { takes: ['-t', '--target'] },
  'systemd-run': { takes: ['-p', '-u', '-E', '--unit', '--property', '--setenv'] },
  busybox: {},
  toybox: {},
  setpriv: {},
  runcon: { own: 1 },
  torify: {},
  torsocks: {},
  proxychains4: {},
  'dbus-run-session': {},
  'xvfb-run': {},
  bwrap: {},
  firejail: {},
  fakeroot: {},
  unbuffer: {},
  rlwrap: {},
  caffeinate: {},
  script: { own: 1, script: ['-c', '--command'] },
  setarch: {},
  linux32: {},
  linux64: {},
  i386: {},
  x86_64: {},
  prlimit: {},
  choom: { takes: ['-n', '--adjust'] },
  sg: { own: 1, script: ['-c'] },
  pkexec: { takes: ['--user'] },
  gosu: { own: 1 },
  'su-exec': { own: 1 },
  tini: {},
  'dumb-init': {},
  cpulimit: { takes: ['-l', '-e', '-p'] },
  numactl: {},
  valgrind: {},
  perf: { verbs: ['stat', 'record', 'trace'] },
  hyperfine: { joins: true },
  entr: {},
  chronic: {},
  ifne: {},
  'systemd-inhibit': {},
  'start-stop-daemon': { takes: ['-x', '--exec', '-a', '--startas'] },
  tmux: { verbs: ['new', 'new-session', 'new-window', 'neww', 'split-window', 'run-shell', 'run', 'respawn-pane'] },
  screen: {},
  xterm: {},
  sshpass: { takes: ['-p', '-f', '-d', '-P'] },
  capsh: {},
  ip: { verbs: ['netns'], own: 2 },
  npx: { takes: ['-p', '--package'], script: ['-c', '--call'] },
  bunx: {},
  uvx: {},
  npm: { verbs: ['exec', 'x', 'explore'], script: ['-c', '--call'] },
  pnpm: { verbs: ['exec', 'dlx'], script: ['-c', '--shell-mode'] },
  yarn: { verbs: ['exec', 'dlx', 'run'] },
  bun: { verbs: ['x', 'run'] },
  lima: {},
  arch: {},
  uv: { verbs: ['run'] },
  poetry: { verbs: ['run'] },
  bundle: { verbs: ['exec'] },
  runuser: { takes: ['-u', '-g', '-s'], script: ['-c', '--command'] },
}

export const wrapperOf = byName((name): Wrapper | undefined =>
  Object.hasOwn(wrappers, name) ? wrappers[name] : undefined,
)

export const shells = ['sh', 'bash', 'dash', 'zsh', 'ksh', 'mksh', 'ash', 'fish', 'rbash', 'busybox-sh']
export const runsLater = [
  'alias',
  'bind',
  'complete',
  'compgen',
  'enable',
  'fc',
  'hash',
  'parallel',
  'at',
  'batch',
  'crontab',
]

export const nameOf = (words: readonly ShellWord[]): string => programIn(words[0]?.value ?? '')

/** `rm` of `/bin/rm`. */
export function programIn(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash < 0 ? path : path.slice(slash + 1)
}

export const mostForms = 32

/** The forms of a command, worked out once. */
export function formsOf(command: ShellCommand): readonly (readonly ShellWord[])[] {
  command.known.forms ??= forms(command.words)
  return command.known.forms
}

/** The command as written and every command it wraps. */
function forms(words: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const all = [words]
  for (const form of all) {
    const name = nameOf(form)
    if (name === 'hub' || name.startsWith('git')) all.push(...asGit(name, form))
    if (all.length > mostForms) continue
    const inner = unwrap(form)
    if (inner && inner.length > 0) {
      if (name !== 'xargs') all.push(inner)
      else all.push([...inner, unknownWords], ...replaced(form, inner))
    } else if (inner && form.at(-1) === unknownWords && !wrapperOf(name)?.verbs) all.push([unknownWords]) // `xargs timeout`
    if (finds(name)) all.push(...executed(form))
  }
  return all
}

/** `git-push x`, `hub push x` and git's other commands that push, as `git push x`. */
function asGit(name: string, form: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const git = plainWord('git')
  if (name === 'hub') return [[git, ...form.slice(1)]]
  if (name.startsWith('git-')) return [[git, plainWord(name.slice(4)), ...form.slice(1)]]
  if (name !== 'git') return []
  const at = form.findIndex(({ value }) => pushes.test(value))
  if (at < 0) return []
  const verb = form[at]!.value
  const [next, ...rest] = form.slice(at + 1).filter(({ value }) => verb !== 'for-each-repo' || !value.startsWith('--'))
  if (verb === 'for-each-repo') return next ? [[git, next, ...rest]] : []
  const push = plainWord('push')
  if (/-/.test(verb)) return [[git, push, ...form.slice(at + 1)]]
  if (/^(svn dcommit|p4 submit)$/.test(`${verb} ${next?.value}`)) return [[git, push, ...rest]]
  return next?.value === 'push' ? [[git, push, ...rest]] : []
}
const pushes = /^(send-pack|http-push|subtree|lfs|svn|p4|for-each-repo)$/

const finds = (name: string): boolean => name === 'find' || name === 'fd' || name === 'fdfind'

/** `xargs -I% sh -c %`: what is replaced is unknown. */
function replaced(words: readonly ShellWord[], inner: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const own = words.slice(1, words.length - inner.length)
  const at = own.findIndex((word) => /^(-I|-i|--replace)/.test(word.value))
  if (at < 0) return []
  const joined = own[at]!.value.replace(/^(-I|-i|--replace=?)/, '')
  const mark = joined !== '' ? joined : own[at]!.value === '-I' ? (own[at + 1]?.value ?? '{}') : '{}'
  return [inner.map((word) => (word.value.includes(mark) ? unknownWord : word))]
}

/** The forms for which an allow rule is enough: through wrappers that change nothing. */
export function clearForms(words: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const all = [words]
  for (let form = words; ; ) {
    const wrapper = wrapperOf(nameOf(form))
    const inner = wrapper?.clear && form[0]!.value === nameOf(form) ? unwrap(form) : undefined
    if (!inner || inner.length === 0) return all
    const own = form.slice(1, form.length - inner.length)
    if (own.some((word) => !word.literal || !wrapper!.clear!.test(word.value))) return all
    form = inner
    all.push(form)
  }
}

/** Whether only a rule without wildcards may allow the command: it runs what its words say. */
export function needsExactRule(words: readonly ShellWord[]): boolean {
  const name = nameOf(words)
  if (finds(name)) {
    return words.some((word) => !word.literal || /^(-(exec|ok|delete|fprint|fls)|-[xX]$|--exec)/.test(word.value))
  }
  return runsItsWords(name)
}

const runsItsWords = byName(
  (name) =>
    wrapperOf(name)?.clear !== undefined || guarded.includes(name) || shells.includes(name) || runsLater.includes(name),
)

const guarded = ['env', 'xargs', 'eval', 'source', '.', 'exec', 'trap', 'watch', 'setsid', 'ionice', 'flock', 'chroot']

function unwrap(words: readonly ShellWord[]): readonly ShellWord[] | undefined {
  const name = nameOf(words)
  const wrapper = wrapperOf(name)
  if (!wrapper || !words[0]!.literal) return undefined
  if (name === 'command' && words[1] && /^-[vV]/.test(words[1].value)) return undefined
  return afterOptions(words, wrapper)
}

export function afterOptions(words: readonly ShellWord[], wrapper: Wrapper): readonly ShellWord[] {
  const { takes = [], own = 0, variables, verbs } = wrapper
  let at = 1
  if (verbs) {
    while (words[at]?.value.startsWith('-')) at++
    if (!verbs.includes(words[at++]?.value ?? '')) return []
  }
  for (; at < words.length; at++) {
    const value = words[at]!.value
    if (value === '--') {
      at++
      break
    }
    if (takes.includes(value)) at++
    else if (!value.startsWith('-') && !(variables && /^\w+=/.test(value))) break
  }
  return words.slice(at + own)
}

/** `find … -exec rm {} ;` runs `rm {}`, and so does `fd -xrm`. */
function executed(words: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const found: (readonly ShellWord[])[] = []
  for (const [at, word] of words.entries()) {
    const joined =
      nameOf(words) === 'find' ? undefined : /^(?:-[a-zA-Z]*?[xX]|--exec(?:-batch)?=)(.+)/s.exec(word.value)?.[1]
    const isAlone = /^(-(exec|execdir|ok|okdir)|-[xX]|--exec|--exec-batch)$/.test(word.value)
    if (!isAlone && joined === undefined) continue
    const rest = isAlone ? words.slice(at + 1) : [plainWord(joined!), ...words.slice(at + 1)]
    const end = rest.findIndex((each) => each.value === ';' || each.value === '+')
    const inner = end < 0 ? rest : rest.slice(0, end)
    if (inner.length > 0) found.push(inner.map((each) => (each.value.includes('{}') ? unknownWord : each)))
  }
  return found
}

export const unknownWord: ShellWord = { value: HOLE, text: HOLE, path: HOLE, literal: false, glob: false }
/** What xargs adds: as many as it reads. */
export const unknownWords: ShellWord = { ...unknownWord }

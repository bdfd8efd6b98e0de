import { hookProgram } from './program.ts'
import { bash, type Starter } from './starter.ts'

const script = String.raw`
// Denies git commit unless its subject is "type: text" or "type(scope): text".
const subject = /^[a-z]+(?:\([\w./-]+\))?!?: \S/
const unclear = 'write it as git commit -m "type: text", so that the message can be checked'

export default function check({ tool_input: { command = '' } = {} }) {
  const plain = command.replaceAll(/['"\\]/g, '')
  if (!/commit/.test(plain)) return /\$'|\beval\b/.test(command) ? unclear : undefined
  if (!/\bgit\b/.test(plain)) return
  const all = words(command)
  const places = all.flatMap((word, at) => (word === 'commit' && isGit(all, at) ? [at] : []))
  if (places.length === 0) return /\bgit\b[^;|&\n]*\bcommit\b/.test(plain) && !all.includes('commit') ? unclear : undefined
  for (const place of places) {
    const problem = checkCommit(untilEnd(all, place + 1))
    if (problem) return problem
  }
}

function checkCommit(options) {
  let message
  let isReused = false
  for (const [at, option] of options.entries()) {
    const found =
      /^(?:--message|-[A-Za-z]*m)$/.test(option) ? options[at + 1] : /^(?:--message=|-[A-Za-z]*?m)(?!essage)([^]+)/.exec(option)?.[1]
    if (option.startsWith('--') && !option.startsWith('--message')) {
      isReused ||= /^--(?:no-edit|fixup|squash|reuse-message|reedit-message)/.test(option)
      continue
    }
    isReused ||= /^-[cC]/.test(option)
    message ??= found
  }
  if (message === undefined) return isReused ? undefined : unclear
  const [first] = message.trimStart().split('\n', 1)
  if (/^[$\x60]|\$\(/.test(first)) return unclear
  if (!subject.test(first)) return 'write the subject as "type: text", such as: git commit -m "fix: handle an empty file"'
}

/** git, then only its own options, then the place. */
function isGit(all, place) {
  const from = all.slice(0, place).findLastIndex((word) => word === 'git' || word.endsWith('/git'))
  return from >= 0 && !all.slice(from, place).some((word) => ends.has(word))
}

const ends = new Set([';', '&', '|', '\n', '(', ')'])
const untilEnd = (all, from) => {
  const end = all.findIndex((word, at) => at >= from && ends.has(word))
  return all.slice(from, end < 0 ? undefined : end)
}

/** The words of a command line without their quotes; what ends a command is a word of its own. */
function words(line) {
  const texts = []
  // -m "$(cat <<'EOF' … EOF )": the text between is the message
  const text = line.replaceAll(/"\$\(cat <<-?\s*(['"]?)(\w+)\1\n([^]*?)\n\s*\2\s*\)"/g, (_, quote, end, body) => {
    texts.push(body)
    return '\0' + (texts.length - 1) + '\0'
  })
  const found = []
  let word
  const end = () => {
    if (word !== undefined) found.push(word.replaceAll(/\0(\d+)\0/g, (_, at) => texts[at]))
    word = undefined
  }
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]
    if (sign === "'" || sign === '"') {
      word ??= ''
      for (at++; at < text.length && text[at] !== sign; at++) {
        if (sign === '"' && text[at] === '\\' && at + 1 < text.length) at++
        word += text[at]
      }
    } else if (sign === '\\' && at + 1 < text.length) word = (word ?? '') + (text[++at] === '\n' ? '' : text[at])
    else if (ends.has(sign)) {
      end()
      found.push(sign)
    } else if (/\s/.test(sign)) end()
    else word = (word ?? '') + sign
  }
  end()
  return found
}
`

export const commitFormat: Starter = {
  id: 'commit-format',
  about: 'commit messages follow Conventional Commits',
  limits: 'Commits that a program makes by itself: a commit-msg hook of git, or a check in CI, sees every commit.',
  words: ['commit', 'message', 'format', 'conventional'],
  hook: { event: 'PreToolUse', matcher: 'Bash', if: 'Bash(git commit *)', script: hookProgram(script) },
  refuses: [
    ...['git commit -m "changed things"', 'git commit -am changed', 'git -C . commit --message="Changed things"'],
    ...['git commit', 'git commit -F message.txt', 'git add . && git  commit  -m "WIP"', 'git com""mit -m x'],
    ...['git commit -m "$(cat title.txt)"', `git commit -m "$(cat <<'EOF'\nChanged things\n\nfix: not here\nEOF\n)"`],
    ...['git commit -m "fix: a" && git commit -m more', 'sh -c "git commit -m changed"'],
  ].map(bash),
  allows: [
    ...['git commit --allow-empty -m "fix: handle an empty file" || true', 'git log --grep "commit -m" || true'],
    ...[`git commit -m "$(cat <<'EOF'\nfeat(import): read "quoted" text\n\nBody.\nEOF\n)" || true`],
    ...["git commit -qam 'feat!: drop it' -m 'more text' || true", 'git commit --amend --no-edit || true'],
  ].map(bash),
}

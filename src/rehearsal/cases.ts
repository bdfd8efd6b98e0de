/** Test cases from criteria that say plainly what can be seen: what a command prints or exits with, what a file holds. */
import type { Said } from './chat.ts'

/** Cases for the criteria of an exam that are of a known form; the others are named. */
export function casesFor(exam: string): { readonly said: Said; readonly passedOver: readonly string[] } {
  const criteria = [...exam.matchAll(/^- (C\d+): (.+)$/gm)].map(([, id, text]) => ({ id: id!, text: text! }))
  const passedOver: string[] = []
  const calls: { name: string; input: Record<string, unknown> }[] = []
  for (const { id, text } of criteria) {
    const check = forms.map((form) => form(text)).find((lines) => lines !== undefined)
    if (!check) passedOver.push(id)
    else
      calls.push({
        name: 'WriteTestCase',
        input: { name: nameOf(id, text), criterion: id, script: script(id, text, check) },
      })
  }
  return { said: { text: 'I write a case for each criterion whose form I know.', calls }, passedOver }
}

type Form = (criterion: string) => readonly string[] | undefined

const code = '`([^`]+)`'
const quoted = '(?:`([^`]+)`|"([^"]+)"|“([^”]+)”)'
const file = '(?:(?:the |a )?file )?`?([\\w./-]+\\.\\w+)`?'
const shell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

function form(pattern: string, check: (...parts: string[]) => readonly string[]): Form {
  const regex = new RegExp(`^${pattern}`, 'i')
  return (criterion) => {
    const found = regex.exec(criterion.trim())
    return found ? check(...found.slice(1).filter((part) => part !== undefined)) : undefined
  }
}

const forms: readonly Form[] = [
  form(`${code} (?:prints|says|shows|outputs) ${quoted}`, (command, text) => [
    `actual=$(${command} 2>&1) || true`,
    'echo "$actual"',
    `echo "$actual" | grep -qF -- ${shell(text!)}`,
  ]),
  form(`${code} (?:exits|ends|returns)(?: with)?(?: (?:exit )?code)? ([1-9]\\d*)`, (command, wanted) => [
    'code=0',
    `${command} || code=$?`,
    'echo "exit code $code"',
    `[ "$code" -eq ${wanted} ]`,
  ]),
  form(`${file} (?:contains|holds|says|names|has) ${quoted}`, (path, text) => [
    `cat ${shell(path!)} 2>/dev/null || true`,
    `grep -qF -- ${shell(text!)} ${shell(path!)}`,
  ]),
  form(`${file} (?:exists|is there|is made|is written)`, (path) => [
    `ls -l ${shell(path!)} || true`,
    `test -f ${shell(path!)}`,
  ]),
]

const script = (id: string, text: string, check: readonly string[]): string =>
  ['#!/usr/bin/env bash', `# ${id}: ${text}`, 'set -eu', 'cd "$PROJECT_DIR"', ...check, ''].join('\n')

const nameOf = (id: string, text: string): string =>
  `${id}-${text}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replace(/-+$/, '')

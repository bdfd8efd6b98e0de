/** What a role says to the model when a session starts: its briefs and skills, each under its name. */

import { join, matchesGlob, relative } from 'node:path'
import { readPlainFile } from '../../files/plain-file.ts'
import { Problem } from '../../files/problem.ts'
import { counted } from '../../hooks/text/counted.ts'
import { filesOf, type RoleFolder } from './linked-files.ts'

type Choice = { readonly say?: readonly string[]; readonly ref?: readonly string[] }
type Choices = { readonly briefs?: Choice; readonly skills?: Choice }

export async function bootText(root: string, role: RoleFolder, subjects: readonly string[]): Promise<string> {
  const choices = await readChoices(root, role, subjects)
  const parts: string[] = []
  let bytes = 0
  for (const [kind, tag] of [
    ['briefs', 'brief'],
    ['skills', 'skill'],
  ] as const) {
    for (const file of filesOf(root, join(role.folder, kind))) {
      const how = howSaid(relative(join(root, role.folder), join(root, file)), choices[kind])
      if (how === 'silent') continue
      const text = how === 'whole' ? readPlainFile(join(root, file)).trim() : ''
      bytes += Buffer.byteLength(text)
      parts.push(how === 'whole' ? `<${tag} path="${file}">\n${text}\n</${tag}>` : `<${tag} path="${file}" />`)
    }
  }
  const name = `repo="${role.repo}" name="${role.slug}"`
  const size = `${counted(parts.length, 'file')}, ${counted(bytes, 'byte')}, about ${Math.ceil(bytes / 4)} tokens`
  return [`<role ${name}>`, `<stats>${size}</stats>`, ...parts, '</role>', ''].join('\n')
}

/** With no choice for its kind a file is printed whole; otherwise as the first list that matches says. */
function howSaid(path: string, choice: Choice | undefined): 'whole' | 'named' | 'silent' {
  if (!choice) return 'whole'
  const matches = (globs: readonly string[] = []) =>
    globs.some((glob) => matchesGlob(path, glob) || matchesGlob(path, `*/${glob}`))
  if (matches(choice.say)) return 'whole'
  if (matches(choice.ref)) return 'named'
  return choice.say && choice.ref ? 'silent' : choice.say ? 'named' : 'whole'
}

/** boot.yml: `briefs` and `skills` with `say` and `ref`; or the same under `always` and under `subject.NAME`. */
async function readChoices(root: string, { folder }: RoleFolder, subjects: readonly string[]): Promise<Choices> {
  const file = join(folder, 'boot.yml')
  let text: string
  try {
    text = readPlainFile(join(root, file))
  } catch {
    return {} // no boot.yml: everything is printed whole
  }
  const { parse } = await import('yaml')
  let value: unknown
  try {
    value = parse(text, { logLevel: 'error' })
  } catch (thrown) {
    throw new Problem(`${file}: ${(thrown as Error).message.split('\n')[0]}`)
  }
  const given = (value ?? {}) as Record<string, Choices | undefined>
  const parts = [given as Choices, given['always'], ...subjects.map((subject) => given[`subject.${subject}`])]
  return { ...merged(parts, 'briefs'), ...merged(parts, 'skills') }
}

function merged(parts: readonly (Choices | undefined)[], kind: 'briefs' | 'skills'): Choices {
  const chosen = parts.flatMap((part) => (part?.[kind] ? [part[kind]] : []))
  if (chosen.length === 0) return {}
  const all = (key: 'say' | 'ref') => {
    const lists = chosen.flatMap((choice) => (choice[key] ? [[choice[key]].flat()] : []))
    return lists.length > 0 ? { [key]: lists.flat() } : {}
  }
  return { [kind]: { ...all('say'), ...all('ref') } }
}

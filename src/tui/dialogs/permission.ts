/** May this call run? Once, always by a rule that is shown word for word, or no, with a reason for the model. */
import { isAbsolute, resolve } from 'node:path'
import type { PermissionAnswer, PermissionRequest } from '../../agent/events.ts'
import { readPlainFile } from '../../files/plain-file.ts'
import type { PermissionUpdate } from '../../hooks/plane.ts'
import type { JsonObject } from '../../hooks/shape.ts'
import { readRule } from '../../permissions/rules/rule.ts'
import { clean, cleanLine } from '../render/clean.ts'
import { diffLines, loadDiffColours } from '../render/diff-view.ts'
import { bold, paint } from '../render/style.ts'
import { clip } from '../render/width.ts'
import type { Choice, Front } from '../session/front.ts'

type Picked = { kind: 'once' } | { kind: 'always'; update: PermissionUpdate } | { kind: 'no' }

export async function askPermission(
  front: Front,
  request: PermissionRequest,
  cwd: string,
  signal: AbortSignal,
): Promise<PermissionAnswer | undefined> {
  const { title, question, body } = await picture(request, cwd, front.columns - 2)
  const choices: Choice<Picked>[] = [
    { label: 'Yes', value: { kind: 'once' }, key: 'y' },
    ...request.suggestions
      .flatMap((update) => [update, forSession(update)].flatMap((each) => each ?? []))
      .map(
        (update): Choice<Picked> => ({
          label: sayUpdate(update),
          value: { kind: 'always', update },
          hint: places[update.destination],
          ...editable(update),
        }),
      ),
    {
      label: 'No, and say what to do instead',
      value: { kind: 'no' },
      key: 'n',
      text: 'optional; enter alone stops the turn',
    },
  ]
  const chosen = await front.choose<Picked>(
    {
      title: `${title}${askedBy(request)}`,
      body: [...body, ...(request.reason ? ['', paint('dim', cleanLine(request.reason))] : [])],
      question,
      choices,
      escape: 'say no',
    },
    signal,
  )
  if (!chosen) return signal.aborted || !front.interactive ? undefined : { allow: false, interrupt: true }
  if (chosen.value.kind === 'once') return { allow: true }
  if (chosen.value.kind === 'always') {
    const update = edited(chosen.value.update, chosen.text)
    if (update) return { allow: true, updates: [update] }
    front.notice('error', `${chosen.text}: not a valid rule; the call runs once and nothing is saved`)
    return { allow: true }
  }
  const feedback = chosen.text?.trim()
  return feedback ? { allow: false, feedback } : { allow: false, interrupt: true }
}

/** Two agents of one type are told apart by what they were started for. */
function askedBy({ agent, agentTask }: PermissionRequest): string {
  const who = cleanLine(agentTask || agent || '')
  return who ? ` (asked by the agent "${clip(who, longestTask)}")` : ''
}

const longestTask = 48

/** A rule that would be saved can also last for the session alone. */
function forSession(update: PermissionUpdate): PermissionUpdate | undefined {
  return update.type === 'addRules' && update.destination === 'localSettings'
    ? { ...update, destination: 'session' }
    : undefined
}

/** One rule can be changed before it is saved. */
function editable(update: PermissionUpdate): { edit?: string } {
  return update.type === 'addRules' && update.rules.length === 1 ? { edit: sayRule(update.rules[0]!) } : {}
}

/** The update with the rule as the user left it; undefined where that is no rule. */
function edited(update: PermissionUpdate, text: string | undefined): PermissionUpdate | undefined {
  const rule = text?.trim()
  if (!rule || update.type !== 'addRules' || rule === sayRule(update.rules[0]!)) return update
  if (!readRule(rule, update.behavior).ok) return undefined
  const [, toolName = rule, ruleContent] = /^([^(]+)(?:\((.*)\))?$/s.exec(rule) ?? []
  return { ...update, rules: [{ toolName, ...(ruleContent !== undefined && { ruleContent }) }] }
}

/** Where a rule would be kept. */
export const places: Record<PermissionUpdate['destination'], string> = {
  userSettings: 'saved in ~/.ona/settings.json',
  projectSettings: 'saved in .ona/settings.json',
  localSettings: 'saved in .ona/settings.local.json',
  session: 'until this session ends',
  cliArg: 'until this session ends',
}

const sayRule = ({ toolName, ruleContent }: { toolName: string; ruleContent?: string }): string =>
  ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`

export function sayUpdate(update: PermissionUpdate): string {
  if (update.type === 'setMode')
    return update.mode === 'acceptEdits'
      ? 'Yes, and accept edits without asking'
      : `Yes, and turn the mode to ${update.mode}`
  if ('directories' in update) {
    const folders = update.directories.map(cleanLine).join(', ')
    return update.type === 'addDirectories' ? `Yes, and work in ${folders} too` : `Yes, and leave ${folders}`
  }
  const rules = update.rules.map((rule) => cleanLine(sayRule(rule))).join(', ')
  if (update.type === 'addRules' && update.behavior === 'allow')
    return update.destination === 'session' ? `Yes, and allow ${rules}` : `Yes, and always allow ${rules}`
  const verbs = { addRules: 'add', replaceRules: 'set', removeRules: 'remove' } as const
  return `Yes, and ${verbs[update.type]} the ${update.behavior} rule ${rules}`
}

interface Picture {
  readonly title: string
  readonly question: string
  readonly body: readonly string[]
}

async function picture({ tool, input, summary }: PermissionRequest, cwd: string, columns: number): Promise<Picture> {
  const text = (key: string) => (typeof input[key] === 'string' ? (input[key] as string) : '')
  const given = text('file_path') || text('notebook_path')
  const path = given.startsWith(`${cwd}/`) ? given.slice(cwd.length + 1) : given
  const pictures: Record<string, () => Promise<Picture> | Picture> = {
    Bash: () => ({
      title: 'Bash command',
      question: 'Do you want to run it?',
      body: [
        ...clean(text('command')).split('\n').map(bold),
        ...(text('description') ? [paint('dim', `the agent says: ${cleanLine(text('description'))}`)] : []),
      ],
    }),
    Edit: async () => ({
      title: `Edit ${cleanLine(path)}`,
      question: `Do you want to make this edit to ${cleanLine(path)}?`,
      body: await editBody(input, path, cwd, columns),
    }),
    Write: () => writePicture(path, text('content'), cwd, columns),
    Read: () => ({ title: 'Read a file', question: 'Do you want to let it be read?', body: [bold(cleanLine(path))] }),
    Network: () => ({
      title: 'Network access',
      question: `Do you want to let the sandboxed command reach ${cleanLine(text('host'))}?`,
      body: [bold(cleanLine(text('host')))],
    }),
    WebFetch: () => ({
      title: 'Fetch from the web',
      question: 'Do you want to fetch it?',
      body: [bold(cleanLine(text('url'))), paint('dim', cleanLine(text('prompt')))],
    }),
    Agent: (prompt = clean(text('prompt')).trimEnd()) => ({
      title: `Start a sub-agent${text('subagent_type') ? `: ${cleanLine(text('subagent_type'))}` : ''}`,
      question: 'Do you want to start it?',
      body: [...(summary === prompt ? [] : [bold(cleanLine(summary)), '']), ...prompt.split('\n')],
    }),
    WebSearch: () => ({
      title: 'Search the web',
      question: 'Do you want to search?',
      body: [bold(cleanLine(text('query')))],
    }),
  }
  const special = pictures[tool]
  if (special) return special()
  const all = clean(JSON.stringify(input, null, 2)).split('\n')
  return {
    title: `Use ${cleanLine(tool)}`,
    question: 'Do you want to proceed?',
    body: [bold(cleanLine(summary)), ...all],
  }
}

/** The lines that would change, with those round them; only the words where the file does not have them. */
async function editBody(input: JsonObject, path: string, cwd: string, columns: number): Promise<string[]> {
  const [before, after] = [String(input['old_string'] ?? ''), String(input['new_string'] ?? '')]
  const file = current(path, cwd)
  const everywhere = input['replace_all'] ? [paint('warn', 'everywhere in the file')] : []
  if (before !== '' && file?.includes(before)) {
    const edited = everywhere.length > 0 ? file.replaceAll(before, () => after) : file.replace(before, () => after)
    return [...(await changes(path, file, edited, columns)), ...everywhere]
  }
  const signed = (text: string, sign: string) =>
    text === ''
      ? []
      : text
          .replace(/\n$/, '')
          .split('\n')
          .map((one) => sign + one)
  const patch = ['@@ -1 +1 @@', ...signed(before, '-'), ...signed(after, '+')].join('\n')
  return [...diffLines(patch, { path, columns }), ...everywhere]
}

async function changes(path: string, before: string, after: string, columns: number): Promise<string[]> {
  const { createTwoFilesPatch } = await import('diff')
  await loadDiffColours()
  return diffLines(createTwoFilesPatch(path, path, before, after, '', '', { context: 3 }), { path, columns })
}

async function writePicture(path: string, content: string, cwd: string, columns: number): Promise<Picture> {
  const name = cleanLine(path)
  const before = current(path, cwd)
  if (before === undefined) {
    const body = clean(content)
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => paint('added', line))
    return { title: `Create ${name}`, question: `Do you want to create ${name}?`, body }
  }
  const body = await changes(path, before, content, columns)
  return { title: `Overwrite ${name}`, question: `Do you want to overwrite ${name}?`, body }
}

function current(path: string, cwd: string): string | undefined {
  try {
    return readPlainFile(isAbsolute(path) ? path : resolve(cwd, path))
  } catch {
    return undefined // not there, or not ours to read: shown as new
  }
}

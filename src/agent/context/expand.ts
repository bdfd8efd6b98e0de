/**
 * What was typed, made into what is said: `/skill arguments` becomes the skill's text, `@file` brings the file along,
 * `@agent-name` asks for that agent.
 */
import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { statOf } from '../../files/plain-file.ts'
import { textBlock } from '../../hooks/step/blocks.ts'
import type { Block } from '../../hooks/steps.ts'
import { decide } from '../../permissions/decide.ts'
import { questionOf } from '../permission-question.ts'
import type { Session } from '../session/session.ts'
import { toolContext } from '../tool-host.ts'
import { attached } from './attached-content.ts'
import { loadSkill } from './skills.ts'

export type Expanded = { readonly ok: true; readonly blocks: Block[] } | { readonly ok: false; readonly why: string }

export async function expandPrompt(session: Session, prompt: string): Promise<Expanded> {
  const command = /^\/([\w:-]+)(?:\s+([\s\S]*))?$/.exec(prompt.trim())
  if (!command) return { ok: true, blocks: [textBlock(prompt), ...(await mentions(session, prompt))] }
  const [, name = '', args = ''] = command
  const known = session.runtime.skills.list().some((skill) => skill.name === name && skill.forUser !== false)
  if (!known) return { ok: false, why: `Unknown command: /${name}` }
  session.ready()
  const loaded = await loadSkill(session, name, args)
  if (!loaded.ok) return loaded
  return { ok: true, blocks: [textBlock(`/${name}${args && ` ${args}`}`), attached(loaded.text)] }
}

/** Files named with @, as Read would show them, where the rules allow reading them. */
async function mentions(session: Session, prompt: string): Promise<Block[]> {
  const named = [...prompt.matchAll(/(?:^|\s)@("([^"]+)"|[^\s"]+)/g)].map((match) => match[2] ?? match[1]!)
  const blocks: Block[] = []
  for (const name of new Set(named)) {
    const agent = session.runtime.agents.find((kind) => name === `agent-${kind.name}`)
    if (agent) {
      const how = `call Agent with subagent_type "${agent.name}"`
      blocks.push(attached(`The user wants the agent ${agent.name} for this: ${how}.`))
      continue
    }
    const at = name.startsWith('~/') ? join(session.runtime.home, name.slice(2)) : resolve(session.cwd, name)
    const path = existsSync(at) ? at : at.replace(/[.,;:!?)]+$/, '')
    if (!statOf(path)?.isFile()) continue
    const shown = await readFor(session, path)
    if (!shown) continue
    session.emit({ type: 'notice', level: shown.denied ? 'warning' : 'info', text: shown.note })
    blocks.push(shown.block)
  }
  return blocks
}

interface Mention {
  readonly block: Block
  /** What the user sees of it. */
  readonly note: string
  readonly denied: boolean
}

async function readFor(session: Session, path: string): Promise<Mention | undefined> {
  const read = session.tool('Read')
  if (!read) return undefined
  const ruling = await decide({
    ...questionOf(session),
    tool: 'Read',
    input: { file_path: path },
    hook: 'none',
  })
  if (ruling.decision === 'deny') {
    const note = `@${path} is left out: ${ruling.reason}`
    return { block: attached(note), note, denied: true }
  }
  const { content, isError, display } = await read.run({ file_path: path }, toolContext(session, 'mention'))
  if (isError) {
    const note = `@${path} is left out: ${content.split('\n')[0]}`
    return { block: attached(note), note, denied: true }
  }
  const name = relative(session.cwd, path)
  const what = display?.kind === 'text' && display.summary ? ` (${display.summary.replace(/^Read /, '')})` : ''
  const note = `attached ${name.startsWith('..') ? path : name}${what}`
  return { block: attached(`The file ${path}:\n${content}`), note, denied: false }
}

import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { writeAtomic } from '../../../files/atomic-write.ts'
import { cleanLine } from '../../render/clean.ts'
import { bold, paint } from '../../render/style.ts'
import type { Ui } from '../../session/command-context.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  const [verb, name] = args.split(/\s+/)
  if (verb === 'new' && name) return create(name, ui)
  for (const { name: one, description, source, tools } of ui.session.runtime.agents)
    ui.front.print(
      `${bold(one)} ${paint('dim', `(${source}${tools ? `; ${tools.join(', ')}` : ''})`)}`,
      `  ${cleanLine(description)}`,
    )
  ui.front.print(paint('dim', '/agents new NAME makes one; ask for one by name, or write @agent-NAME'))
}

async function create(name: string, ui: Ui): Promise<void> {
  if (!/^[a-z][a-z0-9-]*$/.test(name))
    return ui.front.notice('error', `a name has small letters, digits and hyphens: "${name}"`)
  const folder = join(ui.session.projectDir, '.ona', 'agents')
  const file = join(folder, `${name}.md`)
  if (existsSync(file)) return ui.front.notice('error', `${file} is there already`)
  mkdirSync(folder, { recursive: true })
  writeAtomic(
    file,
    `---\nname: ${name}\ndescription: When to use this agent, in one sentence\ntools: Read, Glob, Grep\n---\n\nWhat it does, what it must not do, and what its last message must hold.\n`,
  )
  ui.front.notice('info', `Made ${file}; it is known from the next start of ona on`)
  if (ui.front.interactive) await ui.front.edit(file)
}

import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { instructionFiles, instructionsText } from '../../../agent/context/instructions.ts'
import { writeAtomic } from '../../../files/atomic-write.ts'
import { deleteMemory, getMemory, listMemories, type Memory, searchMemories } from '../../../store/memories.ts'
import { cleanLine } from '../../render/clean.ts'
import { paint } from '../../render/style.ts'
import { clip } from '../../render/width.ts'
import type { Ui } from '../../session/command-context.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  const { session, front } = ui
  const { db, projectDir } = session
  const [verb, ...words] = args.split(/\s+/)
  if (verb === 'forget') return forget(words.join(' '), ui)
  const found = args
    ? searchMemories(db, args.replace(/^search /, ''), { project: projectDir })
    : listMemories(db, { project: projectDir, limit: 30 })
  await instructionsText(session)
  const files = [
    ...new Set([
      ...instructionFiles(session).map(({ file_path }) => file_path),
      join(session.runtime.home, '.ona', 'ONA.md'),
      join(projectDir, 'ONA.md'),
    ]),
  ]
  if (!front.interactive || args) {
    if (!args) for (const file of files) front.print(`file    ${file}${existsSync(file) ? '' : ' (not there)'}`)
    for (const memory of found) front.print(`memory  ${memory.id}  ${say(memory)}`)
    if (found.length === 0) front.print(args ? `No memory fits "${args}".` : 'No memories yet: # TEXT keeps one.')
    return
  }
  type Pick = { file: string } | { memory: Memory }
  const chosen = await front.choose<Pick>({
    title: 'Instructions and memories',
    filter: true,
    choices: [
      ...files.map((file) => ({ label: file, value: { file } as Pick, hint: existsSync(file) ? 'edit' : 'create' })),
      ...found.map((memory) => ({ label: say(memory), value: { memory } as Pick, hint: 'memory' })),
    ],
  })
  if (!chosen) return
  if ('memory' in chosen.value) return look(chosen.value.memory, ui)
  const { file } = chosen.value
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true })
    writeAtomic(file, '')
  }
  if (await front.edit(file)) front.notice('info', `${file} is read again in the next session (/clear)`)
}

const say = ({ title, type }: Memory) => `${clip(cleanLine(title), 80)} (${type})`

async function look(memory: Memory, ui: Ui): Promise<void> {
  const chosen = await ui.front.choose({
    title: cleanLine(memory.title),
    body: [
      ...(memory.content ?? '').split('\n'),
      '',
      paint('dim', `${memory.id}, ${memory.projectScope ?? 'all projects'}`),
    ],
    choices: [
      { label: 'Keep it', value: false, key: 'n' },
      { label: 'Forget it', value: true, key: 'y' },
    ],
  })
  if (chosen?.value) await forget(memory.id, ui)
}

async function forget(id: string, { session, front }: Ui): Promise<void> {
  const memory = getMemory(session.db, id)
  if (!memory) return front.notice('error', `there is no memory ${id}; /memory lists them`)
  deleteMemory(session.db, id)
  front.notice('info', `Forgotten: ${say(memory)}`)
}

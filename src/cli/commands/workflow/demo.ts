/** `ona demo`: one whole cycle from plan to sign-off, in a folder of its own, offline; the model is rehearsed, the rest is real. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentEvent, User } from '../../../agent/events.ts'
import { startSession } from '../../../agent/session/start.ts'
import { runTurn } from '../../../agent/turn.ts'
import { enterTest, movePhase, testAgain, verifyReport } from '../../../agent/workflow/workflow.ts'
import { textBlock } from '../../../hooks/step/blocks.ts'
import { counted } from '../../../hooks/text/counted.ts'
import { startRehearsal } from '../../../rehearsal/server.ts'
import { reportText } from '../../../workflow/report.ts'
import { command } from '../../command.ts'
import { demoPlayer } from '../../demo-script.ts'
import { nobody } from '../../headless/deny-all.ts'
import { failed, inColour, paint, said } from '../../print.ts'

const help = `A whole cycle in a temporary project, offline: plan, approval, implementation, tests written
without sight of the code, a failing test that holds the gate, the fix, the report, sign-off.

  ona demo           press Enter to go from scene to scene
  ona demo --yes     without stopping
  ona demo --keep    leave the project and its database for a look
`

export const run = command('ona demo', { help, flags: { yes: 'flag', keep: 'flag' } }, async ({ yes, keep }) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ona-demo-')))
  const stage = createStage(process.stdin.isTTY === true && !yes)
  try {
    return await play(folder, stage)
  } finally {
    stage.close()
    if (keep) said(`\nThe project is in ${join(folder, 'project')}, its database ${join(folder, 'agent.db')}`)
    else rmSync(folder, { recursive: true, force: true })
  }
})

async function play(folder: string, stage: Stage): Promise<number> {
  const projectDir = join(folder, 'project')
  mkdirSync(projectDir)
  stage.say(
    'One cycle of ona, in a folder of its own. The model is the rehearsal model: it is not a language model, it plays a script. Tools, hooks, rules, phases, tests and the database are the real ones.',
  )

  const user: User = {
    ...nobody,
    permission: async () => ({ allow: true }),
    approvePlan: async (plan) => {
      stage.quote(plan)
      await stage.next('Approve the plan')
      return { approve: true, plan, acceptEdits: true }
    },
  }
  const started = await startSession({
    cwd: projectDir,
    env: { PATH: process.env['PATH'], HOME: folder, AGENT_SDLC_DB: join(folder, 'agent.db') },
    user,
    on: (event) => stage.show(event),
    model: 'rehearsal',
    startRehearsal: () => startRehearsal({ player: demoPlayer(projectDir) }),
  })
  if ('problem' in started) return failed(started.problem)
  const { session } = started

  await stage.scene(
    '1. The plan',
    'The user wants a command. The agent may read and ask questions; it cannot write until a plan is approved.',
  )
  stage.typed('write a command that greets people by name')
  await runTurn(session, [textBlock('write a command that greets people by name')])

  await stage.scene(
    '2. The test phase',
    'Now another session writes the tests. It gets the plan and the public contract, and no tool that could reach the code. A case that only shows that nothing crashed is refused.',
  )
  await enterTest(session, 'demo')

  await stage.scene(
    '3. The gate',
    'One case fails, so the report cannot be reached. Nor can the test phase be skipped.',
  )
  stage.tried('ona --transition verify', movePhase(session, 'verify', 'demo'))
  stage.tried('ona --transition done', movePhase(session, 'done', 'demo'))

  await stage.scene('4. The fix', 'The agent mends the program; the same cases run again.')
  stage.typed('one test fails: see what it says and mend the program')
  await runTurn(session, [textBlock('one test fails: see what it says and mend the program')])
  await testAgain(session)
  stage.tried('ona --transition verify', movePhase(session, 'verify', 'demo'))

  await stage.scene('5. The report', 'What was asked for, which case shows it, and what each case really printed.')
  stage.quote(reportText(verifyReport(session), { columns: stage.width - 4, colour: stage.colour }))
  await stage.next('Sign it off')
  stage.tried('ona --transition done --approve --as you', movePhase(session, 'done', 'you', true))

  const counts = session.db.get<{ entries: number; hooks: number; events: number }>(
    `SELECT (SELECT count(*) FROM transcript_entries) AS entries, (SELECT count(*) FROM events) AS events,
            (SELECT count(*) FROM hook_invocations) AS hooks`,
  )!
  const { phase } = session
  await started.close('other')
  stage.say('')
  stage.say(
    `All of it is on record: ${counted(counts.entries, 'transcript row')}, ${counted(counts.events, 'event')}, ${counted(counts.hooks, 'refusal')} by the planning gate, in one SQLite file.`,
  )
  stage.say('Next: ona in a project of yours. docs/workflow.md has the rest.')
  return phase === 'done' ? 0 : 1
}

interface Stage {
  readonly width: number
  readonly colour: boolean
  say(text: string): void
  quote(text: string): void
  typed(text: string): void
  tried(command: string, moved: { ok: boolean; why?: string; to?: string }): void
  scene(title: string, text: string): Promise<void>
  next(what: string): Promise<void>
  show(event: AgentEvent): void
  close(): void
}

function createStage(stops: boolean): Stage {
  const width = Math.min(process.stdout.columns ?? 80, 100)
  const write = (text: string) => void said(`${text}\n`)
  const { createInterface } = process.getBuiltinModule('node:readline/promises')
  const lines = stops ? createInterface({ input: process.stdin, output: process.stdout }) : undefined
  const about = new Map<string, string>()
  const next = async (what: string) => {
    if (lines) await lines.question(paint('dim', `  ${what}: press Enter `))
    else write(paint('dim', `  ${what}`))
  }
  return {
    width,
    colour: inColour(),
    say: (text) => write(wrap(text, width)),
    quote: (text) =>
      write(
        text
          .trimEnd()
          .split('\n')
          .map((line) => `  ${paint('dim', '│')} ${line}`)
          .join('\n'),
      ),
    typed: (text) => write(`${paint('bold', '>')} ${text}`),
    tried(command, moved) {
      write(`${paint('dim', '$')} ${command}`)
      const lines = moved.ok ? [`moved to ${moved.to}`] : (moved.why ?? '').split('\n')
      const mark = moved.ok ? paint('green', '✔') : paint('red', '✖')
      write(
        `  ${mark} ${lines
          .map((line) => wrap(line, width - 4))
          .join('\n')
          .replaceAll('\n', '\n    ')}`,
      )
    },
    async scene(title, text) {
      if (lines) await lines.question(paint('dim', '\n  Press Enter '))
      write(`\n${paint('bold', title)}\n${wrap(text, width)}\n`)
    },
    next,
    show(event) {
      const who = event.agent ? paint('cyan', '  test generator ') : '  '
      const short = (text: string) => {
        const line = text.split('\n')[0]!
        return line.length > width - 24 ? `${line.slice(0, width - 25)}…` : line
      }
      if (event.type === 'tool-started') about.set(event.id, event.summary)
      if (event.type === 'assistant' && event.text) write(`${who}${short(event.text)}`)
      if (event.type === 'tool-finished') {
        const mark = event.output.isError ? paint('red', '✖') : paint('green', '✔')
        const text = event.output.isError
          ? `\n      ${wrap(event.output.content, width - 8).replaceAll('\n', '\n      ')}`
          : ''
        write(`${who}${mark} ${event.name} ${paint('dim', short(about.get(event.id) ?? ''))}${text}`)
      }
      if (event.type === 'phase') write(`  ${paint('magenta', `phase: ${event.from} → ${event.to}`)}`)
      if (event.type === 'notice' && /^[✔✖]/.test(event.text)) write(`  ${event.text.replaceAll('\n', '\n  ')}`)
    },
    close: () => lines?.close(),
  }
}

function wrap(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => {
      const rows = ['']
      for (const word of line.split(' ')) {
        if (rows.at(-1)!.length + word.length + 1 > width && rows.at(-1) !== '') rows.push('')
        rows[rows.length - 1] += (rows.at(-1) === '' ? '' : ' ') + word
      }
      return rows.join('\n')
    })
    .join('\n')
}

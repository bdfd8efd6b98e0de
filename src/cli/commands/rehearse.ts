/** `ona rehearse`: plays scripts through the whole runtime, or serves the rehearsal model to other programs. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import type { AgentEvent } from '../../agent/events.ts'
import { readFault } from '../../files/read-fault.ts'
import { type Play, playScript } from '../../rehearsal/play.ts'
import { loadScript, type Script, scriptSchema } from '../../rehearsal/script.ts'
import { startRehearsal } from '../../rehearsal/server.ts'
import type { Db } from '../../store/open.ts'
import { command } from '../command.ts'
import { nobody } from '../headless/deny-all.ts'
import { failed, said, saidJson, wrong } from '../print.ts'
import { endingSignals, onEndingSignals } from '../signals.ts'

const help = `ona rehearse plays a script through the whole runtime (hooks, rules, tools, database) with the built-in model in
the place of a real one, and exits 1 where something is not as the script expects.

  ona rehearse examples/rehearsals/guarded-delete.yaml
  ona rehearse rehearsals/*.yaml --json           all of them, as JSON
  ona rehearse script.yaml --show                 with the conversation
  ona rehearse script.yaml --trust                with the hooks of this folder
  ona rehearse script.yaml --db run.db            keeps the database of the run
  ona rehearse --serve 1234 [script.yaml]         serves the model on 127.0.0.1 until Ctrl-C
  ona rehearse --schema                           the JSON Schema of a script
`

const flags = {
  serve: 'value',
  db: 'value',
  show: 'flag',
  trust: 'flag',
  schema: 'flag',
  json: 'flag',
} as const

export const run = command(
  'ona rehearse',
  { help, flags, words: Number.POSITIVE_INFINITY },
  async ({ serve: port, db, show = false, trust = false, schema, json }, files) => {
    const wrongly = (why: string) => wrong('ona rehearse', why)
    if (schema) return said(JSON.stringify(scriptSchema, null, 2))
    if (port !== undefined && !(/^\d+$/.test(port) && Number(port) < 65_536))
      return wrongly(`--serve must be a port number, not "${port}"`)
    const scripts: Script[] = []
    for (const file of files) {
      const loaded = await load(file)
      if ('problems' in loaded) {
        process.stderr.write(`${loaded.problems.join('\n')}\n`)
        return 2
      }
      scripts.push(loaded.script)
    }
    if (port !== undefined) return serve(Number(port), scripts[0])
    if (scripts.length === 0) return wrongly('name a script, or --serve PORT')
    if (db && scripts.length > 1) return wrongly('--db goes with one script')

    const reports: Report[] = []
    for (const script of scripts) {
      const report = await play(script, { show, db, trust })
      reports.push(report)
      if (!json) said(rendered(report))
    }
    if (json) saidJson(reports)
    return reports.every(({ ok }) => ok) ? 0 : 1
  },
)

interface Report {
  readonly script: string
  readonly ok: boolean
  /** How many expectations were met. */
  readonly met: number
  readonly problems: readonly string[]
}

const rendered = ({ script, ok, met, problems }: Report): string =>
  ok ? `ok    ${script}  ${met} met\n` : `${problems.join('\n')}\nfail  ${script}  ${met} met, ${problems.length} not\n`

interface PlayFlags {
  readonly show: boolean
  readonly db: string | undefined
  readonly trust: boolean
}

/** A script with files of its own has a folder, a home and a database of its own, and is removed afterwards. */
async function play(script: Script, flags: PlayFlags): Promise<Report> {
  const { startSession } = await import('../../agent/session/start.ts')
  const { runTurn } = await import('../../agent/turn.ts')
  const { expandPrompt } = await import('../../agent/context/expand.ts')
  const scratch = mkdtempSync(join(tmpdir(), 'ona-rehearse-'))
  const cwd = script.files ? stage(script.files, join(scratch, 'folder')) : process.cwd()
  const dbFile = flags.db ? resolve(flags.db) : join(scratch, 'agent.db')
  let db: Db | undefined
  const playing = playScript(script, { cwd, query: (sql) => rowsOf(db, sql) })
  const trouble: string[] = []
  try {
    const started = await startSession({
      cwd,
      env: { ...process.env, AGENT_SDLC_DB: dbFile, ...(script.files && { HOME: join(scratch, 'home') }) },
      db: dbFile,
      user: nobody,
      on: flags.show ? show : () => {},
      model: 'rehearsal',
      settings: {
        ...(script.settings && { settings: JSON.stringify(script.settings) }),
        trust: flags.trust || script.files !== undefined,
      },
      ...(script.mode && { mode: script.mode }),
      startRehearsal: () => startRehearsal({ player: playing.player }),
    })
    if ('problem' in started) return reportOf(script, playing, [`${script.name}: ${started.problem}`])
    const { session } = started
    db = session.runtime.db
    const release = onEndingSignals(() => session.interrupt())
    for (let prompt = playing.nextPrompt(); prompt !== undefined; prompt = playing.nextPrompt()) {
      if (flags.show) said(`> ${prompt}\n`)
      const expanded = await expandPrompt(session, prompt)
      if (!expanded.ok) {
        trouble.push(`${script.name}: "${prompt}" cannot be typed here: ${expanded.why}`)
        break
      }
      const { stop } = await runTurn(session, expanded.blocks)
      if (stop === 'cancelled') break
    }
    playing.finish()
    release()
    await started.close('other')
    return reportOf(script, playing, trouble)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

const reportOf = ({ name }: Script, { problems, met }: Play, trouble: readonly string[] = []): Report => {
  const all = [...trouble, ...problems]
  return { script: name, ok: all.length === 0, met: met(), problems: all }
}

function stage(files: Record<string, string>, folder: string): string {
  mkdirSync(folder, { recursive: true })
  for (const [name, content] of Object.entries(files)) {
    const path = resolve(folder, name)
    if (relative(folder, path).startsWith('..')) throw new Error(`files: ${name} lies outside the run's folder`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content, { mode: content.startsWith('#!') ? 0o755 : 0o644 })
  }
  return folder
}

function rowsOf(db: Db | undefined, sql: string): string {
  const rows = db?.all<Record<string, unknown>>(sql) ?? []
  return rows.map((row) => String(Object.values(row)[0])).join('\n')
}

function show(event: AgentEvent): void {
  if (event.type === 'assistant' && event.text !== '') said(`${event.text}\n`)
  if (event.type === 'tool-finished')
    said(`  ${event.name} ${event.outcome}: ${event.output.content.trim().split('\n')[0]?.slice(0, 160)}\n`)
  if (event.type === 'notice') said(`  ${event.text}\n`)
}

/** Serves until it is interrupted. With a script, says at the end what was not as expected. */
async function serve(port: number, script: Script | undefined): Promise<number> {
  const playing = script && playScript(script, { cwd: process.cwd() })
  let server: Awaited<ReturnType<typeof startRehearsal>>
  try {
    server = await startRehearsal({ port, ...(playing && { player: playing.player }) })
  } catch (cause) {
    return failed(`port ${port} cannot be used: ${(cause as Error).message}`)
  }
  said(
    `LM_STUDIO_BASE_URL=${server.baseUrl} LM_STUDIO_MODEL=${server.model}
OPENAI_BASE_URL=${server.baseUrl}
ANTHROPIC_BASE_URL=${server.url}
GOOGLE_GEMINI_BASE_URL=${server.url}
`,
  )
  await new Promise<void>((stop) => {
    const awake = setInterval(() => {}, 1 << 30)
    for (const signal of endingSignals)
      process.once(signal, () => {
        clearInterval(awake)
        stop()
      })
  })
  await server.close()
  playing?.finish()
  if (!script || !playing) return 0
  const report = reportOf(script, playing)
  said(rendered(report))
  return report.ok ? 0 : 1
}

async function load(file: string): Promise<{ script: Script } | { problems: string[] }> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    return { problems: [`${file} cannot be read: ${readFault(cause)}`] }
  }
  const loaded = await loadScript(text, file)
  return loaded.ok ? { script: loaded.script } : { problems: loaded.problems }
}

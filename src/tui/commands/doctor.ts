import { accessSync, constants, readFileSync } from 'node:fs'
import { authStatus } from '../../auth/sources.ts'
import { readRule } from '../../permissions/rule.ts'
import { parseSettings, settingsFile } from '../../store/settings-files.ts'
import { glyph } from '../glyphs.ts'
import { ownProgram } from '../own-program.ts'
import { placesOf } from '../save-setting.ts'
import { runShell } from '../shell.ts'
import { paint } from '../style.ts'
import type { Ui } from '../ui.ts'

type Finding = { readonly ok: boolean; readonly text: string }

export async function run(_args: string, ui: Ui): Promise<void> {
  const findings: Finding[] = []
  for (const check of [programs, files, rules, database, credentials, program]) findings.push(...(await check(ui)))
  for (const { ok, text } of findings) ui.front.print(`${ok ? paint('good', glyph.done) : paint('bad', 'x')} ${text}`)
  const bad = findings.filter(({ ok }) => !ok).length
  ui.front.print(bad === 0 ? 'All is well.' : `${bad} to look at.`)
}

async function programs({ session }: Ui): Promise<Finding[]> {
  const options = { cwd: session.cwd, env: session.runtime.childEnv, signal: session.signal, progress: () => {} }
  const found = await Promise.all(
    ['git', 'bash', 'rg'].map(async (name) => {
      const { exitCode } = await runShell(`command -v ${name}`, options)
      return {
        ok: exitCode === 0 || name === 'rg',
        text: `${name}: ${exitCode === 0 ? 'found' : name === 'rg' ? 'not on the PATH; the one that ona brings is used' : 'not on the PATH'}`,
      }
    }),
  )
  return [{ ok: true, text: `Node ${process.version} on ${process.platform}` }, ...found]
}

function files(ui: Ui): Finding[] {
  return (['user', 'project', 'local'] as const).flatMap((level) => {
    const file = settingsFile(level, placesOf(ui))
    if (!file) return []
    const read = parseSettings(readFileSync(file, 'utf8'))
    return [{ ok: read.ok, text: `${file}: ${read.ok ? 'can be read' : read.why}` }]
  })
}

function rules({ session }: Ui): Finding[] {
  const { permissions } = session
  const bad = (['allow', 'ask', 'deny'] as const).flatMap((behavior) =>
    (permissions[behavior] ?? []).flatMap((rule) => {
      const read = readRule(rule, behavior)
      return read.ok ? [] : [{ ok: false, text: `${behavior} ${rule}: ${read.why}` }]
    }),
  )
  const dead = (permissions.allow ?? []).filter(
    (rule) => (permissions.deny ?? []).includes(rule) || (permissions.deny ?? []).includes(rule.replace(/\(.*/s, '')),
  )
  return [...bad, ...dead.map((rule) => ({ ok: false, text: `allow ${rule} never counts: a deny rule covers it` }))]
}

function database({ session }: Ui): Finding[] {
  const answer = session.db.get<{ quick_check: string }>('PRAGMA quick_check')?.quick_check
  return [{ ok: answer === 'ok', text: `${session.db.path}: ${answer ?? 'no answer'}` }]
}

async function credentials({ session }: Ui): Promise<Finding[]> {
  const { settings, env, trusted, bare } = session.runtime
  const status = await authStatus(session.model.providerName, { settings, env, trusted, bare })
  const text = status.loggedIn ? `credentials: ${status.source}` : `credentials: none for ${session.model.providerName}`
  return [{ ok: status.loggedIn || session.model.rehearsal, text }]
}

function program(): Finding[] {
  const file = ownProgram().words[0]!
  try {
    accessSync(file, constants.R_OK)
    return [{ ok: true, text: file }]
  } catch (cause) {
    return [{ ok: false, text: (cause as Error).message }]
  }
}

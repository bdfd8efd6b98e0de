/** The settings that apply in a folder, for commands that start no session. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { builtinRules } from '../../permissions/rules/builtin-rules.ts'
import { ruleProblem } from '../../permissions/rules/rule.ts'
import { type Db, dbPath, inMemory, openDb, readDb, type SqlValue } from '../../store/open.ts'
import { type LoadedSettings, loadSettings, type SettingsFlags } from '../../store/settings/settings.ts'

export interface Here {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly flags?: SettingsFlags
  /** From the files alone: the database is neither read nor changed. */
  readonly filesOnly?: boolean
  /** The snapshot in the database applies and is not changed: files that differ from their last import are not imported. */
  readonly lookOnly?: boolean
}

/** Creates no database where there is none. */
export function settingsHere({
  cwd = process.cwd(),
  env = process.env,
  flags = {},
  ...how
}: Here = {}): LoadedSettings {
  const path = dbPath(env)
  const apart = how.filesOnly || how.lookOnly || !existsSync(path)
  const db = openDb(apart ? inMemory : path)
  try {
    if (how.lookOnly && existsSync(path)) copySettings(path, db)
    return loadSettings({ db, cwd, home: env['HOME'] || homedir(), env, checkRule: ruleProblem, builtinRules, flags })
  } finally {
    db.close()
  }
}

function copySettings(path: string, into: Db): void {
  const from = readDb(path)
  for (const table of ['settings_snapshot', 'ona_settings_imports'])
    for (const row of from.all<Record<string, SqlValue>>(`SELECT * FROM ${table}`)) {
      const names = Object.keys(row)
      into.run(`INSERT INTO ${table}(${names}) VALUES (${names.map(() => '?')})`, ...Object.values(row))
    }
  from.close()
}

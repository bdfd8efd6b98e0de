/** The settings that count in a folder, for commands that start no session. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { ruleProblem } from '../permissions/rule.ts'
import { dbPath, inMemory, openDb } from '../store/open.ts'
import { type LoadedSettings, loadSettings, type SettingsFlags } from '../store/settings.ts'

export interface Here {
  readonly cwd?: string
  readonly flags?: SettingsFlags
  /** From the files alone: what the database holds is neither read nor changed. */
  readonly filesOnly?: boolean
}

/** Asking makes no database where there is none. */
export function settingsHere({ cwd = process.cwd(), flags = {}, filesOnly = false }: Here = {}): LoadedSettings {
  const { env } = process
  const path = dbPath(env)
  const db = openDb(filesOnly || !existsSync(path) ? inMemory : path)
  try {
    return loadSettings({ db, cwd, home: env['HOME'] || homedir(), env, checkRule: ruleProblem, flags })
  } finally {
    db.close()
  }
}

/** A PostgreSQL data folder with the fleet's tables in it, made once per version of them and copied for each test file. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { unlock, waitForLock } from '../../src/files/lock-file.ts'
import { postgresBin, startPostgres } from '../../src/fleet/private-postgres.ts'
import { initFleet } from '../../src/fleet/server/init.ts'

const root = join(import.meta.dirname, '../..')
export const testSettings = ['fsync=off', 'max_connections=100', 'autovacuum=off', 'max_wal_size=4GB']

/** Fills `folder` so that a server can start in it, with a database `fleet_template`. */
export async function copyTemplate(folder: string): Promise<void> {
  const template = join(root, 'node_modules/.cache/ona-fleet', key())
  if (!existsSync(template)) await make(template)
  copy(join(template, 'data'), join(folder, 'data'))
}

/** Whatever decides what is in the folder. */
function key(): string {
  const files = ['package-lock.json', ...globSync('src/fleet/**/*.ts', { cwd: root })].sort()
  const hash = createHash('sha256').update(execFileSync(join(postgresBin(), 'postgres'), ['--version']))
  for (const file of files) hash.update(readFileSync(join(root, file)))
  return hash.digest('hex').slice(0, 16)
}

async function make(template: string): Promise<void> {
  mkdirSync(dirname(template), { recursive: true })
  const lock = `${template}.lock`
  if (!(await waitForLock(lock, 120_000))) throw new Error(`${lock} is held; remove it when no test runs`)
  const folder = mkdtempSync(join(tmpdir(), 'ona-pg-'))
  const fresh = `${template}.new`
  try {
    if (existsSync(template)) return
    const server = await startPostgres(folder, { settings: testSettings })
    await initFleet(server.url())
    execFileSync(join(postgresBin(), 'createdb'), ['-h', folder, '-U', 'ona', '-T', 'postgres', 'fleet_template'])
    await server.stop()
    rmSync(fresh, { recursive: true, force: true })
    mkdirSync(fresh)
    copy(join(folder, 'data'), join(fresh, 'data'))
    renameSync(fresh, template)
  } finally {
    rmSync(folder, { recursive: true, force: true })
    unlock(lock)
  }
}

/** With its owner, who is not root. */
const copy = (from: string, to: string) => execFileSync('cp', ['-a', from, to])

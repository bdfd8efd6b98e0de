/** A PostgreSQL data folder with the fleet's tables in it, made once per version of them and copied for each test file. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresBin, startPostgres } from '../../src/fleet/private-postgres.ts'
import { initFleet } from '../../src/fleet/server/init.ts'
import { cachedFolder } from './cached-folder.ts'

export const testSettings = [
  'fsync=off',
  'max_connections=100',
  'autovacuum=off',
  'max_wal_size=4GB',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
]

/** Fills `folder` so that a server can start in it, with a database `fleet_template`. */
export async function copyTemplate(folder: string): Promise<void> {
  const template = await cachedFolder({
    name: 'ona-fleet',
    inputs: ['src/fleet/**/*.ts'],
    version: execFileSync(join(postgresBin(), 'postgres'), ['--version']),
    make,
  })
  copy(join(template, 'data'), join(folder, 'data'))
}

async function make(template: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ona-pg-'))
  try {
    const server = await startPostgres(folder, { settings: testSettings })
    await initFleet(server.url())
    execFileSync(join(postgresBin(), 'createdb'), ['-h', folder, '-U', 'ona', '-T', 'postgres', 'fleet_template'])
    await server.stop()
    copy(join(folder, 'data'), join(template, 'data'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** With its owner, who is not root. */
const copy = (from: string, to: string) => execFileSync('cp', ['-a', from, to])

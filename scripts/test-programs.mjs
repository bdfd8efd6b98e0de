/**
 * Prints the Debian packages that tests need and this machine has not, one a line. In JavaScript without new functions, since
 * .ci/run asks before `npm ci`, on whatever Node there is.
 */
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** By the name of a program in it. */
const packages = {
  git: 'git',
  bwrap: 'bubblewrap',
  initdb: 'postgresql',
  chromium: 'chromium',
  tmux: 'tmux',
  sqlite3: 'sqlite3',
  python3: 'python3',
  zstd: 'zstd',
  zsh: 'zsh',
  fish: 'fish',
}

const postgres = '/usr/lib/postgresql'
const versions = existsSync(postgres) ? readdirSync(postgres) : []
const folders = [
  ...(process.env['PATH'] ?? '').split(delimiter),
  ...[process.env['PG_BIN'] ?? '', ...versions.map((version) => join(postgres, version, 'bin'))],
]
const isInstalled = (program) =>
  folders.some((folder) => existsSync(join(folder, program))) ||
  (program === 'chromium' && existsSync(process.env['ONA_CHROMIUM'] ?? ''))

for (const [program, name] of Object.entries(packages)) if (!isInstalled(program)) console.log(name)

// Run by npm after an install in a checkout: builds dist/. An installed package has its dist/ and no scripts/: nothing to do.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const cwd = fileURLToPath(new URL('..', import.meta.url))
if (existsSync(new URL('../scripts/build.ts', import.meta.url)))
  process.exitCode = spawnSync(process.execPath, ['scripts/build.ts'], { cwd, stdio: 'inherit' }).status ?? 1

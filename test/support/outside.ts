/** The model server of the acceptance rows, for a test: its address, and the model's variables. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { compileCache } from './compile-cache.ts'

const program = join(import.meta.dirname, '../../scripts/acceptance/model-server.ts')

export interface Outside {
  readonly url: string
  /** Chooses its model, as `lm_studio_local`. */
  readonly env: Record<string, string>
  /** What it was sent, as text. */
  requests(): string
  close(): void
}

export async function startOutside(): Promise<Outside> {
  const folder = mkdtempSync(join(tmpdir(), 'ona-outside-'))
  writeFileSync(join(folder, 'requests.jsonl'), '')
  writeFileSync(join(folder, 'cases.json'), '[]')
  const child = spawn(process.execPath, [compileCache, program, folder], { stdio: 'ignore' })
  const ready = join(folder, 'env')
  for (let tries = 0; tries < 4000 && !existsSync(ready); tries++) await wait(15)
  const url = /WORLD=(\S+)/.exec(readFileSync(ready, 'utf8'))![1]!
  return {
    url,
    env: { LM_STUDIO_BASE_URL: `${url}/v1`, LM_STUDIO_MODEL: 'recorder' },
    requests: () => readFileSync(join(folder, 'requests.jsonl'), 'utf8'),
    close() {
      child.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

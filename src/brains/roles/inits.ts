/** Runs the init commands of a role, once, when it is linked into a repository. */
import { spawn } from 'node:child_process'
import { Problem } from '../../files/problem.ts'
import type { FoundRole } from './find.ts'

export interface Init {
  readonly author: string
  readonly command: string
}

export const initsOf = ({ role, author }: FoundRole): Init[] =>
  (role.inits?.exec ?? []).map(({ cmd }) => ({ author, command: cmd }))

/** Runs one init from the root. Its output is passed on; a failure is a Problem with the end of what it said. */
export async function runInit(root: string, { author, command }: Init, say: (chunk: Buffer) => void): Promise<void> {
  const child = spawn(command, { shell: true, cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let end = ''
  const hear = (chunk: Buffer) => {
    end = (end + chunk).slice(-2000)
    say(chunk)
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  const how = await new Promise<string | null>((done) => {
    child.on('error', (cause) => done(cause.message))
    child.on('close', (code, signal) =>
      done(code === 0 ? null : signal ? `was ended by ${signal}` : `ended with ${code}`),
    )
  })
  if (how) throw new Problem(`${author}: the init "${command}" ${how}${end.trim() ? `:\n${end.trim()}` : ''}`)
}

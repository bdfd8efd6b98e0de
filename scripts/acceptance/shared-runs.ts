/**
 * Runs `ona` for the rows of one file in a process that they share (test/support/run-program.ts), since a start costs more than
 * most of what a row asks. The rows' `ona` is shared-ona.sh: it writes its process id into FOLDER/runs, and the command line, the
 * environment, the folder, stdin, stdout and stderr are those of that process. Its exit code goes into FOLDER/ended.
 */
import { createReadStream, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { endShared, runProgram } from '../../test/support/run-program.ts'

export async function serveRuns(folder: string): Promise<void> {
  // process.exit would wait for the thread that reads from the pipe
  process.once('SIGTERM', () => void endShared().then(() => process.kill(process.pid, 'SIGKILL')))
  // open for writing as well, so that it does not end with the first run
  const runs = createReadStream(join(folder, 'runs'), { flags: 'r+' })
  for await (const pid of createInterface({ input: runs })) {
    const code = await run(`/proc/${pid}`)
    await writeFile(join(folder, 'ended'), `${code}\n`)
    rmSync(join(folder, 'busy'), { force: true })
  }
}

async function run(client: string): Promise<number> {
  const list = (name: string) => readFileSync(join(client, name), 'utf8').split('\0').slice(0, -1)
  const env = Object.fromEntries(
    list('environ').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
  const { code, stdout, stderr } = await runProgram(list('cmdline').slice(2), {
    cwd: readlinkSync(join(client, 'cwd')),
    env,
    input: await readFile(join(client, 'fd/0'), 'utf8'),
    timeoutMs: 120_000,
    isStep: true,
  })
  await appendFile(join(client, 'fd/2'), stderr)
  await appendFile(join(client, 'fd/1'), stdout)
  return code ?? 137
}

/**
 * Loaded before each test file, with a folder in its query: the temporary folders of tests of units are in that one. It is in
 * memory where there is room, since making and removing a file takes ten times as long on a disk, and the runner removes it.
 * Tests of whole programs keep the system's, since it is one of the things that they are about, and find this one in
 * ONA_TEST_FOLDER. What judges paths and a file whose first line is `// temporary files on the disk: WHY` keep it, too.
 * ONA_TEST_REMOVED is a list of folders that the runner removes when all tests have ended (test/support/remove-folder.ts).
 */
import { mkdirSync, readFileSync, statfsSync } from 'node:fs'
import { basename, join, relative } from 'node:path'

const memory = '/dev/shm'
const enoughBytes = 1 << 30

/** A folder in memory with room for the files of all tests; undefined where there is none. */
export function inMemory(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize >= enoughBytes ? memory : undefined
  } catch {
    return undefined
  }
}

/** What judges paths: to it, those below /dev are no scripts, databases or places to write to. */
const judges = /^src\/(?:agent|hooks)\//
export const diskLine = '// temporary files on the disk:'

/** What the name of a module begins with that runs test files of whole programs, in one process. */
export const programs = 'programs'

/** Whether a file is about whole programs. */
export const isProgram = (file: string): boolean =>
  file.startsWith('test/') || basename(file).startsWith(`${programs}-`)

/** Whether the temporary files of a test file are on the disk. */
export const isOnDisk = (file: string): boolean =>
  judges.test(file) || readFileSync(file, 'utf8').split('\n', 1)[0]!.startsWith(`${diskLine} `)

/** In the runner's folder. */
export const removedList = 'removed'

const folder = new URL(import.meta.url).searchParams.get('in')
const file = relative('.', process.argv[1] ?? '')
if (folder !== null) process.env['ONA_TEST_REMOVED'] = join(folder, removedList)
if (folder !== null && (isProgram(file) || !isOnDisk(file))) {
  const temporary = join(folder, 'tmp')
  mkdirSync(temporary, { recursive: true })
  process.env[isProgram(file) ? 'ONA_TEST_FOLDER' : 'TMPDIR'] = temporary
}

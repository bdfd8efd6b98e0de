/**
 * Loaded before each test file, with a folder in its query: the temporary folders of tests of units are in that one. It is in
 * memory where there is room, since making and removing a file takes ten times as long on a disk, and the runner removes it.
 * Tests of whole programs keep the system's, since it is one of the things that they are about, and find this one in
 * ONA_TEST_FOLDER. A file with the line `// temporary files on the disk: WHY` keeps the system's, too.
 */
import { mkdirSync, readFileSync, statfsSync } from 'node:fs'
import { join, relative } from 'node:path'

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

/** A line of the files whose temporary files are on the disk. */
export const onDisk = /^\/\/ temporary files on the disk: \S/m

const folder = new URL(import.meta.url).searchParams.get('in')
const file = process.argv[1] ?? ''
const isProgram = relative('.', file).startsWith('test/')
if (folder !== null && (isProgram || !onDisk.test(readFileSync(file, 'utf8')))) {
  const temporary = join(folder, 'tmp')
  mkdirSync(temporary, { recursive: true })
  process.env[isProgram ? 'ONA_TEST_FOLDER' : 'TMPDIR'] = temporary
}

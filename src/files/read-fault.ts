/** Why a file cannot be read, in words; Node's own name the system call and repeat the path. */
export function readFault(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  return faults[code] ?? message
}

const faults: Record<string, string | undefined> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  ESPIPE: 'it is a pipe',
  EACCES: 'there is no permission to read it',
}

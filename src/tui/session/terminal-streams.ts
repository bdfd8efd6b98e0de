/** The two streams of a terminal, the modes it is set to, and how it says that it is gone. */
import type { Output } from '../render/screen.ts'

export interface TerminalInput {
  setRawMode?(raw: boolean): unknown
  setEncoding(encoding: 'utf8'): unknown
  on(event: 'data', listener: (chunk: string) => void): unknown
  on(event: 'end', listener: () => void): unknown
  on(event: 'error', listener: (cause: unknown) => void): unknown
  resume(): unknown
  pause(): unknown
  removeAllListeners(event: string): unknown
}

export interface TerminalOutput extends Output {
  on(event: 'resize', listener: () => void): unknown
  on(event: 'error', listener: (cause: unknown) => void): unknown
  removeAllListeners(event: string): unknown
}

/** Bracketed paste, and keys that can be told apart (kitty's protocol, where the terminal has it). */
export const modesOn = '\x1b[?2004h\x1b[>1u'
/** Asks for the background colour; the answer comes in like a key (OSC 11). */
export const askBackground = '\x1b]11;?\x07'
export const modesOff = '\x1b[<u\x1b[?2004l\x1b[?25h'

/** A terminal that was closed answers reads and writes with EIO; what is written after that finds the stream closed. */
const goneCodes = ['EIO', 'EPIPE', 'ENXIO', 'EBADF', 'ERR_STREAM_DESTROYED']
export const isGone = (cause: unknown): boolean =>
  goneCodes.includes((cause as NodeJS.ErrnoException | undefined)?.code ?? '')

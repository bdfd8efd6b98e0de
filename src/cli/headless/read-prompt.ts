/** The prompt of `-p`: what was typed, what is piped in, or both. */
import { fstatSync, readFileSync } from 'node:fs'

/** More than this on stdin is not a prompt. */
const mostInput = 10 * 1024 * 1024

type Prompt = { ok: true; prompt: string } | { ok: false; why: string }

export const noPrompt = 'there is no prompt: ona -p "what to do", or pipe it in'

/** `mayBeNone`: a resumed session may go on at a call that was left open. */
export async function readPrompt(words: readonly string[], mayBeNone = false): Promise<Prompt> {
  const typed = words.join(' ')
  const piped = await pipedInput(typed === '' ? Number.POSITIVE_INFINITY : 3_000)
  if (piped === undefined)
    return { ok: false, why: `stdin holds more than ${mostInput / 1024 / 1024} MB; pass a file's path instead` }
  const prompt = [piped, typed].filter((part) => part.trim() !== '').join('\n\n')
  return prompt !== '' || mayBeNone ? { ok: true, prompt } : { ok: false, why: noPrompt }
}

/** All of stdin; undefined when it is too much. A pipe on which nothing comes in time is left alone. */
async function pipedInput(patienceMs: number): Promise<string | undefined> {
  const kind = fstatSync(0)
  if (!kind.isFIFO() && !kind.isSocket()) {
    if (!kind.isFile()) return '' // a terminal, or nothing at all
    return kind.size > mostInput ? undefined : readFileSync(0, 'utf8')
  }
  const { stdin } = process
  const pieces: Buffer[] = []
  let size = 0
  const waited = Number.isFinite(patienceMs) ? setTimeout(() => stdin.destroy(), patienceMs) : undefined
  try {
    for await (const piece of stdin) {
      clearTimeout(waited)
      pieces.push(piece)
      size += piece.length
      if (size > mostInput) return undefined
    }
  } catch (cause) {
    if (!stdin.destroyed) throw cause // given up above: there was nothing to read
  }
  clearTimeout(waited)
  return Buffer.concat(pieces).toString('utf8')
}

/** What stands folded in the input line: long pastes and images, by number. A line that comes back still means them. */
import { readFileSync, statSync } from 'node:fs'
import { extname, resolve } from 'node:path'

export interface Image {
  readonly mediaType: string
  readonly data: string
}

const mediaTypes: Record<string, string> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
}
/** What the providers take at most. */
const largestImage = 5 * 1024 * 1024

export class Attachments {
  readonly #pastes: string[] = []
  readonly #images: Image[] = []

  /** The text to put into the line for a paste: itself when short, a mark when long, an image when it is a path of one. */
  paste(text: string, cwd: string): string {
    const image = imageAt(text, cwd)
    if (image) return this.add(image)
    const lines = text.split('\n').length
    if (text.length <= 800 && lines <= 3) return text
    const known = this.#pastes.indexOf(text)
    const number = known < 0 ? this.#pastes.push(text) : known + 1
    return lines > 1
      ? `[Pasted text #${number} +${lines - 1} lines]`
      : `[Pasted text #${number} +${text.length} characters]`
  }

  /** The mark that stands for the image in the line. */
  add(image: Image): string {
    return `[Image #${this.#images.push(image)}]`
  }

  /** The draft with every paste in full, and the images it names. */
  unfold(text: string): { text: string; images: Image[] } {
    const images: Image[] = []
    for (const [, number] of text.matchAll(/\[Image #(\d+)\]/g)) {
      const image = this.#images[Number(number) - 1]
      if (image) images.push(image)
    }
    return {
      text: text.replace(
        /\[Pasted text #(\d+) [^\]\n]*\]/g,
        (mark, number) => this.#pastes[Number(number) - 1] ?? mark,
      ),
      images,
    }
  }
}

/** A pasted or dropped path of an image, as terminals write it: bare, quoted, with escaped spaces, or as a file URL. */
function imageAt(text: string, cwd: string): Image | undefined {
  const path = text
    .trim()
    .replace(/^file:\/\//, '')
    .replace(/^(['"])(.*)\1$/, '$2')
    .replace(/\\(.)/g, '$1')
  const mediaType = mediaTypes[extname(path).toLowerCase()]
  if (!mediaType || path.includes('\n') || path.length > 1000) return undefined
  try {
    const file = resolve(cwd, path)
    const stat = statSync(file)
    if (!stat.isFile() || stat.size > largestImage) return undefined
    return { mediaType, data: readFileSync(file).toString('base64') }
  } catch {
    return undefined // no such file: it is text like any other
  }
}

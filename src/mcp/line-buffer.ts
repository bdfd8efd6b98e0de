/** What a server has sent of a line that has not ended. */
import { ReadBuffer } from '@modelcontextprotocol/client'

export class TooLongError extends Error {}

const newline = 10
const firstSize = 64 * 1024

/**
 * The library joins all that it holds with each piece that comes, and looks through it again: a long line in small pieces
 * costs the square of its length. This one looks at the new piece alone, and hands over whole lines.
 */
export class LineBuffer extends ReadBuffer {
  readonly #longest: number
  /** Twice as large when it is full, so that a byte is copied twice at most on average. */
  #held = Buffer.alloc(0)
  #size = 0

  constructor(longest: number) {
    super({ maxBufferSize: longest })
    this.#longest = longest
  }

  override append(chunk: Buffer): void {
    const end = chunk.lastIndexOf(newline) + 1
    if (end > 0) {
      const lines = Buffer.concat([this.#held.subarray(0, this.#size), chunk.subarray(0, end)])
      this.#size = 0
      super.append(lines)
    }
    this.#hold(chunk.subarray(end))
  }

  override clear(): void {
    this.#held = Buffer.alloc(0)
    this.#size = 0
    super.clear()
  }

  #hold(rest: Buffer): void {
    const size = this.#size + rest.length
    if (size > this.#longest) {
      this.clear()
      throw new TooLongError(`a message of over ${this.#longest} bytes`)
    }
    if (size > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(firstSize, 2 ** Math.ceil(Math.log2(size))))
      this.#held.copy(larger, 0, 0, this.#size)
      this.#held = larger
    }
    rest.copy(this.#held, this.#size)
    this.#size = size
  }
}

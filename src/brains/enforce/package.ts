/** A compiled policy for distribution: JSON, a tar archive, or the tree of a Debian package. */
import type { Compiled } from './compile.ts'

interface Packed {
  readonly path: string
  readonly text: string
}

/** Every file as it is on a machine that has none of them yet. */
export const packedFiles = ({ files }: Compiled): Packed[] =>
  [...files.values()].flat().map((file) => ({ path: file.path, text: file.merge(null) }))

export const debianControl = (digest: string): Packed => ({
  path: '/DEBIAN/control',
  text: `Package: ona-policy
Version: 1.0+${digest}
Architecture: all
Maintainer: platform team <root@localhost>
Depends: nodejs (>= 20)
Description: policy for coding agents, compiled by ona enforce
`,
})

/** A POSIX tar archive; everything belongs to root and has one date, so that the same policy gives the same bytes. */
export function tarOf(files: readonly Packed[]): Buffer {
  const blocks: Buffer[] = []
  for (const { path, text } of files) {
    const body = Buffer.from(text)
    blocks.push(header(`.${path}`, body.length), body, Buffer.alloc((512 - (body.length % 512)) % 512))
  }
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}

function header(name: string, size: number): Buffer {
  const block = Buffer.alloc(512)
  const cut = name.length > 100 ? name.lastIndexOf('/', 155) : -1
  block.write(cut < 0 ? name : name.slice(cut + 1), 0, 100)
  block.write('0000644\0', 100)
  block.write('0000000\0', 108)
  block.write('0000000\0', 116)
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
  block.write('00000000000\0', 136)
  block.write(' '.repeat(8), 148)
  block.write('0', 156)
  block.write('ustar\u000000', 257)
  block.write('root', 265)
  block.write('root', 297)
  if (cut >= 0) block.write(name.slice(0, cut), 345, 155)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

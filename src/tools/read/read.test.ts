import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { bench } from '../../../test/support/tool-host.ts'

test('a text file comes as numbered lines, with their count', async (t) => {
  const b = bench(t)
  const path = b.file('a.txt', 'line1\nline2\nline3\n')
  assert.deepEqual(await b.use('Read', { file_path: path }), {
    content: `3 lines in ${path}\n     1\tline1\n     2\tline2\n     3\tline3`,
    isError: false,
    display: { kind: 'text', summary: 'Read 3 lines', full: '     1\tline1\n     2\tline2\n     3\tline3' },
  })
})

test('a last line without its end is a line', async (t) => {
  const b = bench(t)
  const path = b.file('a.txt', 'one\ntwo')
  assert.equal((await b.use('Read', { file_path: path })).content, `2 lines in ${path}\n     1\tone\n     2\ttwo`)
})

test('offset and limit choose lines, and the answer says how to read on', async (t) => {
  const b = bench(t)
  const path = b.file('a.txt', Array.from({ length: 50 }, (_, i) => `l${i + 1}`).join('\n'))
  const some = await b.use('Read', { file_path: path, offset: 10, limit: 2 })
  assert.equal(some.content, `${path}: lines 10-11 of 50 lines; read on with offset 12\n    10\tl10\n    11\tl11`)
  const last = await b.use('Read', { file_path: path, offset: '50' })
  assert.equal(last.content, `${path}: lines 50-50 of 50 lines\n    50\tl50`)
  const past = await b.use('Read', { file_path: path, offset: 51 })
  assert.deepEqual([past.content, past.isError], [`${path} has only 50 lines; offset 51 is past its end`, false])
})

test('without a limit at most 2000 lines are shown, and at most 256 KB', async (t) => {
  const b = bench(t)
  const many = await b.use('Read', { file_path: b.file('many.txt', 'x\n'.repeat(5000)) })
  assert.match(many.content, /lines 1-2000 of 5000 lines; read on with offset 2001\n/)
  const wide = await b.use('Read', { file_path: b.file('wide.txt', `${'y'.repeat(1500)}\n`.repeat(1000)) })
  assert.match(wide.content, /lines 1-174 of 1000 lines; read on with offset 175\n/)
})

test('a long line is cut, and said to be', async (t) => {
  const b = bench(t)
  const path = b.file('a.txt', `short\n${'é'.repeat(3000)}\nend\n`)
  const { content } = await b.use('Read', { file_path: path })
  assert.equal(
    content,
    `3 lines in ${path} (1 line cut at 2000 characters)\n     1\tshort\n     2\t${'é'.repeat(2000)}… [cut; the line has 5.9 KB]\n     3\tend`,
  )
})

test('a line longer than any buffer costs no more than what is shown of it', async (t) => {
  const b = bench(t)
  const path = b.file('a.txt', `head\n${'z'.repeat(3_000_000)}\nend\n`)
  const { content } = await b.use('Read', { file_path: path })
  assert.match(content, /^3 lines in /)
  assert.match(content, /\n {5}2\tz{2000}… \[cut; the line has 2\.9 MB\]\n {5}3\tend$/)
})

test('a line that ends where a buffer ends is not taken for the last', async (t) => {
  const b = bench(t)
  const path = b.file('a.txt', `${'z'.repeat(262_143)}\nend\n`)
  const { content } = await b.use('Read', { file_path: path })
  assert.match(content, /^2 lines in .*\n {5}1\tz{2000}… \[cut; the line has 256\.0 KB\]\n {5}2\tend$/)
})

test('encodings, marks and line ends are understood and said', async (t) => {
  const b = bench(t)
  const cases: [string, Buffer, string][] = [
    ['bom', Buffer.from('\uFEFFgrün\n'), 'UTF-8 with BOM'],
    ['le', Buffer.from('\uFEFFgrün\n', 'utf16le'), 'UTF-16 LE'],
    ['be', Buffer.from('\uFEFFgrün\n', 'utf16le').swap16(), 'UTF-16 BE'],
    ['le-bare', Buffer.from('grün grass grows green\n', 'utf16le'), 'UTF-16 LE'],
    ['latin', Buffer.from('grün\n', 'latin1'), 'not UTF-8; shown as ISO 8859-1'],
    ['crlf', Buffer.from('grün\r\n'), 'CRLF line ends'],
  ]
  for (const [name, bytes, note] of cases) {
    const path = b.file(name, bytes)
    const { content } = await b.use('Read', { file_path: path })
    const text = name === 'le-bare' ? 'grün grass grows green' : 'grün'
    assert.equal(content, `1 line in ${path} (${note})\n     1\t${text}`)
  }
})

test('a binary file comes as hex', async (t) => {
  const b = bench(t)
  const path = b.file('a.bin', Buffer.from([0, 1, 2, 0x41, 0x42, 255]))
  const { content } = await b.use('Read', { file_path: path })
  assert.equal(
    content,
    `${path}: binary, 6 bytes; rows 1-1 of 1, sixteen bytes each\n00000000  00 01 02 41 42 ff                                 |...AB.|`,
  )
  const large = await b.use('Read', { file_path: b.file('b.bin', Buffer.alloc(100_000)), offset: 5, limit: 2 })
  assert.match(large.content, /rows 5-6 of 6250, sixteen bytes each; on with offset 7\n00000040 /)
})

test('an empty file is there and empty', async (t) => {
  const b = bench(t)
  const path = b.file('empty', '')
  assert.deepEqual(await b.use('Read', { file_path: path }), {
    content: `0 lines in ${path}: the file is there and empty`,
    isError: false,
    display: undefined,
  })
})

test('what is no file is refused without waiting for it', async (t) => {
  const b = bench(t)
  mkdirSync(join(b.folder, 'sub'))
  execFileSync('mkfifo', [join(b.folder, 'pipe')])
  const said = async (path: string) => {
    const { content, isError } = await b.use('Read', { file_path: path })
    return [isError, content.replaceAll(b.folder, '')]
  }
  assert.deepEqual(await said('sub'), [true, '/sub is a directory: list it with Glob, or with ls in Bash'])
  assert.deepEqual(await said('pipe'), [true, '/pipe is a named pipe, not a file: reading it could wait for ever'])
  assert.deepEqual(await said('/dev/zero'), [true, '/dev/zero is a device, not a file: reading it could wait for ever'])
  if (process.platform !== 'linux') return
  for (const path of [
    '/proc/self/environ',
    `/proc/${process.pid}/environ`,
    '/proc/thread-self/environ',
    '/proc/self/mem',
  ])
    assert.deepEqual(await said(path), [true, `${path} is what a process holds in memory, secrets among it: not shown`])
})

test('a missing file is named, with the one that was meant', async (t) => {
  const b = bench(t)
  b.file('config.json', '{}')
  const { content, isError } = await b.use('Read', { file_path: 'confg.json' })
  assert.deepEqual(
    [isError, content],
    [
      true,
      `${b.folder}/confg.json does not exist. The working directory is ${b.folder}. Did you mean ${b.folder}/config.json?`,
    ],
  )
})

test('an image is sent beside its facts', async (t) => {
  const b = bench(t)
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  const path = b.file('dot.txt', png)
  const { content, images, isError } = await b.use('Read', { file_path: path })
  assert.deepEqual(
    { content, images, isError },
    {
      content: `${path}: PNG image, 1 × 1 pixels, ${png.length} bytes`,
      images: [{ mediaType: 'image/png', data: png.toString('base64') }],
      isError: false,
    },
  )
})

test('sizes are read from GIF, JPEG and WebP headers; a damaged header is an error', async (t) => {
  const b = bench(t)
  const gif = Buffer.concat([Buffer.from('GIF89a'), Buffer.from([7, 0, 5, 0, 0, 0])])
  const jpeg = Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0001108000a001403012200021101031101', 'hex')
  const webp = Buffer.alloc(30)
  webp.write('RIFF', 0)
  webp.write('WEBPVP8X', 8)
  webp.writeUIntLE(99, 24, 3)
  webp.writeUIntLE(49, 27, 3)
  const facts = async (name: string, bytes: Buffer) => (await b.use('Read', { file_path: b.file(name, bytes) })).content
  assert.match(await facts('a', gif), /GIF image, 7 × 5 pixels/)
  assert.match(await facts('b', jpeg), /JPEG image, 20 × 10 pixels/)
  assert.match(await facts('c', webp), /WEBP image, 100 × 50 pixels/)
  assert.match(await facts('d', gif.subarray(0, 8)), /its header is damaged/)
})

test('a notebook comes as cells with their outputs', async (t) => {
  const b = bench(t)
  const path = b.file(
    'n.ipynb',
    JSON.stringify({
      nbformat: 4,
      nbformat_minor: 5,
      cells: [
        { id: 'intro', cell_type: 'markdown', source: ['# Title\n', 'text'] },
        {
          cell_type: 'code',
          source: 'print(1)',
          outputs: [
            { output_type: 'stream', text: ['1\n'] },
            { output_type: 'error', ename: 'E', evalue: 'v', traceback: ['\x1b[31mat\x1b[0m x'] },
            { output_type: 'display_data', data: { 'image/png': 'AAAA' } },
          ],
        },
      ],
    }),
  )
  const { content, images } = await b.use('Read', { file_path: path })
  assert.equal(
    content,
    `${path}: notebook, 2 cells
<cell id="intro" type="markdown">
# Title
text
</cell>
<cell id="cell-1" type="code">
print(1)
<output>
1

E: v
at x
[image/png, shown beside this text]
</output>
</cell>`,
  )
  assert.deepEqual(images, [{ mediaType: 'image/png', data: 'AAAA' }])
})

test('what is named a notebook and is none is shown as text', async (t) => {
  const b = bench(t)
  const path = b.file('n.ipynb', 'not json')
  assert.equal((await b.use('Read', { file_path: path })).content, `1 line in ${path}\n     1\tnot json`)
})

test('a PDF gives the text of its pages', async (t) => {
  const b = bench(t)
  const path = b.file('a.pdf', pdf(12))
  const few = await b.use('Read', { file_path: path, pages: '2-3' })
  assert.equal(
    few.content,
    `${path}: PDF, pages 2-3 of 12\n--- page 2 ---\nThis is page 2\n--- page 3 ---\nThis is page 3`,
  )
  const all = await b.use('Read', { file_path: path })
  assert.deepEqual([all.isError, all.content], [true, `${path} has 12 pages; name at most 20 of them in pages ("1-5")`])
  const bad = await b.use('Read', { file_path: path, pages: 'two' })
  assert.deepEqual([bad.isError, bad.content], [true, 'pages is "two"; write one page ("3") or a range ("1-5")'])
  const broken = await b.use('Read', { file_path: b.file('b.pdf', '%PDF-1.7 and nothing more') })
  assert.deepEqual([broken.isError, /cannot be read as a PDF/.test(broken.content)], [true, true])
})

test('a link swapped after it was judged is not followed', async (t) => {
  const b = bench(t)
  b.file('outside/secret', 'secret\n')
  const judged = b.file('inside/plain', 'plain\n')
  execFileSync('rm', ['-r', join(b.folder, 'inside')])
  symlinkSync(join(b.folder, 'outside'), join(b.folder, 'inside'))
  b.file('outside/plain', 'other\n')
  const { content, isError } = await b.use('Read', { file_path: judged }, { judgedPath: judged })
  assert.deepEqual(
    [isError, content],
    [true, `${judged} now leads somewhere else than when it was judged; read it again`],
  )
})

test('the first lines of a file of a gigabyte take no more than those lines', async (t) => {
  const b = bench(t)
  const path = b.file('large.txt', `${Array.from({ length: 70_000 }, (_, i) => `line ${i + 1}`).join('\n')}\n`)
  truncateSync(path, 1_073_741_824)
  const before = process.memoryUsage().rss
  const { content } = await b.use('Read', { file_path: path, limit: 3 })
  assert.equal(
    content,
    `${path}: lines 1-3; the file of 1.0 GB goes on; read on with offset 4\n     1\tline 1\n     2\tline 2\n     3\tline 3`,
  )
  assert.ok(process.memoryUsage().rss - before < 50_000_000)
})

test('an interrupted read says so', async (t) => {
  const b = bench(t)
  const path = b.file('a.txt', 'x\n'.repeat(100_000))
  const { content, isError } = await b.use('Read', { file_path: path }, { signal: AbortSignal.abort() })
  assert.deepEqual([isError, content], [true, `reading ${path} was interrupted`])
})

/** A PDF of so many pages, each saying its number. */
function pdf(pages: number): Buffer {
  const objects: string[] = []
  const kids = Array.from({ length: pages }, (_, i) => `${3 + i * 2} 0 R`).join(' ')
  const font = 3 + pages * 2
  objects.push('<< /Type /Catalog /Pages 2 0 R >>', `<< /Type /Pages /Kids [${kids}] /Count ${pages} >>`)
  for (let i = 0; i < pages; i++) {
    const text = `BT /F1 12 Tf 20 100 Td (This is page ${i + 1}) Tj ET`
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents ${4 + i * 2} 0 R /Resources << /Font << /F1 ${font} 0 R >> >> >>`,
      `<< /Length ${text.length} >>\nstream\n${text}\nendstream`,
    )
  }
  objects.push('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>')
  let out = '%PDF-1.4\n'
  const at: number[] = []
  for (const [i, object] of objects.entries()) {
    at.push(out.length)
    out += `${i + 1} 0 obj\n${object}\nendobj\n`
  }
  const rows = at.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  out += `xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${out.length}\n%%EOF\n`
  return Buffer.from(out, 'latin1')
}

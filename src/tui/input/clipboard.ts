/** An image out of the system's clipboard, by the program that the system has for it. */
import type { Image } from './attachments.ts'

export type Pasted = { readonly ok: true; readonly image: Image } | { readonly ok: false; readonly why: string }

interface Reader {
  readonly program: string
  readonly words: readonly string[]
  /** What the program prints, as bytes of an image; empty when the clipboard holds none. */
  decode(printed: Buffer): Buffer
}

const asIs = (printed: Buffer): Buffer => printed

const wayland: Reader = { program: 'wl-paste', words: ['--no-newline', '--type', 'image/png'], decode: asIs }
const x11: Reader = {
  program: 'xclip',
  words: ['-selection', 'clipboard', '-target', 'image/png', '-out'],
  decode: asIs,
}
const mac: Reader = {
  program: 'osascript',
  words: ['-e', 'get the clipboard as «class PNGf»'],
  // «data PNGf89504E47…»
  decode: (printed) => Buffer.from(/«data PNGf([0-9A-F]*)»/i.exec(printed.toString('utf8'))?.[1] ?? '', 'hex'),
}
const windows: Reader = {
  program: 'powershell.exe',
  words: [
    '-NoProfile',
    '-Command',
    'Add-Type -AssemblyName System.Drawing; $i = Get-Clipboard -Format Image; if ($i) { $m = New-Object IO.MemoryStream; $i.Save($m, [Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($m.ToArray()) }',
  ],
  decode: (printed) => Buffer.from(printed.toString('utf8').trim(), 'base64'),
}

/** In the order in which they are tried. */
export function readersFor(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): readonly Reader[] {
  if (platform === 'darwin') return [mac]
  if (platform === 'win32') return [windows]
  const own = env['WAYLAND_DISPLAY'] ? [wayland, x11] : [x11, wayland]
  return env['WSL_DISTRO_NAME'] ? [windows, ...own] : own
}

/** What the providers take at most. */
const largestImage = 5 * 1024 * 1024
const patienceMs = 5_000
const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

export async function imageFromClipboard(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): Promise<Pasted> {
  const readers = readersFor(platform, env)
  let found = false
  for (const reader of readers) {
    const printed = await run(reader, env)
    if (printed === undefined) continue
    found = true
    const bytes = reader.decode(printed)
    if (bytes.length > largestImage) return { ok: false, why: 'The image in the clipboard is larger than 5 MB.' }
    if (bytes.subarray(0, 8).equals(pngSignature))
      return { ok: true, image: { mediaType: 'image/png', data: bytes.toString('base64') } }
  }
  if (found) return { ok: false, why: 'There is no image in the clipboard.' }
  const names = readers.map(({ program }) => program).join(' or ')
  return {
    ok: false,
    why: `No program can read images from the clipboard; install ${names}, or paste the path of an image.`,
  }
}

/** What it prints; undefined when there is no such program. One that fails has nothing to give. */
function run({ program, words }: Reader, env: NodeJS.ProcessEnv): Promise<Buffer | undefined> {
  const { execFile } = process.getBuiltinModule('node:child_process') // late: a start does without it
  return new Promise((resolve) => {
    const limits = { env, encoding: 'buffer' as const, timeout: patienceMs, maxBuffer: 4 * largestImage }
    execFile(program, words, limits, (error, stdout) => {
      if (error && (error as NodeJS.ErrnoException).code === 'ENOENT') resolve(undefined)
      else resolve(error ? Buffer.alloc(0) : stdout)
    })
  })
}

import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { imageFromClipboard, readersFor } from './clipboard.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** A PATH on which only the named programs are, each a shell script. */
function path(t: TestContext, programs: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'ona-clipboard-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(folder, name), 0o755)
  }
  return folder
}

const decode = `/usr/bin/env -S PATH=/usr/bin:/bin base64 -d`

test('an image is read by the program of each system, in its own format', async (t) => {
  const image = { ok: true, image: { mediaType: 'image/png', data: png } }
  const PATH = path(t, {
    xclip: `[ "$*" = "-selection clipboard -target image/png -out" ] && echo ${png} | ${decode}`,
    'wl-paste': `[ "$*" = "--no-newline --type image/png" ] && echo ${png} | ${decode}`,
    osascript: `echo '«data PNGf${Buffer.from(png, 'base64').toString('hex').toUpperCase()}»'`,
    'powershell.exe': `printf '%s\\r\\n' ${png}`,
  })
  for (const [platform, env] of [
    ['linux', {}],
    ['linux', { WAYLAND_DISPLAY: 'wayland-0' }],
    ['linux', { WSL_DISTRO_NAME: 'Ubuntu' }],
    ['darwin', {}],
    ['win32', {}],
  ] as const)
    assert.deepEqual(await imageFromClipboard({ PATH, ...env }, platform), image, platform)
})

test('what is missing is said: the program, or the image', async (t) => {
  assert.deepEqual(await imageFromClipboard({ PATH: path(t, {}) }, 'linux'), {
    ok: false,
    why: 'No program can read images from the clipboard; install xclip or wl-paste, or paste the path of an image.',
  })
  const none = { ok: false, why: 'There is no image in the clipboard.' }
  assert.deepEqual(await imageFromClipboard({ PATH: path(t, { xclip: 'exit 1' }) }, 'linux'), none)
  assert.deepEqual(await imageFromClipboard({ PATH: path(t, { xclip: 'echo some text' }) }, 'linux'), none)
  assert.deepEqual(
    await imageFromClipboard({ PATH: path(t, { osascript: 'echo "no image" >&2; exit 1' }) }, 'darwin'),
    none,
  )
})

test('a Wayland session asks Wayland first', () => {
  const names = (env: NodeJS.ProcessEnv) => readersFor('linux', env).map(({ program }) => program)
  assert.deepEqual(
    [names({ WAYLAND_DISPLAY: 'w' }), names({})],
    [
      ['wl-paste', 'xclip'],
      ['xclip', 'wl-paste'],
    ],
  )
})

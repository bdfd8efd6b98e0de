/** Files that are odd or hostile, in the place of a file that a policy changes: kept byte for byte, or nothing is written at all. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { hosts } from '../../hosts/index.ts'
import { applyPolicy, removePolicy } from './apply.ts'
import { compilePolicy } from './compile.ts'
import { makePolicy } from './policy.ts'

const gemini = '/etc/gemini-cli/settings.json'
const opencode = '/etc/opencode/opencode.json'
const cursor = '/etc/cursor/hooks.json'
const codex = '/etc/codex/requirements.toml'
const state = '/etc/ona/policy-state.json'
const dropIn = '/etc/claude-code/managed-settings.d/50-ona.json'
const isRoot = process.getuid?.() === 0

type Put = (path: string) => void
const bytes =
  (content: string | Buffer): Put =>
  (path) =>
    writeFileSync(path, content)
const deep = `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`

/** Applied and removed again: every byte, mode and owner as before. */
const kept: [name: string, path: string, put: Put][] = [
  ['folders that are empty', gemini, (path) => mkdirSync(join(path, '../policies'))],
  ['CRLF', gemini, bytes('{\r\n  "ui": {}\r\n}\r\n')],
  ['comments', gemini, bytes('// mine\n{ /* b */ "a": 1 } // c\n')],
  ['a trailing comma', opencode, bytes('{"plugin":["./a.ts",],}\n')],
  ['no newline at the end', cursor, bytes('{"version":1}')],
  ['an empty file', gemini, bytes('')],
  ['blank lines alone', gemini, bytes('\n \n\t\n')],
  ['an empty object', opencode, bytes('{}')],
  ['tabs and one line', cursor, bytes('{\t"version":1,"hooks":{"preToolUse":[]}}')],
  ['deep nesting', gemini, bytes(deep)],
  ['a megabyte', gemini, bytes(`{"note":"${'x'.repeat(1 << 20)}"}`)],
  ['letters beyond ASCII', opencode, bytes('{"ü":"日本語 🦊"}')],
  ['escapes in keys', gemini, bytes('{"\\u0061\\/":"\\u0000"}')],
  ['a key of the prototype', gemini, bytes('{"__proto__":{"hooks":1},"constructor":2}')],
  ['hooks of others', cursor, bytes('{"version":1,"hooks":{"preToolUse":[{"command":"./mine"}]}}')],
  ['a permission that is one word', opencode, bytes('{"permission":"ask"}')],
  ['TOML with CRLF', codex, bytes('allowed_sandbox_modes = ["read-only"]\r\n[mcp_servers.x]\r\ncommand = "y"\r\n')],
  ['TOML without a newline', codex, bytes('a = 1')],
  ['TOML that mentions our tables in a text', codex, bytes('note = """\nhooks\nrules\n"""\n')],
  [
    'a mode of its own',
    gemini,
    (path) => {
      writeFileSync(path, '{"a":1}')
      chmodSync(path, 0o640)
    },
  ],
  ...(isRoot
    ? ([
        [
          'an owner of its own',
          opencode,
          (path) => {
            writeFileSync(path, '{"a":1}')
            chownSync(path, 12345, 12345)
          },
        ],
      ] as [string, string, Put][])
    : []),
]

/** Nothing is written anywhere, and the message says why. */
const refused: [name: string, path: string, put: Put, why: RegExp][] = [
  ['a byte order mark', gemini, bytes('\ufeff{"a":1}'), /settings\.json:1:1/],
  ['half an object', gemini, bytes('{ "hooks": '), /settings\.json:1:\d+/],
  ['a list', gemini, bytes('[1]'), /must hold one JSON object/],
  ['null', opencode, bytes('null'), /must hold one JSON object/],
  ['two objects', cursor, bytes('{}{}'), /hooks\.json:1:\d+/],
  ['a key twice', gemini, bytes('{"hooks":{},"hooks":{"BeforeTool":[]}}'), /the key "hooks" is there twice/],
  ['invalid UTF-8', gemini, bytes(Buffer.from([0x7b, 0xff, 0xfe, 0x7d])), /not UTF-8/],
  ['UTF-16', cursor, bytes(Buffer.from('{}', 'utf16le')), /./],
  ['a NUL', opencode, bytes('{"a":1}\0'), /opencode\.json:1:\d+/],
  ['hooks that are no list', gemini, bytes('{"hooks":{"BeforeTool":{}}}'), /hooks\.BeforeTool must be a list/],
  ['a plugin that is no list', opencode, bytes('{"plugin":"x"}'), /plugin must be a list/],
  ['a symbolic link', gemini, (path) => symlinkSync('other.json', path), /symbolic link/],
  ['a link that leads nowhere', opencode, (path) => symlinkSync('/nowhere', path), /symbolic link/],
  ['a folder', gemini, (path) => mkdirSync(path), /folder/],
  ['a pipe', cursor, (path) => void spawnSync('mkfifo', [path]), /pipe or a device/],
  ['17 MiB', gemini, bytes(`{"n":"${'x'.repeat(17 << 20)}"}`), /over \d+ bytes/],
  ['a TOML table of ours', codex, bytes('[features]\nhooks = false\n'), /already has features/],
  ['a TOML array of ours', codex, bytes('[[hooks.Stop]]\n'), /already has hooks/],
  ['a TOML key of ours, inline', codex, bytes('features = { hooks = false }\n'), /already has features/],
  ['a dotted TOML key of ours', codex, bytes('features.hooks = false\n'), /already has features/],
  ['a quoted TOML table of ours', codex, bytes('["rules"]\nprefix_rules = []\n'), /already has rules/],
  ['somebody else’s drop-in of our name', dropIn, bytes('{"mine":1}'), /was not written by ona/],
  [
    'somebody else’s policy of our name',
    '/etc/gemini-cli/policies/50-ona.toml',
    bytes('# mine'),
    /was not written by ona/,
  ],
  ['somebody else’s guard', '/etc/ona/policy/guard.cjs', bytes('evil'), /was not written by ona/],
  ['a folder that is a link', '/etc/codex', (path) => symlinkSync('elsewhere', path), /symbolic link/],
  ['a policy folder that is a link', '/etc/ona/policy', (path) => symlinkSync('elsewhere', path), /symbolic link/],
  ['a state that is not ours', state, bytes('{"version":7}'), /is not what ona wrote/],
  ['a state that is no JSON', state, bytes('not json'), /is not what ona wrote/],
]

const policy = makePolicy(
  [
    {
      permissions: { deny: ['Bash(rm -rf *)', 'Read(**/.env)'], ask: ['Bash(git push *)'], allow: ['Bash(npm test)'] },
    },
  ],
  [],
)

/** Everything below a folder: kind, mode, owner and bytes. */
function everything(root: string): unknown[] {
  return readdirSync(root, { recursive: true })
    .map(String)
    .sort()
    .map((name) => {
      const path = join(root, name)
      const stat = lstatSync(path)
      const content = stat.isFile() ? readFileSync(path, 'latin1') : stat.isSymbolicLink() ? readlinkSync(path) : ''
      return [name, stat.mode, stat.uid, content]
    })
}

for (const [name, path, put, why] of [...kept, ...refused] as [string, string, Put, RegExp?][])
  test(`${path} with ${name} is ${why ? 'refused, and nothing is written' : 'restored byte for byte'}`, async (t) => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-odd-')))
    t.after(() => rmSync(root, { recursive: true, force: true }))
    mkdirSync(dirname(join(root, path)), { recursive: true })
    put(join(root, path))
    const before = everything(root)
    const compiled = compilePolicy(policy, { hosts, repo: root, node: process.execPath, platform: 'linux' })
    if (why) await assert.rejects(applyPolicy(compiled, { root, force: false }), why)
    else {
      await applyPolicy(compiled, { root, force: false })
      assert.notDeepEqual(everything(root), before)
      await removePolicy({ root, force: false })
    }
    assert.deepEqual(everything(root), before)
  })

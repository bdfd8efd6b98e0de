/** What is published: the manual page, the completion, the engines, the container file, and the examples on any Node. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { manPage } from '../scripts/build-man.ts'
import { flags } from '../src/cli/flags.ts'
import { commands, flagCommands } from '../src/cli/table.ts'

const root = join(import.meta.dirname, '..')
const textOf = (path: string) => readFileSync(join(root, path), 'utf8')
const manifest = JSON.parse(textOf('package.json')) as {
  version: string
  engines: { node: string }
  man: readonly [string]
  files: string[]
  scripts: Record<string, string>
}

test('the manual page names every command and flag, and groff has nothing to complain about', (t) => {
  const page = manPage(manifest.version)
  assert.equal(textOf(manifest.man[0]), page, 'the build writes it')
  const plain = page.replaceAll('\\-', '-')
  for (const name of [
    ...Object.keys(commands).map((each) => `ona ${each}`),
    ...Object.keys(flagCommands),
    ...Object.keys(flags).map((each) => `--${each}`),
  ])
    assert.ok(plain.includes(name), name)
  const groff = spawnSync('groff', ['-man', '-ww', '-Tutf8', '-Kutf8'], { input: page, encoding: 'utf8' })
  if (groff.error) return t.diagnostic('groff is not installed')
  assert.deepEqual([groff.status, groff.stderr], [0, ''])
  assert.match(groff.stdout, /ona/)
})

test('engines says what bin/ona.mjs asks for, and the files of the package are there', () => {
  const [, major, minor] = /major > (\d+) \|\| \(major === \1 && minor >= (\d+)\)/.exec(textOf('bin/ona.mjs'))!
  assert.equal(manifest.engines.node, `>=${major}.${minor}`)
  assert.ok(
    manifest.files.some((path) => manifest.man[0].startsWith(`./${path}`)),
    'npm links a page only from a list',
  )
  for (const path of manifest.files) assert.ok(existsSync(join(root, path)), path)
  // a tarball has no scripts/: what npm runs on installing it must not need them
  for (const name of ['preinstall', 'install', 'postinstall']) assert.equal(manifest.scripts[name], undefined, name)
  const [program, script, ...more] = manifest.scripts['prepare']!.split(' ')
  assert.deepEqual([program, more], ['node', []])
  assert.ok(manifest.files.some((path) => script!.startsWith(`${path}/`)))
  assert.ok(existsSync(join(root, script!)))
})

test('the container file: a named base, no package lists left behind, an unprivileged user, words and not a shell', () => {
  const lines = textOf('action/Containerfile')
    .replaceAll(/ \\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const [from] = lines
  const [, nodeMajor] = /^FROM docker\.io\/library\/node:(\d+)-slim$/.exec(from!)!
  assert.ok(Number(nodeMajor) >= 24)
  const names = lines.map((line) => line.split(' ')[0])
  for (const name of names) assert.match(name!, /^(FROM|RUN|ARG|USER|WORKDIR|ENTRYPOINT|CMD|COPY|ENV|LABEL)$/)
  for (const line of lines.filter((each) => each.includes('apt-get install')))
    assert.match(line, /--no-install-recommends.*rm -rf \/var\/lib\/apt\/lists/)
  const [, folder] = /WORKDIR (\S+)/.exec(lines.join('\n'))!
  assert.ok(
    lines.some((line) => line.includes(`safe.directory ${folder}`)),
    'git refuses a folder of another user',
  )
  assert.ok(names.lastIndexOf('USER') > names.lastIndexOf('RUN'), 'nothing runs as root when it is started')
  assert.doesNotMatch(lines.find((line) => line.startsWith('USER'))!, /root|\b0\b/)
  for (const line of lines.filter((each) => /^(ENTRYPOINT|CMD)/.test(each)))
    assert.doesNotThrow(() => JSON.parse(line.replace(/^\w+ /, '')))
})

test('npm run example runs an example on the Node that comes with the checkout, whichever the system has', () => {
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: tmpdir(), npm_config_update_notifier: 'false' }
  const run = spawnSync('npm', ['run', '--silent', 'example', '--', 'examples/sdk/guarded-writer.ts'], {
    ...{ cwd: root, encoding: 'utf8', timeout: 120_000, env },
  })
  assert.deepEqual([run.status, run.stdout.trim() !== ''], [0, true], run.stderr)
})

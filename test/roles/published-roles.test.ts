/** Roles packages of the shape in which they are published: `rhachet run` and `rhachet roles boot` as hooks, onTalk, boot filters. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { packageRoot } from '../../src/package-root.ts'
import { publishedFiles, publishedIndex } from '../support/published-roles.ts'

function garage(t: TestContext, more: Record<string, string> = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-published-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const repo = join(root, 'repo')
  const files = { ...publishedFiles, ...more }
  mkdirSync(join(repo, '.git'), { recursive: true })
  mkdirSync(join(root, 'home'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(repo, path)), { recursive: true })
    writeFileSync(join(repo, path), text)
    if (path.endsWith('.sh')) chmodSync(join(repo, path), 0o755)
  }
  mkdirSync(join(repo, 'node_modules/.bin'), { recursive: true })
  for (const name of ['rhachet', 'rhx', 'ona'])
    symlinkSync(join(packageRoot, 'bin/ona.mjs'), join(repo, 'node_modules/.bin', name))
  const run = (name: string, words: readonly string[], { input = '', cwd = repo } = {}) => {
    const env = { ...process.env, HOME: join(root, 'home'), NO_COLOR: '1' }
    const program = join(repo, 'node_modules/.bin', name)
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
      cwd,
      env,
      input,
      encoding: 'utf8',
    })
    return { status, stdout, stderr }
  }
  const put = (path: string, text: string) => writeFileSync(join(repo, path), text)
  const text = (path: string) => readFileSync(join(repo, path), 'utf8')
  return { repo, root, run, put, text, has: (path: string) => existsSync(join(repo, path)) }
}

const commandsOf = (settings: string) =>
  Object.entries(
    JSON.parse(settings).hooks as Record<string, { matcher?: string; hooks: { command: string }[] }[]>,
  ).flatMap(([event, groups]) =>
    groups.map(
      ({ matcher, hooks }) =>
        `${event} ${matcher ?? '-'} ${hooks[0]!.command.replace(/^.*?(--init |roles boot|echo)/, '$1')}`,
    ),
  )

test('a published roles package: each hook is judged by itself, and the rest goes on', (t) => {
  const { run, text } = garage(t)
  const { status, stderr } = run('rhachet', ['init', '--roles', 'mechanic', '--hooks'])
  assert.equal(status, 0, stderr)
  assert.match(stderr, /onBoot\[2\]\.filter: "PreTeleport" is no start of a context.*; the hook is left out/)
  assert.match(stderr, /onBrain\.onTeleport: unknown event; its hooks are left out/)
  assert.deepEqual(commandsOf(text('.claude/settings.json')), [
    'SessionStart - roles boot --repo ehmpathy --role mechanic',
    'SessionStart compact --init claude.hooks/postcompact.remind',
    'UserPromptSubmit - --init claude.hooks/userpromptsubmit.hello',
    'PreToolUse Bash --init claude.hooks/pretooluse.check',
    'PreToolUse EnterPlanMode --init claude.hooks/plan',
    'PostToolUse Write|Edit --init claude.hooks/posttooluse.note',
  ])
  const strict = run('rhachet', ['init', '--hooks', '--strict'])
  assert.deepEqual([strict.status, /--strict: 2 of these/.test(strict.stderr)], [1, true])
})

test('its hooks run: rhachet run finds the init of a linked role and passes everything through', (t) => {
  const { run } = garage(t)
  assert.equal(run('rhachet', ['init', '--roles', 'mechanic']).status, 0)
  const words = ['run', '--repo', 'ehmpathy', '--role', 'mechanic', '--init', 'claude.hooks/pretooluse.check']
  const fine = run('rhachet', words, { input: '{"tool_input":{"command":"ls"}}\n' })
  assert.deepEqual([fine.status, fine.stdout], [0, ''])
  assert.equal(
    fine.stderr,
    `rhachet run: .agent/repo=ehmpathy/role=mechanic/inits/claude.hooks/pretooluse.check.sh\nargs: ${words.slice(1).join(' ')}\n`,
  )
  const no = run('rhachet', words, { input: '{"tool_input":{"command":"forbidden"}}\n' })
  assert.deepEqual([no.status, no.stderr.includes('not in this garage')], [2, true])
  // a name with dots between folders, without roles named
  assert.equal(run('rhachet', ['run', '--init', 'claude.hooks.pretooluse.check.sh'], { input: 'x\n' }).status, 0)
  const tow = run('rhx', ['tow', '--far', 'x'], { input: 'rope' })
  assert.deepEqual([tow.status, tow.stdout], [7, 'tow --skill tow --far x\nrope'])
})

test('rhachet roles boot prints the briefs and skills of the role as boot.yml chooses', (t) => {
  const { run } = garage(t)
  assert.equal(run('rhachet', ['init', '--roles', 'mechanic']).status, 0)
  const { status, stdout } = run('rhachet', ['roles', 'boot', '--repo', 'ehmpathy', '--role', 'mechanic'])
  assert.equal(status, 0)
  const folder = '.agent/repo=ehmpathy/role=mechanic'
  assert.equal(
    stdout,
    `<role repo="ehmpathy" name="mechanic">
<stats>3 files, 50 bytes, about 13 tokens</stats>
<brief path="${folder}/briefs/clean.md">
Keep it clean.
</brief>
<brief path="${folder}/briefs/long.md" />
<skill path="${folder}/skills/tow.sh">
#!/bin/sh
echo "tow $*"; cat; exit 7
</skill>
</role>
`,
  )
  assert.deepEqual(run('rhachet', ['roles', 'boot', '--role', 'painter', '--if-present']), {
    status: 0,
    stdout: '',
    stderr: '',
  })
  assert.equal(run('rhachet', ['roles', 'boot', '--role', 'painter']).status, 1)
})

test('as rhachet nothing of ours exits with 2, which would refuse a tool', (t) => {
  const { run } = garage(t)
  for (const words of [
    ['teleport'],
    ['run'],
    ['run', '--init', 'nothing'],
    ['run', '--init'],
    ['roles', 'sing'],
    ['roles', 'boot', '--wat'],
    ['init', '--wat'],
    ['init'],
  ])
    assert.equal(run('rhachet', words, { input: '{}' }).status, 1, words.join(' '))
  assert.equal(run('ona', ['init']).status, 2)
})

test('all linked roles are synced; -NAME unlinks, and its hooks go', (t) => {
  const { run, text, has } = garage(t)
  assert.equal(run('ona', ['init', '--roles', 'mechanic']).status, 0)
  assert.equal(run('ona', ['init', '--roles', '+driver', '--hooks']).status, 0)
  assert.equal(commandsOf(text('.claude/settings.json')).length, 7)
  assert.equal(run('ona', ['init', '--hooks', '--check']).status, 0)
  const { status, stderr } = run('ona', ['init', '--roles', '-mechanic', '--hooks'])
  assert.equal(status, 0, stderr)
  assert.deepEqual(commandsOf(text('.claude/settings.json')), ['Stop - echo parked'])
  assert.deepEqual([has('.agent/repo=ehmpathy/role=mechanic'), has('.agent/repo=ehmpathy/role=driver')], [false, true])
})

test('a role that its package renames loses its hooks; one whose package cannot be read keeps them, with exit 1', (t) => {
  const { run, text, put } = garage(t)
  assert.equal(run('ona', ['init', '--roles', 'driver', '--hooks']).status, 0)
  const broken = 'node_modules/rhachet-roles-ehmpathy/index.cjs'
  put(broken, 'throw new Error("flat tyre")')
  const kept = run('ona', ['init', '--hooks'])
  assert.deepEqual([kept.status, /flat tyre/.test(kept.stderr)], [1, true])
  assert.equal(commandsOf(text('.claude/settings.json')).length, 1)
  put(broken, publishedIndex.replace("slug: 'driver'", "slug: 'pilot'"))
  assert.equal(run('ona', ['init', '--hooks', '--check']).status, 1)
  const gone = run('ona', ['init', '--hooks'])
  assert.equal(gone.status, 0, gone.stderr)
  assert.match(
    gone.stderr,
    /repo=ehmpathy\/role=driver is linked and nothing declares it any more; ona init --roles -driver unlinks it/,
  )
  assert.equal(text('.claude/settings.json'), '{}\n')
  assert.equal(run('ona', ['init', '--roles', '-driver']).status, 0)
})

test('hooks that rhachet wrote are taken over, and --check tells drift without writing', (t) => {
  const handler = { type: 'command', command: 'echo parked', timeout: 5, author: 'repo=ehmpathy/role=driver' }
  const settings = `${JSON.stringify({ hooks: { Stop: [{ matcher: '*', hooks: [handler] }] } }, null, 2)}\n`
  const { run, text } = garage(t, { '.claude/settings.json': settings })
  assert.equal(run('ona', ['init', '--roles', 'driver']).status, 0)
  assert.equal(run('ona', ['init', '--hooks', '--check']).status, 1)
  assert.equal(text('.claude/settings.json'), settings)
  assert.equal(run('ona', ['init', '--hooks']).status, 0)
  assert.deepEqual(commandsOf(text('.claude/settings.json')), ['Stop - echo parked'])
  assert.equal(text('.claude/settings.json').includes('"author"'), false)
})

test('from a folder below, the root of the repository is found; an agent of the home folder is only suggested', (t) => {
  const { run, repo, root, text, has } = garage(t, { 'packages/a/package.json': '{}' })
  mkdirSync(join(root, 'home/.codex'))
  writeFileSync(join(root, 'home/.codex/config.toml'), '')
  const { status, stdout } = run('ona', ['init', '--roles', 'driver', '--hooks'], { cwd: join(repo, 'packages/a') })
  assert.equal(status, 0)
  assert.match(stdout, /codex is on this machine \(~\/\.codex\/config\.toml\), .*: ona init --hooks codex/)
  assert.deepEqual(
    [has('.codex'), has('packages/a/.agent'), commandsOf(text('.claude/settings.json')).length],
    [false, false, 1],
  )
  const brains = run('ona', ['hooks', 'brains']).stdout
  assert.match(
    brains,
    /^codex +on this machine \(~\/\.codex\/config\.toml\), not in this repository: ona init --hooks codex$/m,
  )
  assert.equal(run('ona', ['init', '--check']).status, 0)
  assert.equal(run('ona', ['init', '--hooks', 'codex']).status, 0)
  assert.equal(has('.codex/hooks.json'), true)
})

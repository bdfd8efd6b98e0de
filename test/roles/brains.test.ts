/** `ona init --hooks` as a user runs it: a program in a folder, files before and after. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { startModel } from '../../scripts/live/model.ts'
import { packageRoot } from '../../src/package-root.ts'
import { removeFolder } from '../support/remove-folder.ts'
import { runProgram } from '../support/run-program.ts'

/** A repository with these files, and a home folder in which nothing is. */
function repository(t: TestContext, files: Record<string, string> = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-brains-')))
  t.after(() => removeFolder(root))
  const repo = join(root, 'repo')
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(repo, path)), { recursive: true })
    writeFileSync(join(repo, path), text)
  }
  mkdirSync(join(root, 'home'))
  mkdirSync(join(repo, '.git'), { recursive: true })
  for (const [path, text] of Object.entries(files)) put(path, text)
  const ona = async (...words: string[]) => {
    const env = { PATH: process.env['PATH'], HOME: join(root, 'home'), USERPROFILE: join(root, 'home'), NO_COLOR: '1' }
    const { code: status, stdout, stderr } = await runProgram(words, { cwd: repo, env })
    return { status, stdout, stderr }
  }
  const text = (path: string) => readFileSync(join(repo, path), 'utf8')
  const json = (path: string) => JSON.parse(text(path))
  const all = () =>
    globSync(['**/*', '.*/**/*'], { cwd: repo })
      .filter((path) => statSync(join(repo, path)).isFile())
      .sort()
  return { root, repo, put, ona, text, json, all, has: (path: string) => existsSync(join(repo, path)) }
}

const role = (...hooks: string[]) => `
repo: acme
roles:
  - slug: mechanic
    purpose: keeps the engine clean
    briefs: { dirs: briefs }
    hooks:
      onBrain:
${hooks.map((line) => `        ${line}`).join('\n')}
`
const guarded = {
  'ona.roles.yaml': role('onTool: [{ command: node guard.mjs, timeout: PT5S, filter: { what: "Write|Edit" } }]'),
  'briefs/engine.md': 'Keep it clean.\n',
}
const claude = { '.claude/settings.json': '{ "permissions": { "allow": ["Bash(ls)"] } }\n' }
const opencode = {
  '.opencode/opencode.json': '{}\n',
  '.opencode/plugin/mine.ts': 'export const Mine = async () => ({})\n',
}

describe('cli command `init --roles`', () => {
  test('links the role, runs its inits with trust, and does not bind hooks', async (t) => {
    const { ona, has, all, text, json } = repository(t, {
      ...guarded,
      ...claude,
      'ona.roles.yaml': guarded['ona.roles.yaml'].replace(
        '    hooks:',
        '    inits: { exec: [{ cmd: "echo ready > ready.txt" }] }\n    hooks:',
      ),
    })
    const refused = await ona('init', '--roles', 'mechanic')
    assert.deepEqual([refused.status, has('ready.txt'), has('.agent')], [1, false, false])
    assert.match(refused.stderr, /echo ready > ready\.txt {3}\(repo=acme\/role=mechanic\)/)

    const done = await ona('init', '--roles', 'mechanic', '--trust')
    assert.equal(done.status, 0, done.stderr)
    assert.match(done.stderr, /\[1\/1\] echo ready > ready\.txt: done in/)
    assert.equal(text('ready.txt'), 'ready\n')
    assert.equal(text('.agent/repo=acme/role=mechanic/briefs/engine.md'), 'Keep it clean.\n')
    assert.deepEqual(json('.claude/settings.json'), { permissions: { allow: ['Bash(ls)'] } })
    assert.deepEqual(
      all().filter((path) => path.includes('rhachet')),
      [],
    )
    assert.equal((await ona('init', '--roles', 'mechanic')).status, 0, 'a trusted folder is not asked about again')
  })

  test('an unknown role is an error that lists the roles', async (t) => {
    const { ona } = repository(t, guarded)
    const { status, stderr } = await ona('init', '--roles', 'plumber')
    assert.deepEqual([status, stderr], [1, 'ona: there is no role "plumber" here; the roles are: mechanic\n'])
  })

  test('two roles of one name: the error shows how to say which', async (t) => {
    const { ona, json } = repository(t, {
      ...guarded,
      ...claude,
      '.agent/repo=.this/role=mechanic/role.yaml': 'purpose: mine\n',
    })
    const { status, stderr } = await ona('init', '--roles', 'mechanic')
    assert.equal(status, 1)
    assert.match(stderr, /--roles repo=acme\/role=mechanic {3}\(ona\.roles\.yaml\)/)
    assert.match(stderr, /--roles repo=\.this\/role=mechanic/)
    assert.equal((await ona('init', '--roles', 'repo=acme/role=mechanic', '--hooks', 'claudecode')).status, 0)
    assert.equal(
      json('.claude/settings.json').hooks.PreToolUse[0].hooks[0].statusMessage,
      'ona: repo=acme/role=mechanic',
    )
  })
})

describe('cli command `init --hooks`', () => {
  test('with no argument every agent that is found gets the hooks', async (t) => {
    const { ona, json, text } = repository(t, { ...guarded, ...claude, ...opencode })
    const { status, stdout, stderr } = await ona('init', '--roles', 'mechanic', '--hooks')
    assert.deepEqual([status, stderr], [0, ''])
    assert.deepEqual(
      stdout.split('\n').filter((line) => /^\w+ {2}\./.test(line)),
      ['claudecode  .claude/settings.json', 'opencode  .opencode/plugin/rhachet-hooks.ts'],
    )
    assert.deepEqual(json('.claude/settings.json'), {
      permissions: { allow: ['Bash(ls)'] },
      hooks: {
        PreToolUse: [
          {
            matcher: 'Write|Edit',
            hooks: [
              {
                type: 'command',
                command: 'cd "${CLAUDE_PROJECT_DIR:-.}" || exit 1; node guard.mjs',
                timeout: 5,
                statusMessage: 'ona: repo=acme/role=mechanic',
              },
            ],
          },
        ],
      },
    })
    assert.match(text('.opencode/plugin/rhachet-hooks.ts'), /"command":"node guard\.mjs"/)
    assert.equal(text('.opencode/plugin/mine.ts'), opencode['.opencode/plugin/mine.ts'])
  })

  test('with names only those, found or not', async (t) => {
    const { ona, json, has } = repository(t, { ...guarded, ...claude, ...opencode })
    assert.equal((await ona('init', '--roles', 'mechanic', '--hooks', 'codex', 'google/gemini/cli')).status, 0)
    assert.deepEqual([has('.codex/hooks.json'), has('.gemini/settings.json')], [true, true])
    assert.deepEqual(
      [json('.claude/settings.json').hooks, has('.opencode/plugin/rhachet-hooks.ts')],
      [undefined, false],
    )
  })

  test('an unknown name is an error that lists the names, and nothing is written', async (t) => {
    const { ona, all } = repository(t, { ...guarded, ...claude })
    const before = all()
    const { status, stderr } = await ona('init', '--roles', 'mechanic', '--hooks', 'claudecode', 'hal9000')
    assert.equal(status, 1)
    assert.match(stderr, /"hal9000"; available: claudecode, opencode, vscode, copilot, gemini, codex, cursor, ona/)
    assert.deepEqual(all(), before)
  })

  test('without roles the hooks of linked roles are applied again', async (t) => {
    const { ona, json, put } = repository(t, { ...guarded, ...claude })
    assert.equal((await ona('init', '--roles', 'mechanic')).status, 0)
    assert.equal((await ona('init', '--hooks')).status, 0)
    assert.equal(json('.claude/settings.json').hooks.PreToolUse.length, 1)
    put('ona.roles.yaml', role('onStop: [{ command: node wrap.mjs, timeout: { minutes: 1 } }]'))
    assert.equal((await ona('init', '--hooks', 'claudecode')).status, 0)
    assert.deepEqual(Object.keys(json('.claude/settings.json').hooks), ['Stop'])
  })

  test('what a role drops is gone everywhere, and what is not ours stays to the byte', async (t) => {
    const { ona, put, text, all } = repository(t, {
      ...guarded,
      ...claude,
      ...opencode,
      '.codex/config.toml': '',
      '.cursor/rules/a.md': '',
    })
    assert.equal((await ona('init', '--roles', 'mechanic', '--hooks')).status, 0)
    assert.equal(all().filter((path) => /rhachet|hooks\.json/.test(path)).length, 5)
    put('ona.roles.yaml', 'repo: acme\nroles: [{ slug: mechanic, briefs: { dirs: briefs } }]\n')
    assert.equal((await ona('init', '--hooks')).status, 0)
    assert.deepEqual(
      all().filter((path) => path.includes('rhachet')),
      [],
    )
    assert.equal(text('.claude/settings.json'), claude['.claude/settings.json'])
    assert.deepEqual([text('.codex/hooks.json'), JSON.parse(text('.cursor/hooks.json'))], ['{}\n', { version: 1 }])
  })

  test('--dry-run shows a diff of each file and writes nothing', async (t) => {
    const { ona, all, text } = repository(t, { ...guarded, ...claude, ...opencode })
    const before = all()
    const { status, stdout } = await ona('init', '--roles', 'mechanic', '--hooks', '--dry-run')
    assert.equal(status, 0)
    assert.match(stdout, /^\+\+\+ b\/\.claude\/settings\.json$/m)
    assert.match(stdout, /^--- \/dev\/null\n\+\+\+ b\/\.opencode\/plugin\/rhachet-hooks\.ts$/m)
    assert.deepEqual([all(), text('.claude/settings.json')], [before, claude['.claude/settings.json']])
  })

  test('--strict exits 1 and writes nothing where an agent cannot express a hook', async (t) => {
    const { ona, has } = repository(t, {
      'ona.roles.yaml': role('onTool: [{ command: node guard.mjs, timeout: PT5S, filter: { what: Read } }]'),
      'briefs/a.md': '',
    })
    const strict = await ona('init', '--roles', 'mechanic', '--hooks', 'codex', '--strict')
    assert.deepEqual([strict.status, has('.codex')], [1, false])
    assert.match(strict.stdout, /! onTool before Read: node guard\.mjs: Codex has no tool for Read; left out/)
    assert.equal((await ona('init', '--roles', 'mechanic', '--hooks', 'codex')).status, 0)
  })

  test('a broken config is named with line and column, and no agent is touched', async (t) => {
    const { ona, has, text } = repository(t, { ...guarded, ...opencode, '.claude/settings.json': '{\n  "hooks": {\n' })
    const { status, stderr } = await ona('init', '--roles', 'mechanic', '--hooks')
    assert.equal(status, 1)
    assert.match(stderr, /^ona: \.claude\/settings\.json:3:1: close brace expected here; nothing was written/)
    assert.deepEqual(
      [has('.opencode/plugin/rhachet-hooks.ts'), has('.agent'), text('.claude/settings.json')],
      [false, false, '{\n  "hooks": {\n'],
    )
  })

  test('a linked role that cannot be loaded keeps its hooks, with a warning and exit 1', async (t) => {
    const { ona, put, json } = repository(t, { ...guarded, ...claude })
    assert.equal((await ona('init', '--roles', 'mechanic', '--hooks')).status, 0)
    put('ona.roles.yaml', 'repo: acme\nroles: [{ slug: mechanic, hooks: { onBrain: 5 } }]\n')
    const { status, stdout, stderr } = await ona('init', '--hooks')
    assert.equal(status, 1)
    assert.match(stderr, /repo=acme\/role=mechanic cannot be loaded, so its hooks stay as they are/)
    assert.match(stderr, /hooks\.onBrain must be an object, not number/)
    assert.match(stdout, /\? 1 hook of roles that could not be loaded, kept as they are/)
    assert.doesNotMatch(stdout, /no role is linked|no hooks/)
    assert.equal(json('.claude/settings.json').hooks.PreToolUse.length, 1)
    // unlinked by name, its hooks go although its source cannot be read
    const unlinked = await ona('init', '--roles', '-mechanic', '--hooks')
    assert.doesNotMatch(unlinked.stderr, /hooks stay as they are/)
    assert.equal(json('.claude/settings.json').hooks, undefined)
  })

  test('a hook that is declared wrongly is left out with exit 1; the others go in, and what was there of the role stays', async (t) => {
    const { ona, put, json } = repository(t, { ...guarded, ...claude })
    const commands = () =>
      json('.claude/settings.json').hooks.PreToolUse.map(({ hooks }: { hooks: { command: string }[] }) =>
        hooks[0]!.command.replace(/^.*exit 1; /, ''),
      )
    assert.equal((await ona('init', '--roles', 'mechanic', '--hooks')).status, 0)
    const hooks = [
      '{ command: good, timeout: PT5S }',
      '{ command: x, timeout: soon }',
      '{ command: y, timeout: PT5S, filter: { what: "Bash(" } }',
    ]
    const declared = `repo: acme\nroles: [{ slug: mechanic, hooks: { onBrain: { onTool: [${hooks.join(', ')}] } } }]\n`
    put('ona.roles.yaml', declared)
    const { status, stderr } = await ona('init', '--hooks')
    assert.equal(status, 1)
    assert.match(stderr, /onTool\[1\]\.timeout: "soon" is not an ISO 8601 duration.*; the hook is left out/)
    assert.match(
      stderr,
      /onTool\[2\]\.filter\.what is neither a list of tools nor a regular expression: Bash\(; the hook is left out/,
    )
    assert.deepEqual(commands(), ['good', 'node guard.mjs'])
    assert.equal((await ona('init', '--check')).status, 1)
    put('ona.roles.yaml', declared.replace(/, \{ command: x.*?\}, \{ command: y.*?\} \}/, ''))
    assert.equal((await ona('init', '--hooks')).status, 0)
    assert.deepEqual(commands(), ['good'])
    assert.equal((await ona('init', '--check')).status, 0)
  })

  test('a comment in the settings of Claude Code, which would make it ignore them, is an error', async (t) => {
    const settings = '{\n  // mine\n}\n'
    const { ona, text } = repository(t, { ...guarded, '.claude/settings.json': settings })
    const { status, stderr } = await ona('init', '--roles', 'mechanic', '--hooks')
    assert.deepEqual([status, text('.claude/settings.json')], [1, settings])
    assert.match(stderr, /^ona: \.claude\/settings\.json:2:3: Claude Code reads strict JSON/)
  })

  test('where nothing is found it says so', async (t) => {
    const { ona } = repository(t, guarded)
    assert.match((await ona('init', '--hooks')).stdout, /no agent was found/)
  })

  test('the plan as JSON has every change', async (t) => {
    const { ona } = repository(t, { ...guarded, ...claude })
    const { brains } = JSON.parse((await ona('init', '--roles', 'mechanic', '--hooks', '--dry-run', '--json')).stdout)
    assert.deepEqual(brains, [
      {
        slug: 'claudecode',
        title: 'Claude Code',
        config: '.claude/settings.json',
        changes: [
          {
            kind: 'create',
            hook: {
              author: 'repo=acme/role=mechanic',
              event: 'onTool',
              command: 'node guard.mjs',
              timeout: 'PT5S',
              filter: { what: 'Write|Edit' },
            },
          },
        ],
        limits: [],
        notes: [],
        strangers: [],
        unread: 0,
        files: [{ path: '.claude/settings.json', change: 'update' }],
      },
    ])
  })

  test('the resulting configs of all eight are these', async (t) => {
    const { ona, all, text } = repository(t, { ...guarded })
    const eight = ['claudecode', 'opencode', 'vscode', 'copilot', 'gemini', 'codex', 'cursor', 'ona']
    const { status, stdout } = await ona('init', '--roles', 'mechanic', '--hooks', ...eight)
    assert.equal(status, 0)
    const configs = all().filter((path) => /^\.(?!agent)/.test(path))
    const shown = [stdout, ...configs.map((path) => `=== ${path}\n${text(path)}`)].join('\n')
    t.assert.fileSnapshot(shown, join(packageRoot, 'test/fixtures/brains.snapshot.txt'), { serializers: [String] })
  })

  test('wrong usage exits 2 and says what is right', async (t) => {
    const { ona } = repository(t)
    for (const words of [['init'], ['init', '--roles'], ['init', 'mechanic'], ['init', '--hooks', '--force']]) {
      const { status, stderr } = await ona(...words)
      assert.equal(status, 2, words.join(' '))
      assert.match(stderr, /^ona init: /)
    }
    assert.equal((await ona('init', '--help')).status, 0)
  })
})

describe('suppliers', () => {
  const supplier = (name: string) => ({
    [`node_modules/${name}/package.json`]: JSON.stringify({
      name,
      version: '1.0.0',
      type: 'module',
      exports: { import: './index.js' },
    }),
    [`node_modules/${name}/index.js`]: `
      import { readFileSync, writeFileSync, existsSync } from 'node:fs'
      const file = 'hal.json'
      const read = () => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [])
      const write = (hooks) => writeFileSync(file, JSON.stringify(hooks))
      const is = (a) => (b) => ['author', 'event', 'command'].every((key) => a[key] === b[key])
      const upsert = async ({ hook }) => {
        if (hook.command.includes('explode')) throw new Error('HAL cannot do that')
        write([...read().filter((one) => !is(hook)(one)), hook])
        return hook
      }
      export const getBrainHooks = ({ slug }) => slug !== 'hal9000' ? null : { dao: {
        get: { one: async ({ by }) => read().find(is(by.unique)) ?? null, all: async ({ by } = {}) => read().filter((one) => !by?.author || one.author === by.author) },
        set: { upsert, findsert: upsert },
        del: async ({ by }) => write(read().filter((one) => !is(by.unique)(one))),
      } }`,
  })

  test('a package that claims a brain gives its adapter; its hooks come and go like ours', async (t) => {
    const { ona, json, put } = repository(t, {
      ...guarded,
      ...supplier('rhachet-brains-hal'),
      'package.json': '{ "dependencies": { "rhachet-brains-hal": "1" } }',
    })
    const { status, stderr } = await ona('init', '--roles', 'mechanic', '--hooks', 'hal9000')
    assert.deepEqual([status, stderr], [0, ''])
    assert.deepEqual(json('hal.json'), [
      {
        author: 'repo=acme/role=mechanic',
        event: 'onTool',
        command: 'node guard.mjs',
        timeout: 'PT5S',
        filter: { what: 'Write|Edit' },
      },
    ])
    put('ona.roles.yaml', role('{}'))
    assert.equal((await ona('init', '--hooks', 'hal9000')).status, 0)
    assert.deepEqual(json('hal.json'), [])
  })

  test('two packages that claim one brain are both named', async (t) => {
    const { ona } = repository(t, {
      ...guarded,
      ...supplier('rhachet-brains-hal'),
      ...supplier('ona-brains-hal'),
      'package.json': '{ "dependencies": { "rhachet-brains-hal": "1" }, "devDependencies": { "ona-brains-hal": "1" } }',
    })
    const { status, stderr } = await ona('init', '--roles', 'mechanic', '--hooks', 'hal9000')
    assert.equal(status, 1)
    assert.match(stderr, /rhachet-brains-hal and ona-brains-hal both claim the brain "hal9000"/)
  })

  test('when one brain fails, all are as they were', async (t) => {
    const { ona, put, text, json } = repository(t, {
      ...guarded,
      ...claude,
      ...supplier('rhachet-brains-hal'),
      'package.json': '{ "dependencies": { "rhachet-brains-hal": "1" } }',
    })
    assert.equal((await ona('init', '--roles', 'mechanic', '--hooks', 'claudecode', 'hal9000')).status, 0)
    const before = [text('.claude/settings.json'), json('hal.json')]
    put(
      'ona.roles.yaml',
      role('onStop: [{ command: node fine.mjs, timeout: PT5S }, { command: explode, timeout: PT5S }]'),
    )
    const { status, stderr } = await ona('init', '--hooks', 'claudecode', 'hal9000')
    assert.deepEqual([status, stderr], [1, 'ona: hal9000: HAL cannot do that; every agent is as it was\n'])
    assert.deepEqual([text('.claude/settings.json'), json('hal.json')], before)
  })

  test('an adapter that fails when it is looked at is named; the other brains go on, with exit 1', async (t) => {
    const { ona, json } = repository(t, {
      ...guarded,
      ...claude,
      '.codex/config.toml': '',
      'node_modules/rhachet-brains-broken/package.json': '{ "name": "rhachet-brains-broken", "version": "1.0.0" }',
      'node_modules/rhachet-brains-broken/index.js': `
        const fail = async () => { throw 'no fuel' }
        exports.getBrainHooks = ({ brain }) => brain === 'codex' ? { dao: { get: { all: fail, one: fail }, set: {}, del: fail } } : null`,
      'package.json': '{ "dependencies": { "rhachet-brains-broken": "1" } }',
    })
    const { status, stdout, stderr } = await ona('init', '--roles', 'mechanic', '--hooks')
    assert.deepEqual([status, stderr], [1, 'ona: codex: its adapter fails: no fuel; its hooks stay as they are\n'])
    assert.match(stdout, /^codex\n {2}! codex: its adapter fails: no fuel/m)
    assert.equal(json('.claude/settings.json').hooks.PreToolUse.length, 1)
  })

  test('ona hooks brains compares through the package that serves a brain, and says when it may not ask it', async (t) => {
    const { ona } = repository(t, {
      ...guarded,
      ...supplier('rhachet-brains-hal'),
      '.codex/config.toml': '',
      'package.json': '{ "dependencies": { "rhachet-brains-hal": "1" } }',
      'node_modules/rhachet-brains-hal/index.js': supplier('rhachet-brains-hal')[
        'node_modules/rhachet-brains-hal/index.js'
      ]!.replace('hal9000', 'codex'),
    })
    assert.equal((await ona('init', '--roles', 'mechanic', '--hooks')).status, 0)
    const untrusted = await ona('hooks', 'brains')
    assert.match(untrusted.stderr, /rhachet-brains-hal may serve an agent and is not asked: this folder is not trusted/)
    assert.equal((await ona('init', '--hooks', '--trust')).status, 0)
    const { status, stdout } = await ona('hooks', 'brains')
    assert.equal(status, 0)
    assert.match(stdout, /^codex +found by \.codex; 1 installed, 1 as declared$/m)
  })

  test('roles come from packages as well, and say which one', async (t) => {
    const { ona, json, text } = repository(t, {
      ...claude,
      'package.json': '{ "devDependencies": { "rhachet-roles-fleet": "1" } }',
      'node_modules/rhachet-roles-fleet/package.json':
        '{ "name": "rhachet-roles-fleet", "version": "1.0.0", "main": "index.cjs" }',
      'node_modules/rhachet-roles-fleet/skills/tow.sh': 'echo tow\n',
      'node_modules/rhachet-roles-fleet/index.cjs': `exports.getRoleRegistry = () => ({ slug: 'fleet', roles: [
        { slug: 'driver', skills: { dirs: { uri: 'skills' }, refs: [] }, hooks: { onBrain: { onBoot: [{ command: 'echo drive', timeout: 'PT1M' }] } } },
      ] })`,
    })
    const { status, stdout, stderr } = await ona('init', '--roles', 'driver', '--hooks')
    assert.equal(status, 0, stderr)
    assert.match(stdout, /repo=fleet\/role=driver {2}\.agent\/repo=fleet\/role=driver {2}\(rhachet-roles-fleet\)/)
    assert.equal(text('.agent/repo=fleet/role=driver/skills/tow.sh'), 'echo tow\n')
    assert.equal(json('.claude/settings.json').hooks.SessionStart.length, 1)
  })
})

describe('ona role and ona hooks', () => {
  test('ona role new makes a role whose test passes and whose hook goes in', async (t) => {
    const { ona, repo, json } = repository(t, claude)
    const { status, stdout } = await ona('role', 'new', 'warden')
    assert.equal(status, 0)
    const tests = spawnSync(process.execPath, ['--test', '.agent/repo=.this/role=warden/hooks/guard.test.mjs'], {
      cwd: repo,
      encoding: 'utf8',
    })
    assert.equal(tests.status, 0, tests.stdout)
    assert.match(stdout, /role\.yaml/)
    assert.equal((await ona('role', 'new', 'warden')).status, 1)
    assert.equal((await ona('init', '--hooks')).status, 0)
    assert.equal(
      json('.claude/settings.json').hooks.PreToolUse[0].hooks[0].statusMessage,
      'ona: repo=.this/role=warden',
    )
    assert.equal(JSON.parse((await ona('role', 'list', '--json')).stdout).roles[0].author, 'repo=.this/role=warden')
  })

  test('ona hooks brains says who is here, what is installed and what differs', async (t) => {
    const { ona, put, json, text } = repository(t, { ...guarded, ...claude, '.gemini/settings.json': '{}' })
    assert.equal((await ona('init', '--roles', 'mechanic', '--hooks')).status, 0)
    assert.match((await ona('hooks', 'brains')).stdout, /^claudecode +found by \.claude; 1 installed, 1 as declared$/m)
    const settings = json('.claude/settings.json')
    settings.hooks.PreToolUse[0].hooks[0].timeout = 999
    put('.claude/settings.json', JSON.stringify(settings))
    const before = text('.claude/settings.json')
    const { stdout } = await ona('hooks', 'brains')
    assert.match(stdout, /^claudecode +found by \.claude; 1 installed, 1 to change: ona init --hooks claudecode$/m)
    assert.match(stdout, /^gemini +found by \.gemini; 1 installed, 1 as declared$/m)
    assert.match(stdout, /^cursor +not here$/m)
    assert.equal(text('.claude/settings.json'), before)
    assert.deepEqual(JSON.parse((await ona('hooks', 'brains', '--json')).stdout).brains[0].changes[0].kind, 'update')
  })

  test('ona hooks brains runs no program of a folder that is not trusted', async (t) => {
    const { ona, has } = repository(t, {
      ...claude,
      'ona.roles.js': 'require("node:fs").writeFileSync("ran", ""); module.exports = { roles: [] }',
    })
    const { stderr } = await ona('hooks', 'brains')
    assert.equal(has('ran'), false)
    assert.match(stderr, /is a program, and this folder is not trusted/)
  })

  test('ona hooks import makes a role of hooks that a user has, and the agent keeps each of them once', async (t) => {
    const { ona, json, text } = repository(t, {
      '.claude/settings.json': JSON.stringify(
        {
          hooks: {
            PreToolUse: [
              { matcher: 'Bash', hooks: [{ type: 'command', command: '"$CLAUDE_PROJECT_DIR"/check.sh', timeout: 7 }] },
              {
                matcher: 'Write|Edit',
                hooks: [
                  { type: 'command', command: 'lint' },
                  { type: 'prompt', prompt: 'is it good?' },
                ],
              },
            ],
            Stop: [{ hooks: [{ type: 'command', command: 'wrap' }] }],
            Notification: [{ hooks: [{ type: 'command', command: 'ring' }] }],
          },
        },
        null,
        2,
      ),
    })
    const dry = await ona('hooks', 'import', 'claudecode', '--role', 'house', '--dry-run')
    assert.deepEqual([dry.status, dry.stderr], [0, ''])
    const { status, stdout } = await ona('hooks', 'import', 'claudecode', '--role', 'house')
    assert.equal(status, 0)
    assert.match(stdout, /left where it is: .*Notification/)
    assert.match(stdout, /only a hook that is a shell command/)
    assert.equal(
      text('.agent/repo=.this/role=house/role.yaml'),
      `purpose: hooks that came from .claude/settings.json
hooks:
  onBrain:
    onTool:
      - command: ./check.sh
        timeout: PT7S
        filter:
          what: Bash
          when: before
      - command: lint
        timeout: PT600S
        filter:
          what: Write|Edit
          when: before
    onStop:
      - command: wrap
        timeout: PT600S
`,
    )
    const { hooks } = json('.claude/settings.json')
    assert.deepEqual(
      hooks.PreToolUse.flatMap((group: { hooks: { command?: string; type: string }[] }) =>
        group.hooks.map(({ command, type }) => command ?? type),
      ),
      [
        'prompt',
        'cd "${CLAUDE_PROJECT_DIR:-.}" || exit 1; ./check.sh',
        'cd "${CLAUDE_PROJECT_DIR:-.}" || exit 1; lint',
      ],
    )
    assert.deepEqual([hooks.Stop.length, hooks.Notification.length], [1, 1])
    const again = await ona('init', '--hooks', 'claudecode', 'gemini')
    assert.match(again.stdout, /= 3 hooks as declared/)
    assert.deepEqual(Object.keys(json('.gemini/settings.json').hooks), ['BeforeTool', 'AfterAgent'])
  })
})

test('ona hooks import takes hundreds of hooks, and what stays in a group stays', async (t) => {
  const many = Array.from({ length: 400 }, (_, at) => ({ type: 'command', command: `check ${at}`, timeout: 5 }))
  const kept = { type: 'prompt', prompt: 'is it fine?' }
  const alone = many.slice(200).map((hook) => ({ hooks: [hook] }))
  const settings = { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [...many.slice(0, 200), kept] }], Stop: alone } }
  const { ona, json } = repository(t, { '.claude/settings.json': JSON.stringify(settings, null, 2) })
  const { status, stderr } = await ona('hooks', 'import', 'claudecode')
  assert.equal(status, 0, stderr)
  const { PreToolUse, Stop } = json('.claude/settings.json').hooks
  assert.deepEqual([PreToolUse.length, Stop.length, PreToolUse[0]], [201, 200, { matcher: 'Bash', hooks: [kept] }])
  assert.equal((await ona('init', '--check')).status, 0)
})

test('ona hooks import leaves a hook that says more than a role can', async (t) => {
  const handler = (more: object) => ({ type: 'command', command: 'guard', timeout: 5, statusMessage: 'mine', ...more })
  const { ona, json, put } = repository(t)
  const more = { if: 'Bash(git *)', async: true, onFailure: 'block', shell: 'powershell' }
  for (const [key, value] of Object.entries(more)) {
    const settings = {
      hooks: {
        PreToolUse: [
          { matcher: 'Bash', hooks: [handler({ [key]: value })] },
          { matcher: 'Edit', hooks: [handler({ command: 'lint', async: false })] },
        ],
      },
    }
    put('.claude/settings.json', JSON.stringify(settings))
    const { status, stdout } = await ona('hooks', 'import', 'claudecode', '--role', `house-${key}`)
    assert.equal(status, 0)
    assert.match(stdout, new RegExp(`left where it is: .*PreToolUse\\.0\\.hooks\\.0: .*"${key}"`))
    assert.match(stdout, /^ {2}\+ onTool before Edit: lint$/m)
    assert.deepEqual(json('.claude/settings.json').hooks.PreToolUse[0], settings.hooks.PreToolUse[0])
  }
  put('.gemini/settings.json', JSON.stringify({ hooks: { BeforeTool: [{ sequential: true, hooks: [handler({})] }] } }))
  assert.match((await ona('hooks', 'import', 'gemini')).stderr, /BeforeTool\.0\.hooks\.0: .*"sequential"/)
})

describe('ona itself', () => {
  const deed = async (t: TestContext, onBrain: object) => {
    const place = repository(t, {
      'ona.roles.json': JSON.stringify({ repo: 'acme', roles: [{ slug: 'watcher', hooks: { onBrain } }] }),
    })
    assert.equal((await place.ona('init', '--roles', 'watcher', '--hooks', 'ona')).status, 0)
    return place
  }
  /** One turn in which the model wants `echo live > ran.txt` run. */
  const turn = async (place: ReturnType<typeof repository>, t: TestContext) => {
    const model = await startModel('echo live > ran.txt')
    t.after(model.close)
    const env = {
      PATH: process.env['PATH'],
      HOME: join(place.root, 'home'),
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'x',
      NO_COLOR: '1',
    }
    const words = ['-p', 'go', '--trust', '--allowed-tools', 'Bash']
    await runProgram(words, { cwd: place.repo, env })
    return model.requests.map(({ body }) => body).join('\n')
  }

  test('runs the hooks of a role at boot, around its tools and at the end, and the model hears what boot says', async (t) => {
    const note = (word: string) => `cat > /dev/null; echo ${word} >> seen; echo ${word} was here`
    const place = await deed(t, {
      onBoot: [{ command: note('boot'), timeout: 'PT20S' }],
      onTool: [
        { command: note('before'), timeout: 'PT20S', filter: { what: 'Bash' } },
        { command: note('after'), timeout: 'PT20S', filter: { what: 'Bash', when: 'after' } },
        { command: note('write'), timeout: 'PT20S', filter: { what: 'Write' } },
      ],
      onStop: [{ command: note('stop'), timeout: 'PT20S' }],
    })
    const heard = await turn(place, t)
    assert.deepEqual([place.text('seen'), place.text('ran.txt')], ['boot\nbefore\nafter\nstop\n', 'live\n'])
    assert.match(heard, /boot was here/)
  })

  test('a hook that exits 2 keeps the tool from running, and the model hears why', async (t) => {
    const place = await deed(t, {
      onTool: [{ command: 'echo not on my watch >&2; exit 2', timeout: 'PT20S', filter: { what: 'Bash' } }],
    })
    const heard = await turn(place, t)
    assert.equal(place.has('ran.txt'), false)
    assert.match(heard, /not on my watch/)
  })

  test('a role that is declared in code changes what ona is asked and what a tool is run with', async (t) => {
    const place = repository(t, {
      'ona.roles.mjs': `export const roles = [{ slug: 'editor', hooks: { onDispatch: {
        onInvokeAskInput: (input) => ({ ...input, ask: input.ask + ' politely' }),
        onInvokeActInput: ({ skill, input }) => ({ skill, input: { ...input, command: input.command.replace('live', 'changed') } }),
      } } }]`,
    })
    assert.equal((await place.ona('init', '--roles', 'editor')).status, 0)
    const heard = await turn(place, t)
    assert.match(heard, /go politely/)
    assert.equal(place.text('ran.txt'), 'changed\n')
  })
})

test('ona/brains gives what the documents name', {
  skip: !existsSync(join(packageRoot, 'dist/brains.cjs')) && 'there is no build',
}, () => {
  const code = `import * as brains from 'ona/brains'; console.log(JSON.stringify(Object.keys(brains)))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: packageRoot,
    encoding: 'utf8',
  })
  const names: string[] = JSON.parse(stdout || '[]')
  for (const name of [
    'syncRoleHooksIntoBrainRepl',
    'getBrainHooksAdapterByConfigImplicit',
    'detectBrainReplsInRepo',
    'getBrainHooks',
    'applyOnAsk',
    'applyOnAct',
    'planSync',
    'applySync',
  ])
    assert.ok(names.includes(name), `${name} ${stderr}`)
  assert.ok(existsSync(join(packageRoot, 'dist/types/brains/index.d.ts')))
})

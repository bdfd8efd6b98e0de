/**
 * Programs whose command line does not name what they write. Each line runs for real in a throw-away project and changes
 * what governs agents there (the control); no allow rule, mode or bare `Bash` may let it pass without a prompt.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
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
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { PermissionMode } from '../../src/hooks/plane.ts'
import { decide } from '../../src/permissions/decide.ts'

const home = realpathSync(mkdtempSync(join(tmpdir(), 'ona-writers-')))
after(() => rmSync(home, { recursive: true, force: true }))
const seed = join(home, 'seed')
const work = join(home, 'work')

const env = { PATH: process.env['PATH'], HOME: home, GIT_CONFIG_NOSYSTEM: '1' }
const run = (command: string, cwd: string) => spawnSync('/bin/bash', ['-c', command], { cwd, env, encoding: 'utf8' })

/** A project with the packed canary in every form. Guards: `.claude/settings.json`, `.git/hooks`, `.git/config`, `.ona`. */
function prepare(): void {
  mkdirSync(join(seed, '.claude'), { recursive: true })
  writeFileSync(join(seed, '.claude/settings.json'), 'kept\n')
  writeFileSync(join(seed, 'a.txt'), 'x\n')
  const payload = join(home, 'payload')
  mkdirSync(join(payload, '.claude'), { recursive: true })
  mkdirSync(join(payload, '.ona/agents'), { recursive: true })
  writeFileSync(join(payload, '.claude/settings.json'), 'canary\n')
  writeFileSync(join(payload, '.ona/agents/a.md'), 'canary\n')
  const made = run(
    `set -e; git init -q; git -c user.name=a -c user.email=a@b add -A; git -c user.name=a -c user.email=a@b commit -qm x
    (cd ../payload && tar cf ../seed/p.tar . && zip -qr ../seed/p.zip . && find . | cpio -o > ../seed/p.cpio 2>/dev/null || true)
    mkdir b && cp -r ../payload/. b/ && cp -r ../payload/.ona notona
    printf '%s\\n' '--- a/.claude/settings.json' '+++ b/.claude/settings.json' '@@ -1 +1 @@' '-kept' '+canary' > p.patch`,
    seed,
  )
  assert.equal(made.status, 0, made.stderr)
}
prepare()

interface Attack {
  readonly line: string
  /** Not installed everywhere: the line is judged, and not run. */
  readonly judgedOnly?: true
}

const attacks: readonly Attack[] = [
  ...['tar xf p.tar', 'tar -xf p.tar', 'tar --extract --file p.tar', 'tar x -f p.tar -C .', 'tar xf p.tar -C ../work'],
  ...[
    'cat p.tar | tar x',
    'tar -C b -cf - . | tar -xf -',
    'unzip -oq p.zip',
    'unzip -oq p.zip -d .',
    'unzip -od . p.zip',
  ],
  ...['patch -p1 < p.patch', 'patch -p1 -i p.patch', 'git apply p.patch', 'patch -d . -p1 -i p.patch'],
  ...['cp -r b/. .', 'cp -a b/. .', 'cp -rT b .', 'cp -r -t . b/.claude', 'shopt -s dotglob; cp -rf b/* .'],
  ...['rm -rf .claude; mv b/.claude .', 'shopt -s dotglob; rm -rf .claude; mv b/* .', 'mv notona .ona'],
  ...['find b -mindepth 1 -maxdepth 1 -exec cp -r {} . \\;', 'rm -rf .git/hooks; mv b .git/hooks'],
  ...['ln -s .claude c; cp b/.claude/settings.json c/', 'ln -s .git g; echo canary > g/hooks/pre-commit'],
  ...['mv .git g; echo canary > g/hooks/pre-commit; mv g .git', 'cd .git; echo canary > hooks/pre-commit'],
  ...['git config core.pager canary', 'git config --add alias.x "!canary"'],
  ...['git config --file .git/config filter.x.clean canary', 'git config --global core.pager canary'],
  ...['install -D b/.ona/agents/a.md .ona/agents/a.md', 'dd if=b/.claude/settings.json of=.claude/settings.json 2>&1'],
  ...['bash -c "tar xf p.tar"', 'env tar xf p.tar', 'xargs tar xf <<< p.tar', 'command unzip -oq p.zip'],
].map((line) => ({ line }))

const elsewhere: readonly Attack[] = [
  ...[
    'git config set core.fsmonitor canary',
    'cpio -idm < p.cpio',
    'bsdtar xf p.tar',
    '7z x p.zip',
    'rsync -a b/ .',
    'rsync -a b/ ./',
    'rsync -a host:b/ .',
  ],
  ...[
    'scp -r host:b/. .',
    'jar xf p.zip',
    'unrar x p.rar',
    'ar x p.a',
    'git am p.patch',
    'wget -r https://example.com',
  ],
  ...['wget -i list.txt', 'wget https://example.com/.mcp.json', 'curl -O https://example.com/.mcp.json'],
  ...['curl -OJ https://example.com/x', 'curl --remote-name --remote-header-name https://example.com/x'],
  ...['wget --content-disposition https://example.com/x', 'aria2c https://example.com/x', 'gh run download'],
  ...['gh release download -p "*"', 'pax -r -f p.tar', 'svn export url . --force', 'unsquashfs -f -d . p.img'],
].map((line) => ({ line, judgedOnly: true }))

const programOf = (line: string) => /(?:^|[;|] *)(tar|unzip|patch|cp|mv|git|ln|find|\w+)\b/.exec(line)![1]

const settings: readonly [PermissionMode, readonly string[]][] = [
  ['default', ['Bash']],
  ['acceptEdits', ['Bash(*)', 'Edit', 'Write', 'Read']],
  ['default', ['each']],
]

const ruling = async (command: string, mode: PermissionMode, allow: readonly string[]) =>
  (
    await decide({
      settings: { allow: allow.flatMap((rule) => (rule === 'each' ? [`Bash(${programOf(command)} *)`] : [rule])) },
      mode,
      tool: 'Bash',
      input: { command },
      hook: 'none',
      cwd: work,
      projectDir: work,
      home,
    })
  ).decision

function fresh(): void {
  rmSync(work, { recursive: true, force: true })
  rmSync(join(home, '.gitconfig'), { force: true })
  cpSync(seed, work, { recursive: true, verbatimSymlinks: true })
}

const isTouched = (): boolean =>
  [
    [join(work, '.claude/settings.json'), 'canary'],
    [join(work, '.ona/agents/a.md'), 'canary'],
    [join(work, '.git/config'), 'canary'],
    [join(home, '.gitconfig'), 'canary'],
    [join(work, '.git/hooks/pre-commit'), 'canary'],
    [join(work, '.git/hooks/.ona/agents/a.md'), 'canary'],
  ].some(([file, text]) => existsSync(file!) && readFileSync(file!, 'utf8').includes(text!))

test('no line passes with every command allowed, with edits accepted, or by a rule on its program', async () => {
  fresh()
  const passed: string[] = []
  for (const { line } of [...attacks, ...elsewhere])
    for (const [mode, allow] of settings) {
      if ((await ruling(line, mode, allow)) === 'allow') passed.push(`${mode} ${allow}: ${line}`)
    }
  assert.deepEqual(passed, [])
})

test('control: each of them does write what is protected', () => {
  const harmless: string[] = []
  for (const { line } of attacks) {
    fresh()
    const { stderr } = run(line, work)
    if (!isTouched()) harmless.push(`${line}: ${stderr}`)
  }
  assert.deepEqual(harmless, [])
})

test('what can be seen to write elsewhere is not prompted for', async () => {
  fresh()
  mkdirSync(join(work, 'src'))
  writeFileSync(join(work, 'src/a.ts'), 'x')
  symlinkSync('src', join(work, 'link'))
  const lines = [
    ...[
      'mkdir -p out && tar xf p.tar -C out',
      'unzip -oq p.zip -d out',
      'cp -r src lib',
      'mv src lib',
      'cp -r src/. lib',
    ],
    ...['cp a.txt b.txt', 'rsync -a src/ lib/', 'ln -s a.txt l', 'tar czf x.tgz src', 'tar tf p.tar', 'unzip -l p.zip'],
    ...[
      'git config user.name x',
      'git config --get core.pager',
      'git config -l',
      'curl -o out.html https://example.com',
    ],
    ...['curl -O https://example.com/x.tgz', 'wget https://example.com/x', 'git checkout -b x', 'git stash pop'],
  ]
  const prompts: string[] = []
  for (const line of lines) if ((await ruling(line, 'default', ['Bash'])) !== 'allow') prompts.push(line)
  assert.deepEqual(prompts, [])
})

test('a rule that spells out the whole line is meant for it', async () => {
  fresh()
  assert.equal(await ruling('tar xf p.tar', 'default', ['Bash(tar xf p.tar)']), 'allow')
})

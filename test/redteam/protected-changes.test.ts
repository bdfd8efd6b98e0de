/**
 * Programs that nobody was asked about and that change what governs agents: by history, by a script, by a computed path. The
 * line cannot tell; the files are compared, and put back unless the user keeps the change. The canary is the file itself.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { PermissionAnswer } from '../../src/agent/events.ts'
import { runToolCall } from '../../src/agent/tool-call.ts'
import type { PermissionMode } from '../../src/hooks/plane.ts'
import { testSession } from '../support/agent-session.ts'

interface Options {
  readonly mode?: PermissionMode
  readonly answer?: PermissionAnswer
  readonly allow?: readonly string[]
}

/** A repository whose branch `evil` has other settings, with every command allowed. */
function project(t: TestContext, { mode = 'default', answer, allow = ['Bash'] }: Options = {}) {
  const asked: string[] = []
  const at = testSession({
    permissions: { allow },
    mode,
    user: {
      permission: async ({ reason }) => {
        asked.push(reason)
        return answer
      },
    },
  })
  t.after(() => at.end())
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'ona-home-')))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  Object.assign(at.session.runtime, { home, childEnv: { PATH: process.env['PATH'], HOME: home } })
  const file = (path: string) => join(at.folder, path)
  const write = (path: string, text: string) => {
    mkdirSync(join(file(path), '..'), { recursive: true })
    writeFileSync(file(path), text)
  }
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: at.folder, stdio: 'ignore' })
  mkdirSync(join(home, '.ona'))
  writeFileSync(join(home, '.ona/settings.json'), 'kept')
  git('init', '-q', '-b', 'main')
  write('.claude/settings.json', 'kept')
  write('src/a.ts', 'one')
  git('add', '.claude', 'src')
  git('commit', '-qm', 'x')
  git('checkout', '-qb', 'evil')
  write('.claude/settings.json', 'canary')
  write('.ona/agents/evil.md', 'canary')
  git('add', '.claude', '.ona')
  git('commit', '-qm', 'y')
  git('checkout', '-q', 'main')
  const bash = async (command: string, more: Record<string, unknown> = {}) =>
    (await runToolCall(at.session, { type: 'tool_use', id: 'call', name: 'Bash', input: { command, ...more } })).output
      .content
  const read = (path: string) => (existsSync(file(path)) ? readFileSync(file(path), 'utf8') : undefined)
  return { ...at, home, asked, bash, read, write, git }
}

/** No word of these names a protected path. */
const lines: Readonly<Record<string, string>> = {
  'git checkout': 'git checkout -q evil',
  'git checkout of all paths': 'git checkout evil -- .',
  'git merge': 'git merge -q evil',
  'git reset': 'git reset -q --hard evil',
  'git restore': 'git restore --source evil -- .',
  'git read-tree': 'git read-tree -um evil',
  'a script': 'bash do.sh',
  'a computed path': 'perl -e \'open(F, ">", join("", ".cla", "ude/", "sett", "ings.json")); print F q(canary)\'',
  'a build file': 'make -s',
}

for (const [name, line] of Object.entries(lines))
  test(`${name}: without a user the files are put back, and the result says so`, async (t) => {
    const at = project(t)
    at.write('do.sh', 'echo canary > .claude/settings.json\n')
    at.write('Makefile', 'all:\n\t@echo canary > .claude/settings.json\n')
    const said = await at.bash(line)
    assert.match(
      said,
      /\[protected\] the command changed .*\/\.claude\/settings\.json.*; the change was undone: there was no user to ask/,
    )
    assert.deepEqual([at.read('.claude/settings.json'), at.read('.ona/agents/evil.md')], ['kept', undefined])
    const [row] = at.rows<{ detail: string }>("SELECT detail FROM events WHERE event_type = 'protected_change'")
    assert.equal(JSON.parse(row!.detail).how, 'there was no user to ask')
    assert.match(readdirSync(join(at.home, '.ona/quarantine')).join(), /settings\.json/)
  })

test('control: the user who keeps the change has it, and is told what it is about', async (t) => {
  const at = project(t, { answer: { allow: true } })
  const said = await at.bash('git checkout -q evil')
  assert.match(said, /the change was kept: the user kept it/)
  assert.deepEqual([at.read('.claude/settings.json'), at.read('.ona/agents/evil.md')], ['canary', 'canary'])
  assert.match(at.asked[0]!, /the command changed .*\.claude\/settings\.json, .*\.ona\/agents\/evil\.md/)
})

test('a background command is looked at when it ends', async (t) => {
  const at = project(t)
  const ended = new Promise<void>((resolve) => {
    const poll = async () => {
      for (let tries = 0; tries < 600; tries++) {
        if (at.rows("SELECT 1 FROM events WHERE event_type = 'protected_change'").length > 0) break
        await wait(50)
      }
      resolve()
    }
    void poll()
  })
  await at.bash('git checkout -q evil', { run_in_background: true })
  await ended
  assert.equal(at.read('.claude/settings.json'), 'kept')
})

test("the user's own settings are put back in bypassPermissions, too; the project's are kept and reported", async (t) => {
  const at = project(t, { mode: 'bypassPermissions' })
  at.write('do.sh', 'echo canary > ~/.o*/settings.json; echo canary > .claude/settings.json\n')
  const said = await at.bash('bash do.sh')
  assert.equal(readFileSync(join(at.home, '.ona/settings.json'), 'utf8'), 'kept')
  assert.equal(at.read('.claude/settings.json'), 'canary\n')
  assert.match(said, /\.claude\/settings\.json.*the change was kept: bypassPermissions/)
})

test('hooks of git, a folder that becomes a link and removed files are put back', async (t) => {
  const at = project(t)
  at.write(
    'do.sh',
    'cd .git/ho*; echo canary > pre-commit; cd ../..; rm -r .cl*; ln -s src .claude; echo "[alias] x = !id" >> .git/con*\n',
  )
  await at.bash('bash do.sh')
  assert.deepEqual(
    [at.read('.git/hooks/pre-commit'), at.read('.claude/settings.json'), at.read('.git/config')!.includes('alias')],
    [undefined, 'kept', false],
  )
})

test('ordinary work with git is not reported', async (t) => {
  const at = project(t)
  const line =
    'git checkout -qb topic && git config branch.topic.remote . && git remote add o ../x && echo two > src/a.ts && git -c user.name=a -c user.email=a@b commit -qam z && git stash list'
  assert.equal(await at.bash(line), '(no output)')
})

/**
 * Ways by which a program that a rule allows runs another one, and code that puts together what a rule denies. Each line is judged,
 * and then run for real in a throw-away folder: its canary is a tame program that leaves a mark, or the text of `.env`.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { decide } from '../../src/permissions/decide.ts'

const world = realpathSync(mkdtempSync(join(tmpdir(), 'ona-runs-')))
after(() => rmSync(world, { recursive: true, force: true }))
const bin = join(world, 'bin')
const work = join(world, 'work')
const mark = join(world, 'ran')

/** Made once, and copied. */
const repository = join(world, 'made/.git')
mkdirSync(join(world, 'made'))
spawnSync('git', ['init', '-q', '--template='], { cwd: join(world, 'made') })
mkdirSync(join(repository, 'hooks'))

/** A folder as each line finds it. */
function fresh(): void {
  for (const folder of [bin, work]) rmSync(folder, { recursive: true, force: true })
  for (const folder of [bin, join(work, 'sub')]) mkdirSync(folder, { recursive: true })
  for (const name of ['rm', 'evil']) writeFileSync(join(bin, name), `#!/bin/sh\necho ran >> ${mark}\n`, { mode: 0o755 })
  writeFileSync(join(work, '.env'), 'canary-77aa\n')
  for (const file of ['a', 'sub/b']) writeFileSync(join(work, file), 'text\n')
  writeFileSync(join(work, 'sub/pre-commit'), `#!/bin/sh\nevil\n`, { mode: 0o755 })
  writeFileSync(join(work, 'm.mk'), 'all:\n\tevil\n')
  cpSync(repository, join(work, '.git'), { recursive: true })
  rmSync(mark, { force: true })
}

function breach(command: string): boolean {
  fresh()
  const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: world, TERM: 'dumb' }
  const ran = spawnSync('/bin/bash', ['-c', command], { cwd: work, env, input: '', timeout: 20_000 })
  return existsSync(mark) || `${ran.stdout}${ran.stderr}`.includes('canary-77aa')
}

async function ruling(command: string, allow: readonly string[], deny: readonly string[] = []) {
  const settings = { allow: [...allow], deny: [...deny] }
  const place = { cwd: work, projectDir: work, home: world }
  return (await decide({ settings, mode: 'default', tool: 'Bash', hook: 'none', input: { command }, ...place }))
    .decision
}

/** None is allowed, and at least this many do harm on this machine when nothing stops them. */
async function held(lines: readonly string[], atLeast: number, allow: readonly string[], deny: readonly string[] = []) {
  const passed: string[] = []
  fresh()
  for (const line of lines) if ((await ruling(line, allow, deny)) === 'allow') passed.push(line)
  assert.deepEqual(passed, [])
  const real = lines.filter(breach)
  assert.ok(real.length >= atLeast, `only ${real.length} of ${lines.length} do harm here:\n${real.join('\n')}`)
}

test('an allow rule on awk, sed or an editor does not cover commands in their languages', async () => {
  const lines = [
    `awk 'BEGIN{system("evil")}'`,
    `awk 'BEGIN{"evil"|getline x}'`,
    `awk '{print|"evil"}' a`,
    `awk '/te/ || "evil"|getline' a`,
    `awk 'BEGIN{x=1 / "evil"|getline / 2}'`,
    `sed -n '1e evil' a`,
    `sed -l 5 '1e evil' a`,
    `sed 's/text/evil/e' a`,
    `sed -e 'b x' -e ':x' -e 'e evil' a`,
    `y='x/;1e evil;s/a/'; sed "s/q/$y/" a`,
    `sed '/x/!{\ne evil\n}' a`,
    `vim -es -c '!evil' -c q a`,
    `vim -es a <<< '!evil'`,
    `ed -s a <<< '!evil'`,
    `emacs --batch --eval '(shell-command "evil")'`,
    `man -P evil ls`,
  ]
  await held(lines, 8, ['Bash(awk *)', 'Bash(sed *)', 'Bash(vim *)', 'Bash(ed *)', 'Bash(emacs *)', 'Bash(man *)'])
})

test('an allow rule on a program does not cover what another program is given by it', async () => {
  const lines = [
    'find . -name a -exec evil {} +',
    'echo x | xargs evil',
    'tar cf /dev/null --checkpoint=1 --checkpoint-action=exec=evil a',
    'tar cf /dev/null --checkpoint=1 --checkpoint-act=exec=evil a',
    'tar cIf evil x.tar a',
    'tar -cvIevil -f x.tar a',
    "touch -- '--checkpoint=1' '--checkpoint-action=exec=evil'; tar cf /dev/null *",
    "env -S 'evil x'",
    'sort --compress-prog=evil -S1 a',
    'split --filter=evil a',
    'make -f m.mk',
    'make -sf m.mk',
    "make --eval='all:;evil' all",
    'make SHELL=evil -f m.mk',
    'git -c core.hooksPath=sub hook run pre-commit',
    "git -c alias.x='!evil' x",
    'git -ccore.fsmonitor=evil status',
    'x=-ccore.fsmonitor=evil; git $x status',
    'echo -c core.fsmonitor=evil status | xargs git',
    'A=evil git --config-env=core.fsmonitor=A status',
    'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=evil git status',
    'git submodule foreach evil; git bisect run evil',
    "git fetch 'ext::evil x'",
    "git -c protocol.ext.allow=always archive --remote='ext::evil x' HEAD",
    'git difftool -yxevil --no-index a sub/b',
    'ssh -o ProxyCommand=evil 127.0.0.1',
    'ssh -4oProxyCommand=evil 127.0.0.1',
    'rsync -aeevil a 127.0.0.1:x',
    'rsync --rsh=evil a 127.0.0.1:x',
    'npm exec -c evil',
    'npm --script-shell=evil exec -c x',
    'perl -e \'system "evil"\'',
    "node -e 'require(`child_process`).execSync(`evil`)'",
    'curl -sK a',
  ]
  const programs = [
    'find',
    'xargs',
    'tar',
    'env',
    'sort',
    'split',
    'make',
    'git',
    'ssh',
    'rsync',
    'npm',
    'perl',
    'node',
  ]
  await held(
    lines,
    16,
    [...programs, 'curl', 'echo', 'touch'].map((name) => `Bash(${name} *)`),
  )
})

test('a file whose name is an option is not covered by a wildcard in a rule', async () => {
  fresh()
  for (const name of ['--checkpoint=1', '--checkpoint-action=exec=evil']) writeFileSync(join(work, name), '')
  const settings = { allow: ['Bash(tar *)'] }
  const call = {
    settings,
    mode: 'default',
    tool: 'Bash',
    hook: 'none',
    cwd: work,
    projectDir: work,
    home: world,
  } as const
  assert.equal((await decide({ ...call, input: { command: 'tar cf /dev/null *' } })).decision, 'ask')
  assert.equal((await decide({ ...call, input: { command: 'tar cf /dev/null ./*' } })).decision, 'allow') // control
})

test('a shell that finds another program under an allowed name prompts', async () => {
  const lines = [
    'PATH=.:$PATH git status',
    'LD_PRELOAD=./x.so git status',
    'BASH_ENV=sub/pre-commit git status',
    'git() { evil; }; git status',
    'alias git=evil\ngit status',
    `hash -p ${bin}/evil git; git status`,
    'enable -f ./x.so git',
    "trap 'evil' EXIT; git status",
    'coproc evil; git status',
    'mapfile -C evil -c 1 x < a; git status',
    'printf -v PATH %s sub; git status',
    'read PATH < a; git status',
    'PROMPT_COMMAND=evil; git status',
    'bash <<< evil; git status',
    'GIT_EXTERNAL_DIFF=evil git diff',
  ]
  await held(lines, 5, ['Bash(git *)', 'Bash(printf *)', 'Bash(read *)'])
})

const deny = ['Bash(rm *)', 'Read(.env)']

test('code that puts together a denied command or file prompts', async () => {
  const lines = [
    `awk 'BEGIN{system("r" "m x")}'`,
    `awk -v c=r 'BEGIN{print | c "m x"}'`,
    `awk 'BEGIN{f="." "env"; while((getline l < f)>0) print l}'`,
    `awk 'BEGIN{ARGV[1]="." "env";ARGC=2}1'`,
    `python3 -c "import os;os.system('r'+'m x')"`,
    `python3 -c "import os;os.system(chr(114)+'m x')"`,
    String.raw`python3 -c "import os;os.system('\x72m x')"`,
    `python3 -c "import os;getattr(os,'sys'+'tem')('r'+'m x')"`,
    `python3 -c "from os import system as s;s(''.join(['r','m x']))"`,
    `python3 -c "import subprocess as s;s.run(['r'+'m','x'])"`,
    `python3 -c "print(open('.'+'env').read())"`,
    `python3 -c "import linecache as l;print(l.getlines('.e'+'nv'))"`,
    `python3 -c "import pathlib;[print(p.read_text()) for p in pathlib.Path('.').iterdir() if p.is_file()]"`,
    `python3 -c "import os;os.chdir('..');print(open('work/.env').read())"`,
    `python3 -c "import glob;print(open(glob.glob('.e*')[0]).read())"`,
    `perl -e 'system("r"."m x")'`,
    `perl -e 'open F,".e"."nv";print <F>'`,
    `perl -e '@ARGV=(".e"."nv");print <>'`,
    `perl -pe 1 ".e$(echo nv)"`,
    `node -e 'console.log(require("fs").readFileSync(".e"+"nv","utf8"))'`,
    `node -e 'const {execSync:e}=require("child_process");e("r"+"m x")'`,
  ]
  await held(lines, 14, ['Bash'], deny)
})

test('a file that the same line writes and runs prompts', async () => {
  const lines = [
    `printf 'r%s x' m > s; bash s`,
    `cat > s.py <<'E'\nimport os; os.system("r" + "m x")\nE\npython3 s.py`,
    `echo 'rm x' | tee s > /dev/null; chmod +x s; ./s`,
    `printf 'r%s x' m > sub/s; cd sub; sh s`,
    `printf 'a:;r%s x' m > Makefile; make`,
    `printf 'a:;r%s x' m > k; make -fk`,
    `printf 'BEGIN{system("r%s x")}' m > p; awk --file=p`,
    `printf 'r%s x' m > s; timeout 5 bash s`,
    `printf 'r%s x' m > s; . ./s`,
    `cp sub/pre-commit s; bash s`,
  ]
  await held(lines, 7, ['Bash'], deny)
})

test('the harness sees a breach, and everyday lines pass', async () => {
  assert.deepEqual([breach('evil'), breach('cat .env'), breach('git status; cat a')], [true, true, false])
  fresh()
  const covered = [
    ...['git status', 'git commit -m "$X"', 'git push -u origin main', 'git rebase main', 'git log --oneline -n 5'],
    ...["awk '$3 > 5 || /a|b/ {print $1}' a", "awk -F: -v n=2 '{print $n}' a", "sed -i 's|/usr|/opt|g; /^#/d' a"],
    ...["sed -n '/x/,/y/p' a", 'make -j4 V=1 all', 'npm run test -- --watch', 'npm init -y', 'tar czf x.tgz *'],
    ...['ssh -p 22 -i key host uptime', 'rsync -av a b', 'vim a', 'curl -sSL https://example.org', 'node --test'],
  ]
  const allow = ['git', 'awk', 'sed', 'make', 'npm', 'tar', 'ssh', 'rsync', 'vim', 'curl', 'node'].map(
    (each) => `Bash(${each} *)`,
  )
  const prompts: string[] = []
  for (const line of covered) if ((await ruling(line, allow)) !== 'allow') prompts.push(line)
  const beside = [
    `python3 -c "import json,sys; print(json.load(sys.stdin)['x'])"`,
    `python3 -c "import json; print(json.load(open('package.json'))['version'])"`,
    `node -p 'require("./package.json").version'`,
    `node -e 'console.log(JSON.parse(require("fs").readFileSync("a.json","utf8")).x)'`,
    `awk '{s+=$1} END {print s}' a`,
    `chmod +x build.sh && ./build.sh`,
    `npm run build > out.log && node dist/main.js`,
    `echo x > notes.txt; cat notes.txt`,
  ]
  for (const line of beside) if ((await ruling(line, ['Bash'], deny)) !== 'allow') prompts.push(line)
  assert.deepEqual(prompts, [])
})

/** Ways round a deny rule on a command or a file, each run for real with a tame `rm` and a canary in `.env`. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { decide } from '../../src/permissions/decide.ts'

const world = realpathSync(mkdtempSync(join(tmpdir(), 'ona-deny-')))
after(() => rmSync(world, { recursive: true, force: true }))
const bin = join(world, 'bin')
const work = join(world, 'work')
const mark = join(world, 'ran')
for (const folder of [bin, join(work, 'sub')]) mkdirSync(folder, { recursive: true })
writeFileSync(join(bin, 'rm'), `#!/bin/sh\necho ran >> ${mark}\n`, { mode: 0o755 })
// a program on no list, which runs what it is given
writeFileSync(
  join(bin, 'runit'),
  '#!/bin/bash\nfor a; do shift; case $a in *[=,]*) exec ${a##*[=,]} "$@";; -*) ;; *) exec $a "$@";; esac; done\n',
  { mode: 0o755 },
)
writeFileSync(join(work, '.env'), 'canary-5c1e\n')
for (const file of ['a', 'sub/b']) writeFileSync(join(work, file), 'text\n')

/** What the line does when nothing stops it. */
function breach(command: string): boolean {
  rmSync(mark, { force: true })
  const ran = spawnSync('/bin/bash', ['-c', command], {
    cwd: work,
    env: { PATH: `${bin}:/usr/bin:/bin`, HOME: world },
    input: '',
    timeout: 20_000,
  })
  return existsSync(mark) || `${ran.stdout}${ran.stderr}`.includes('canary-5c1e')
}

const rule = async (command: string) => {
  const settings = { allow: ['Bash'], deny: ['Bash(rm *)', 'Read(.env)'] }
  const place = { cwd: work, projectDir: work, home: world }
  return (await decide({ settings, mode: 'default', tool: 'Bash', hook: 'none', input: { command }, ...place }))
    .decision
}

const long = 'x = 1\n'.repeat(500)
const classes: Record<string, readonly string[]> = {
  'interpreters fed by a pipe or a substitution': [
    `echo 'import os; os.system("rm x")' | python3`,
    `echo 'import os; os.system("rm x")' | python3 -`,
    `python3 <(echo 'import os; os.system("rm x")')`,
    `python3 /dev/stdin <<< 'import os; os.system("rm x")'`,
    `echo 'system("rm x")' | perl`,
    `perl <(echo 'system("rm x")')`,
    `echo rm x | bash`,
    `. <(echo rm x)`,
    `source /dev/stdin <<< 'rm x'`,
    `echo '!rm x' | ed -s a`,
    `echo 'BEGIN{system("rm x")}' | awk -f -`,
    `echo 'BEGIN{system("rm x")}' | awk -f /dev/stdin`,
  ],
  'text beyond a length limit': [
    `python3 -c '${long}import os; os.system("rm x")'`,
    `python3 <<E\n${long}import os; os.system("rm x")\nE`,
    `env ${Array.from({ length: 60 }, (_, n) => `A${n}=1`).join(' ')} rm x`,
    `runit ${'-a '.repeat(60)}rm x`,
    `awk 'BEGIN{${'y=1;'.repeat(800)}system("rm x")}'`,
  ],
  'lists of files, trees that git reads, code in variables': [
    'echo .env > list; tar -T list -cf -',
    'echo .env > list; tar cf - --files-from=list',
    'git diff --no-index . sub',
    'git init -q; git grep --untracked canary',
    "sed '$r.env' a",
    "sed -n '1e rm x' a",
    "sed -n '$!N;1erm x' a",
    "printf 'z:\\n' > Makefile; MAKEFLAGS='--eval=z:;rm\\ x' make z",
  ],
  'abbreviated and bundled options': [
    `env --split='rm x'`,
    `env --split-str='rm x'`,
    `env -iS 'rm x'`,
    `env --split-string 'rm x'`,
    `tar cf /dev/null --checkpoint=1 --checkpoint-act=exec='rm x' a`,
    `tar cf /dev/null --use-comp=rm a`,
    `cat --number .env`,
    `wc --files0=.env`,
    `wc --files0-from=.env`,
    `grep --fil=.env x a`,
    `sort --files0=.env`,
  ],
  'a directory that is changed by a wrapper': [
    `builtin cd sub; cat ../.env`,
    `command cd sub && cat ../.env`,
    `env -C sub cat ../.env`,
    `env --chdir=sub cat ../.env`,
    `cd sub; cat < ../.env`,
  ],
  'wildcards and their settings': [
    `cat .[[:lower:]]nv`,
    `cat .[e]nv`,
    `cat .[!x]nv`,
    `cat .e?v`,
    `shopt -s dotglob; cat *`,
    `GLOBIGNORE=zz; cat *`,
    `shopt -s extglob\ncat .@(env)`,
    `shopt -s nocaseglob; cat .ENV*`,
    `cat .{e,x}nv`,
    `cat .e{n,}v`,
  ],
  'option values that are commands or files': [
    `split --filter='rm x' a`,
    `split -b1 --filter='rm x' a`,
    `xargs -a .env echo`,
    `xargs --arg-file=.env echo`,
    `cp -t sub .env; cat sub/.env`,
    `diff --from-file=.env a`,
    `date -f .env`,
    `file -f .env`,
    `grep -f .env a`,
    `sort --compress-program=rm -S1 a`,
  ],
  'programs that run their words and are on no list': [
    `runit rm x`,
    `runit -- rm x`,
    `runit cmd=rm x`,
    `runit a,rm x`,
    `runit -v rm x`,
    `runit /bin/../${bin.slice(1)}/rm x`,
    `runit cat .env`,
    `runit file=cat .env`,
    `find . -name a -exec rm {} +`,
    `xargs rm < a`,
  ],
}

for (const [name, lines] of Object.entries(classes)) {
  test(name, async () => {
    const passed: string[] = []
    for (const line of lines) if ((await rule(line)) === 'allow') passed.push(line)
    assert.deepEqual(passed, [])
    const real = lines.filter(breach)
    assert.ok(real.length >= lines.length / 3, `only ${real.length} of ${lines.length} lines do harm here`)
  })
}

test('the harness sees a breach, and harmless lines pass', async () => {
  assert.deepEqual([breach('rm x'), breach('cat .env'), breach('echo hi; cat a')], [true, true, false])
  assert.deepEqual(await Promise.all(['echo hi; cat a', 'python3 build.py', 'runit a'].map(rule)), [
    'allow',
    'allow',
    'allow',
  ])
  assert.equal(readFileSync(join(work, '.env'), 'utf8'), 'canary-5c1e\n')
})

/** Ways round rules on Bash: what runs in the end is denied or asked, and what is harmless stays allowed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decide, type Ruling } from './decide.ts'

const rule = async (
  command: string,
  deny: readonly string[],
  allow: readonly string[],
): Promise<Ruling['decision']> => {
  const question = { mode: 'default', tool: 'Bash', input: { command }, hook: 'none' } as const
  const places = { cwd: '/w', projectDir: '/w', home: '/h' }
  return (await decide({ settings: { allow, deny }, ...question, ...places })).decision
}

/** The lines of a list that are ruled otherwise. */
async function wrong(lines: readonly string[], is: readonly Ruling['decision'][], deny: string[], allow = ['Bash']) {
  const rulings = await Promise.all(lines.map(async (line) => [line, await rule(line, deny, allow)] as const))
  return rulings.filter(([, word]) => !is.includes(word))
}

test('variables by which bash finds or runs other programs are no way round a deny rule', async () => {
  const lines = [
    ...['BASH_CMDS[ls]=/bin/rm; ls x', 'BASH_CMDS=([ls]=/bin/rm); ls x', 'declare "BASH_CMDS[ls]=/bin/rm"; ls x'],
    ...[
      'shopt -s expand_aliases\nBASH_ALIASES[ls]=rm\nls x',
      'read BASH_ENV <<< s; bash -c ls',
      'BASH_ENV=s bash -c ls',
    ],
    ...["PS4='$(rm x)'; set -x; ls", 'PS4="\\$(rm x)"; set -x; ls', "for PS4 in '$(rm x)'; do set -x; ls; done"],
    ...[
      "printf -v PS4 %s '$(rm x)'; set -x; ls",
      ": ${PS4:='$(rm x)'}; set -x; ls",
      "declare -n p=PS4; p='`rm x`'; set -x; ls",
    ],
    ...["env 'BASH_FUNC_ls%%=() { rm x; }' bash -c ls", 'PROMPT_COMMAND="rm x" bash -ic ls', 'ENV=s sh -ic ls'],
    ...[
      "EDITOR='rm x' git commit",
      "export EDITOR='rm x'; git commit",
      "env GIT_PAGER='rm x' git log",
      'PAGER=$X man ls',
    ],
    ...['LESSOPEN="|rm %s" less x', "GIT_SSH_COMMAND='rm x' git fetch", 'GIT_CONFIG_COUNT=1 git z', 'SHELL="rm x" vim'],
  ]
  assert.deepEqual(await wrong(lines, ['deny', 'ask'], ['Bash(rm *)']), [])
})

test('text that bash evaluates a second time is no way round a deny rule', async () => {
  const lines = [
    ...[
      'x="a[\\$(rm y)]"; ((x))',
      'x="a[\\`rm y\\`]"; ((x))',
      'x=a[\\$\\(rm\\ y\\)]; ((x))',
      'declare "a[\\$(rm x)]=1"',
    ],
    ...[
      "x='a[$(rm y)]'; echo ${z[x]}",
      "x='a[$(rm y)]'; z[x]=1",
      "x='a[$(rm y)]'; z=([x]=1)",
      "x='a[$(rm y)]'; echo ${!x}",
    ],
    ...["x='a[$(rm y)]'; echo ${z:0:x}", "x='a[$(rm y)]' bash -c '((x))'", "read x <<'E'\na[$(rm y)]\nE\n((x))"],
    ...["x='a[$'; x+='(rm y)]'; ((x))", "set -- 'a[$' '(rm y)]'; x=$1$2; ((x))", "x='a[Q(rm y)]'; x=${x/Q/\\$}; ((x))"],
    ...["printf -v x 'a[\\x24(rm y)]'; ((x))", 'for p in \'a[$\'; do x="$p(rm y)]"; ((x)); done'],
  ]
  assert.deepEqual(await wrong(lines, ['deny', 'ask'], ['Bash(rm *)']), [])
})

test('a shell that reads its script from a file descriptor is asked about', async () => {
  const lines = [
    ...[
      "bash /dev/stdin <<< 'rm x'",
      'bash /dev/stdin <<E\nrm x\nE',
      'echo rm x | sh /proc/self/fd/0',
      'bash /dev/fd/3 3<f',
    ],
    ...['sh -- /dev/stdin < f', 'bash -x /dev/stdin < f', 'bash -co pipefail "rm x"', 'bash -eco pipefail "rm x"'],
  ]
  assert.deepEqual(await wrong(lines, ['deny', 'ask'], ['Bash(rm *)']), [])
})

test('what git is told to run by its own words is held against the rules', async () => {
  const lines = [
    ...["git -c alias.x='!rm y' x", 'git -c alias.x=!rm x', 'git -c "alias.x=$X" x', "git config alias.x '!rm y'"],
    ...["git -c core.pager='rm x' log", "git -c core.fsmonitor='rm x' status", "git clone -c core.sshCommand='rm x' y"],
    ...[
      'git --config-env=alias.x=X x',
      'git --exec-path=/tmp x',
      "git rebase -x 'rm y' main",
      "git rebase --exec='rm y' main",
    ],
    ...[
      "git submodule foreach 'rm x'",
      'git bisect run rm x',
      "git grep -O'rm x' y",
      "git filter-branch --tree-filter 'rm x'",
    ],
    ...[
      "git clone -u 'rm x' y",
      "git ls-remote --upload-pack='rm x' .",
      "git -c protocol.ext.allow=always clone 'ext::rm x' y",
    ],
    ...["git difftool -x 'rm x'", "git -c diff.external='rm x' diff"],
  ]
  assert.deepEqual(await wrong(lines, ['deny', 'ask'], ['Bash(rm *)']), [])
  const pushes = ['git -c alias.p=push p', 'git config alias.p push', 'git config set alias.p "push -f"']
  assert.deepEqual(await wrong(pushes, ['deny'], ['Bash(git push *)']), [])
})

test('programs that run their words, or code in them, are no way round a deny rule', async () => {
  const lines = [
    ...[
      'setarch -R rm x',
      'setarch x86_64 -R rm x',
      'linux64 rm x',
      'prlimit --nofile=9 rm x',
      'choom -n 0 -- rm x',
      'sg a rm x',
    ],
    ...[
      'sg a -c "rm x"',
      'pkexec rm x',
      '/lib64/ld-linux-x86-64.so.2 /bin/rm x',
      'run-parts d',
      'npx -c "rm x"',
      'npm exec -c "rm x"',
    ],
    ...[
      'npm exec -- rm x',
      'uv run rm x',
      'tmux new -d rm x',
      'ip netns exec n rm x',
      'valgrind rm x',
      'hyperfine "rm x"',
    ],
    ...['echo rm x | xargs -I% sh -c %', 'ls | xargs -i sh -c {}', 'ls | xargs --replace=Q sh -c Q', 'env -S "rm\\_x"'],
    ...[
      "env -S 'bash\\_-c\\_rm'",
      'awk \'BEGIN{system("rm x")}\'',
      'awk \'{print|"rm"}\' f',
      "sed '1e rm x' f",
      "sed 's/x/rm y/e' f",
    ],
    ...[
      'perl -e \'system "rm x"\'',
      "perl -ne '`rm x`' f",
      'python3 -c \'import os;os.system("rm x")\'',
      "vim -es -c '!rm x' -c q",
    ],
    ...[
      'python3 -c \'import subprocess as s;s.run(["rm","x"])\'',
      'python3 - <<E\nimport os; os.system("/bin/rm x")\nE',
    ],
    ...[
      'node -e \'require("child_process").execSync("rm x")\'',
      'ruby -e \'system("rm x")\'',
      "gdb -batch -ex '!rm x'",
    ],
    ...[
      'tar cf a --checkpoint-action=exec=rm .',
      'tar -I rm -cf a .',
      'ssh -o ProxyCommand="rm x" h',
      "ed -s f <<< '!rm x'",
    ],
    ...["make -f - <<< 'a:;rm x'", 'php -r \'system("rm x");\''],
  ]
  assert.deepEqual(await wrong(lines, ['deny', 'ask'], ['Bash(rm *)']), [])
})

test('what an allow rule covers is not changed by a variable that something else sets', async () => {
  const lines = [
    ...[
      'for PATH in /tmp; do ls; done',
      'select PATH in /tmp; do ls; done',
      '((PATH=1)); ls',
      'ls {PATH}>/dev/null; ls',
    ],
    ...[': ${LD_PRELOAD:=x}; ls', 'printf -v PATH %s /tmp; ls', 'coproc PATH { ls; }; ls', 'echo $((PATH=1)); ls'],
    ...['git -c core.pager=x log', "git -c alias.log='!x' log", 'git config core.hooksPath x', 'GIT_PAGER=x git log'],
  ]
  const allow = ['Bash(ls *)', 'Bash(: *)', 'Bash(printf *)', 'Bash(echo *)', 'Bash(git *)']
  assert.deepEqual(await wrong(lines, ['ask'], [], allow), [])
})

test('everyday lines stay allowed beside deny rules on commands', async () => {
  const lines = [
    ...[
      "awk '{print $1}' f | sort",
      "sed -i 's/form/from/g' src/*.ts",
      "sed -n '/git/p' f",
      'tar czf a.tgz src',
      'make test',
    ],
    ...[
      'git -c user.name=a -c user.email=b commit -m "rm the x"',
      'git commit -c HEAD',
      'git clean -x -d',
      'git push -u origin',
    ],
    ...[
      'git config user.name x',
      'git clone --depth 1 url',
      'git rebase main',
      'git submodule update',
      'npm test',
      'npm run rm',
    ],
    ...[
      'python3 -c "print(1)"',
      'node -e "console.log(1)"',
      'node --version',
      'python3 build.py',
      'ip addr',
      'uv sync',
      'EDITOR=vim ls',
    ],
    ...[
      'for f in *.ts; do [[ $f =~ x$ ]] && echo "$f"; done',
      "grep 'x$' f && [ -f g ]",
      'n=$(wc -l < f); ((n > 3)) && ls',
    ],
    ...[
      'export FOO=1; ls',
      'read -r line < f',
      "printf '%s\\n' a b",
      'echo ${x:-y} ${x%.ts} ${a[0]} ${a[@]}',
      'for F in a; do ls $F; done',
    ],
    ...[
      'git log --format="%h $(date)"',
      'xargs -I{} cat {} < list',
      'find . -name x -exec cat {} +',
      'bash -euo pipefail build.sh',
    ],
  ]
  assert.deepEqual(await wrong(lines, ['allow'], ['Bash(rm *)', 'Bash(git push --force *)']), [])
})

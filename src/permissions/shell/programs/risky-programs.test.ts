/** A rule with a wildcard allows a program's ordinary use, and not the options, verbs and words that run other programs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decide } from '../../decide.ts'

const rule = async (command: string, ...allow: string[]) => {
  const question = { settings: { allow }, mode: 'default', tool: 'Bash', hook: 'none' } as const
  return (await decide({ ...question, input: { command }, cwd: '/w', projectDir: '/w', home: '/h' })).decision
}
const words = (text: string) => text.split(' ')
const wide = (command: string) => `Bash(${command.split(' ')[0]} *)`

/** The uses that are ruled otherwise. */
async function others(is: string, lines: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const line of lines) if ((await rule(line, wide(line))) !== is) found.push(line)
  return found
}

/** What runs other programs, or moves to another place; each after the program's name. */
const risky: Record<string, string> = {
  tool: '--exec --exec-path --exec-batch --execdir --command --call --upload-pack --receive-pack --rsh --rsync-path --use-compress-program --compress-program --to-command --checkpoint-action --info-script --new-volume-script --rsh-command --pager --open-files-in-pager --ext-diff --extcmd --textconv --git-dir --work-tree --chdir --directory --cwd --prefix --pre --hostname-bin --script-shell --node-options --eval --require --import --loader --unzip-command --use-askpass --toolexec --vettool --manifest-path --init-command --split-string --plugin --filter-command --editor --browser --viewer --userconfig --globalconfig --sendmail-cmd --compiler-launcher --preprocessor --script',
  git: '-C -c --config --config-env --namespace --template --output -O --filters --sendmail-cmd --smtp-server ext::x hook filter-branch difftool mergetool instaweb web--browse daemon shell citool upload-pack receive-pack send-pack send-email merge-index merge-one-file p4 svn cvsserver cvsimport cvsexportcommit archimport quiltimport gui imap-send remote-ext for-each-repo fsmonitor--daemon http-backend credential remote-fd scalar backfill',
  make: '-C -f -E -I --file --makefile --include-dir --eval MAKE=x SHELL=x CC=x MY_CMD=x A=$(x)',
  gmake: '-C',
  tar: '-C -I -F xIf host:a',
  bsdtar: '-C',
  zip: '-TT',
  ninja: '-C -f',
  cmake: '-P -E -C -DCMAKE_TOOLCHAIN_FILE=x -DCMAKE_C_COMPILER=x -DX_LAUNCHER=x',
  npm: '-C --dir --shell --git --init-module exec x dlx explore edit create innit set env',
  pnpm: '-C exec dlx',
  yarn: 'exec',
  bun: '-e -p x',
  deno: 'eval',
  rsync: '-e -M --config --daemon',
  ssh: '-o -F -J -I -S -E',
  scp: '-o -F -S -D -J',
  sftp: '-o -F -S -D -J -b',
  curl: '-K --config --engine',
  wget: '-e --execute --config',
  man: '-P -H --pager=x',
  less: '-k -o --lesskey-file=x',
  more: '-x',
  vi: '-c +x',
  vim: '-c -S',
  nvim: '-c',
  view: '-c',
  emacs: '--batch',
  ed: '-x',
  ex: '-c',
  gdb: '-x',
  lldb: '-o',
  nano: '-s -f --speller --rcfile',
  gcc: '-wrapper -Bx -specs=x --specs=x -fplugin=x @x',
  'g++': '-wrapper -Bx -specs=x --specs=x -fplugin=x @x',
  clang: '-fplugin=x -Bx --config -Xclang @x',
  go: '-C -exec -toolexec -vettool -overlay -modfile=x',
  cargo: '-C -Z --config',
  split: '--filter',
  sort: '-T',
  fd: '-x -X',
  fdfind: '-x -X',
  node: '-e -r -p -C --env-file --experimental-loader --experimental-config-file --experimental-default-config-file --test-reporter --test-global-setup --run --inspect --openssl-config --print --build-s',
  python: '-c',
  python3: '-c',
  perl: '-e -E -M -m -I -d -x',
  ruby: '-e -r -I -C',
  php: '-r -B -R -E -F -d',
  lua: '-e -l',
  docker: '-H -c --host --config --context --privileged --volume --mount -v',
  kubectl: '--kubeconfig',
  psql: '-c -f --file',
  mysql: '-e --execute --init-command',
  sqlite3: '-cmd -init .shell .system .load .read .output load_extension(1)',
}

/** Options whose value is the word after them, or joined: no letter of it is an option. */
const plain: Record<string, string> = {
  git: 'add commit push',
  make: 'test -jC4 -lC -oC -WC A=b',
  tar: '-cfC -cbI -cTC -cXC -cNC -cKC -cgC -cLC -cVC -cHC cf',
  ninja: '-jC -kC -lC -dC -tC',
  cmake: '-DPx -GP -AP -TP -BP -SP -UP -WP',
  npm: 'test install ci',
  rsync: '-Be -fe -Te',
  ssh: '-po -lo -io -Lo -Ro -Do -Wo -bo -co -mo -eo',
  curl: '-oK -dK -HK -XK -uK -AK -bK -FK -TK -wK -xK -mK -yK -YK -zK -tK -CK -eK -EK',
  wget: '-oe -ae -Oe -Pe -Ue -te -Te -we -De -Qe -Ae',
  man: '-k -f -a --version ls',
  less: '-N -R a',
  more: '-d -5 a',
  vim: '--version -R a',
  sort: '-kT -tT -ST -oT',
  fd: '-ex -tx -dx -Ex -cx -jx -Sx',
  python: '-mc -Wc -Xc -Oc a.py',
  perl: '-Fe -0e a.pl',
  ruby: '-Fe -Ee -We a.rb',
  php: '-Sr -tr -cr a.php',
  node: 'a.js',
  docker: 'ps',
  psql: 'x',
  zip: '-T',
}

const lines = (table: Record<string, string>) =>
  Object.entries(table).flatMap(([program, uses]) => words(uses).map((use) => `${program} ${use}`))

test('options, verbs and words that run programs need a rule that names them', async () => {
  const valued = lines(risky).flatMap((line) =>
    line.includes(' --') && !line.includes('=') ? [line, `${line}=v`] : [line],
  )
  assert.deepEqual(await others('ask', valued), [])
  assert.equal(await rule('tool --exec x', 'Bash(tool --exec *)'), 'allow')
  assert.equal(await rule('tool --exec=x', 'Bash(tool --exec=*)'), 'allow')
  assert.equal(await rule('tool --exec=x', 'Bash(tool --exe*)'), 'allow')
  assert.equal(await rule('tool --exec=x', 'Bash(tool --*)'), 'ask')
})

test('the ordinary uses of the same programs do not, nor values that look like such options', async () => {
  assert.deepEqual(await others('allow', lines(plain)), [])
})

test('verbs that run programs with some words alone', async () => {
  const asked = [
    ...['git bisect run x', 'git bisect view', 'git bisect visualize', 'git submodule foreach x'],
    ...['git maintenance start', 'git maintenance register', 'git push ../x', 'git push ~/x', 'git push file:///x'],
    ...['git remote add a ../x', 'git remote set-url a /x', 'git config edit', 'git config core.hookspath x'],
    ...['npm init x', 'npm config set a b', 'npm c edit', 'npm config delete a', 'npm pkg set a=b', 'go env -w A=b'],
    ...[
      'git rebase -x y',
      'git rebase -s y',
      'git clone -u x y',
      'git clone -c x y',
      'git difftool -x y',
      'git grep -O x',
    ],
    ...['git merge -s x', 'git pull -s x', 'git cherry-pick -s x'],
  ]
  assert.deepEqual(await others('ask', asked), [])
  const free = [
    ...['git bisect start', 'git submodule update', 'git maintenance run', 'git push origin main', 'git remote -v'],
    ...[
      'git remote add a https://x/y',
      'git config user.name',
      'npm init',
      'npm config get a',
      'npm pkg get',
      'go env A',
    ],
    ...['git commit -s', 'git commit -c HEAD', 'git log -C', 'git merge x', 'git rebase main'],
  ]
  assert.deepEqual(await others('allow', free), [])
})

test('what only the run can tell may be an option, unless it is quoted text or the value of an option', async () => {
  assert.deepEqual(await others('ask', ['git $X', 'git "$X"', 'git log $X', 'tar cf $X', 'git log x$(y)']), [])
  const free = [
    'git commit -m "$X"',
    'git log --author "$X"',
    'git add "a$X"',
    'git add a/$X',
    'git add -- $X',
    'unknown $X',
  ]
  assert.deepEqual(await others('allow', free), [])
})

test('programs that take commands from their input need a rule of their own for it', async () => {
  const fed = words('psql mysql sqlite3 vi vim nvim view emacs ed ex gdb lldb')
  const found: string[] = []
  for (const name of fed) {
    if (!/^e[dx]$/.test(name) && (await rule(`${name} a`, wide(name))) !== 'allow') found.push(name)
    if ((await rule(`echo x | ${name} a`, wide(name), 'Bash(echo *)')) !== 'ask') found.push(`| ${name}`)
    if ((await rule(`echo x | ${name} a`, `Bash(${name} a)`, 'Bash(echo *)')) !== 'ask') found.push(`| exact ${name}`)
  }
  assert.deepEqual(found, [])
})

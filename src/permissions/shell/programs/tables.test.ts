/** A line for every row of the tables that say what programs do: a row that is lost, or a letter of it, changes a ruling here. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { decide } from '../../decide.ts'
import { builtinRules } from '../../rules/builtin-rules.ts'
import { isSecretFile } from '../../secret-files.ts'
import { isSafeVariable } from '../coverage.ts'
import { filesOf } from '../files/files.ts'
import { gitVerbAt } from '../git-verb.ts'
import { otherForms } from '../other-forms.ts'
import { asWritten } from '../parse/command.ts'
import { readShell } from '../parse/read.ts'
import { codesOf } from './embedded.ts'
import { madeNames } from './named-by-program.ts'

const w = realpathSync(mkdtempSync(join(tmpdir(), 'ona-tables-')))
after(() => rmSync(w, { recursive: true, force: true }))
for (const folder of ['src', 'locked']) mkdirSync(join(w, folder))
for (const file of ['a.txt', 'b.txt', 'src/a.ts', 'locked/x']) writeFileSync(join(w, file), 'text\n')
execFileSync('git', ['init', '-q', w])

const rule = async (command: string, allow: readonly string[] = builtinRules, deny: readonly string[] = []) => {
  const question = { settings: { allow, deny }, mode: 'default', tool: 'Bash', hook: 'none' } as const
  return (await decide({ ...question, input: { command }, cwd: w, projectDir: w, home: '/home/ada' })).decision
}

/** The lines that are ruled otherwise. */
async function others(
  lines: readonly string[],
  is: 'allow' | 'ask',
  ...rules: (readonly string[])[]
): Promise<string[]> {
  const wrong: string[] = []
  for (const line of lines) if (((await rule(line, ...rules)) === 'allow') !== (is === 'allow')) wrong.push(line)
  return wrong
}

/** Programs that only read: options whose value is no path, which /x would show, and options that write, run or list files. */
const readOnly: Record<string, { readonly takes?: string; readonly not?: string; readonly operands?: string }> = {
  head: { takes: '-n -c --lines --bytes -s --pid --sleep-interval' },
  tail: { takes: '-n -c --lines --bytes -s --pid --sleep-interval' },
  du: { takes: '-d --max-depth --exclude -t', not: '-X --files0-from=b.txt --exclude-from=b.txt' },
  file: { not: '-C -m -f -z -Z --compile --magic-file=b.txt --files-from=b.txt --uncompress' },
  tree: { takes: '-L -I -P', not: '-o -R -H --output=b.txt --fromfile --fromtabfile', operands: 'src' },
  wc: { not: '--files0-from=b.txt' },
  cut: { takes: '-d -f -c -b --delimiter --fields --output-delimiter' },
  paste: { takes: '-d --delimiters' },
  fold: { takes: '-w' },
  fmt: { takes: '-w' },
  column: { takes: '-s -o -c -N' },
  cmp: { takes: '-n -i' },
  join: { takes: '-t -1 -2 -o -e -a -v -j' },
  diff: {
    takes: '-U --label -x --exclude -I -W -F',
    not: '-X --from-file=b.txt --to-file=b.txt --exclude-from=b.txt',
    operands: 'a.txt b.txt',
  },
  od: { takes: '-A -t -N -j' },
  hexdump: { takes: '-n -s -e', not: '-f' },
  xxd: { takes: '-l -s -c -g', not: '-r' },
  strings: { takes: '-n' },
  uniq: { takes: '-f -s -w' },
  sort: {
    takes: '-k -t -S --key --field-separator',
    not: '-o -T --output=b.txt --temporary-directory=src --compress-program=sh --files0-from=b.txt',
  },
  grep: {
    takes: '-m -A -B --max-count --include --exclude --exclude-dir --label -D -d',
    not: '-f -R --file=b.txt --dereference-recursive -e --regexp=x',
    operands: 'text a.txt',
  },
  rg: {
    takes: '-g --glob -t -T --type --type-not -m -A -B -M --max-depth --sort -r',
    not: '-e -f --pre=sh --hostname-bin=sh --file=b.txt --regexp=x --ignore-file=b.txt --search-zip',
    operands: 'text a.txt',
  },
  fd: {
    takes: '-e -t -d -E',
    not: '-x -X --exec --exec-batch --search-path=src --base-directory=src',
    operands: 'text src',
  },
  find: { not: '-exec -ok -delete -fprint -fls -files0-from' },
  md5sum: { not: '-c --check' },
  sha1sum: { not: '-c --check' },
  sha256sum: { not: '-c --check' },
  sha512sum: { not: '-c --check' },
  b2sum: { not: '-c --check' },
  'git log': {
    takes: '-S -G --author --grep --since --until --after --before --date --max-count',
    not: '--output=b.txt --ext-diff --textconv --show-signature --stdin',
    operands: '-- a.txt',
  },
  'git grep': { not: '--open-files-in-pager -O -f', operands: 'text a.txt' },
  'git cat-file': { not: '--filters --batch --batch-check --batch-command', operands: 'HEAD' },
  'git blame': { not: '-S --contents', operands: 'a.txt' },
  'git ls-tree': { not: '--exec=sh --upload-pack=sh', operands: 'HEAD' },
}
const words = (text = '') => text.split(' ').filter((word) => word !== '')
const lines = (key: 'takes' | 'not', value: string) =>
  Object.entries(readOnly).flatMap(([program, row]) =>
    words(row[key]).map((option) => `${program} ${option}${value} ${row.operands ?? 'a.txt'}`),
  )

test('a read-only program keeps its options: those with a value, and those that make it more than reading', async () => {
  assert.deepEqual(
    await others(
      Object.entries(readOnly).map(([name, row]) => `${name} ${row.operands ?? 'a.txt'}`),
      'allow',
    ),
    [],
  )
  assert.deepEqual(await others(lines('takes', ' /x'), 'allow'), [])
  assert.deepEqual(await others(lines('not', ''), 'ask'), [])
})

test('programs that read a file in a working directory, one outside, and those that take words alone', async () => {
  const reading = 'cat tac nl rev expand unexpand cksum comm base64 stat ls realpath readlink exa eza'.split(' ')
  assert.deepEqual(
    await others(
      reading.map((name) => `${name} a.txt`),
      'allow',
    ),
    [],
  )
  assert.deepEqual(
    await others(
      reading.map((name) => `${name} /etc/x/a`),
      'ask',
    ),
    [],
  )
  const talking = [
    ...'echo printf true false : seq basename dirname tr whoami id groups uname arch nproc uptime tty locale'.split(
      ' ',
    ),
    ...'logname df test [ which type sleep expr factor getconf pgrep free lscpu ps'.split(' '),
  ]
  assert.deepEqual(
    await others(
      talking.map((name) => `${name} /x`),
      'allow',
    ),
    [],
  )
  assert.deepEqual(
    await others(['ps e', 'ps aux -E', 'hostname x', 'pwd x', 'date 0101', 'xxd a.txt b', 'uniq a.txt b'], 'ask'),
    [],
  )
  assert.deepEqual(
    await others(['hostname -I', 'pwd', 'date +%F', 'date -d now', 'jq -r .a a.txt', 'cd src'], 'allow'),
    [],
  )
})

test('every verb of git that reads is free, and those that read with some words alone', async () => {
  const verbs =
    'status diff log show rev-parse rev-list describe ls-files ls-tree cat-file blame annotate shortlog grep merge-base name-rev whatchanged diff-tree diff-files diff-index for-each-ref show-ref show-branch count-objects check-ignore check-attr cherry range-diff version'
  assert.deepEqual(
    await others(
      verbs.split(' ').map((verb) => `git ${verb} HEAD`),
      'allow',
    ),
    [],
  )
  const free = [
    'branch',
    'branch -av',
    'branch --show-current',
    'tag',
    'tag -l v1',
    'remote -v',
    'remote get-url origin',
    'reflog',
  ]
  const more = ['reflog show', 'stash list', 'stash show', 'worktree list', 'config --get user.name', '--no-pager log']
  assert.deepEqual(
    await others(
      [...free, ...more].map((words) => `git ${words}`),
      'allow',
    ),
    [],
  )
  const not = [
    'branch x',
    'branch -D x',
    'tag v1',
    'tag -d v1',
    'remote add a b',
    'reflog expire',
    'stash',
    'stash pop',
  ]
  const nor = [
    'worktree add x',
    'config user.name x',
    'config --get alias.x',
    '-c a=b log',
    '--exec-path=x log',
    'push',
    'fetch',
  ]
  assert.deepEqual(
    await others(
      [...not, ...nor].map((words) => `git ${words}`),
      'ask',
    ),
    [],
  )
})

/** Lines that fill the folder `locked` with files that they do not name, and uses of the same programs that do not. */
const fills = [
  ...[
    'tar -xf a.tar -C locked',
    'tar xf a.tar --directory=locked',
    'tar --extract -f a.tar --cd locked',
    'tar --get -f a -C locked',
  ],
  ...[
    'bsdtar -xf a -C locked',
    'gtar -xf a -C locked',
    'star -xf a -C locked',
    '7z x a.7z -olocked',
    '7za e a -olocked',
  ],
  ...['7zr x a -olocked', '7zz x a -olocked', 'unzip a.zip -d locked', 'cpio -i -D locked', 'unrar x a.rar -oplocked'],
  ...[
    'rar e a.rar -oplocked',
    'ar x a.a --output locked',
    'jar -xf a.jar -C locked',
    'jar --extract --dir locked -f a.jar',
  ],
  ...[
    'unsquashfs -d locked a.sqfs',
    'dpkg -x a.deb locked',
    'dpkg --vextract a.deb locked',
    'dpkg-deb -R a.deb locked',
  ],
  ...[
    'patch -d locked -i a.diff',
    'svn export https://x/y locked',
    'svn checkout https://x/y locked',
    'gh run download 1 -D locked',
  ],
  ...[
    'gh release download v1 --dir locked',
    'aria2c -d locked https://x/a',
    'wget -r -P locked https://x/',
    'wget -i b.txt -P locked',
  ],
  ...['curl -OJ --output-dir locked https://x/a', 'rsync host:a locked', 'scp host:a locked', 'docker cp c:/a locked'],
  ...[
    'podman cp c:/a locked',
    'kubectl cp pod:/a locked',
    'git apply --directory=locked a.diff',
    'git am --directory=locked a.mbox',
  ],
  ...['python3 -m zipfile -e a.zip locked', 'python3 -m tarfile --extract a.tar locked'],
]
const fillsNot = [
  ...[
    'tar -tf a.tar',
    'tar -cf a.tar src',
    'tar --list -f a.tar',
    'tar --create -f a.tar src',
    'tar --version',
    '7z l a.7z',
  ],
  ...[
    'unzip -l a.zip',
    'cpio -t',
    'unrar l a.rar',
    'ar t a.a',
    'jar -tf a.jar',
    'unsquashfs -l a.sqfs',
    'dpkg -l',
    'dpkg-deb -c a.deb',
  ],
  ...[
    'patch --dry-run -i a.diff',
    'svn status',
    'gh run list',
    'docker ps',
    'kubectl get pods',
    'git apply --check a.diff',
  ],
  ...['scp a.txt host:b', 'rsync a.txt host:b', 'python3 -m zipfile -l a.zip'],
]

test('a program that unpacks is judged by the folder it fills, and other uses of it are not', async () => {
  const deny = ['Edit(locked/**)']
  assert.deepEqual(await others(fills, 'ask', ['Bash'], deny), [])
  assert.deepEqual(await others(fillsNot, 'allow', ['Bash'], deny), [])
})

test('files that usually hold credentials are known by name and by folder', () => {
  const names =
    '.env .env.local prod.env .envrc .netrc _netrc .pgpass .my.cnf .htpasswd .npmrc .pypirc .git-credentials .dockercfg .vault-token .terraformrc a.tfstate a.tfvars .s3cfg .boto id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk a.pem a.key a.p12 a.pfx a.jks a.keystore a.kdbx a.ppk a.ovpn a.mobileprovision credentials credentials.json credentials.yml credentials.yaml.enc mcp-credentials.json secrets secrets.json secrets.yaml secrets.toml secrets.env service-account-1.json service_account.json client_secret_1.json application_default_credentials.json shadow gshadow kubeconfig .bash_history .zsh_history .python_history .psql_history ID_RSA'
  const folders =
    '.ssh .gnupg .aws .azure .config/gcloud .kube .docker .config/gh .config/hub .password-store .mozilla .config/google-chrome .config/chromium Library/Keychains .local/share/keyrings'
  const processes = '/proc/1/environ /proc/self/mem /proc/9/task/9/maps /proc/self/fd/3 /proc/1/auxv'
  const secret = [...words(names).map((n) => `/p/${n}`), ...words(folders).map((n) => `/h/${n}/x`), ...words(processes)]
  assert.deepEqual(
    secret.filter((path) => !isSecretFile(path)),
    [],
  )
  const open =
    '/p/.env.example /p/.env.sample /p/.env.template /p/.env.dist /p/id_rsa.pub /h/.ssh/id_rsa.pub /p/a.ts /proc/cpuinfo /p/.sshx/a /p/environ'
  assert.deepEqual(words(open).filter(isSecretFile), [])
})

const commandOf = (line: string) => readShell(line).commands[0]!

test('what unpacks a file makes one of its name without the end', () => {
  const made = (line: string) => madeNames(line.split(' ')[0]!, commandOf(line).words.slice(1)).map(({ path }) => path)
  const programs =
    'gunzip gzip pigz unpigz bunzip2 bzip2 unxz xz unlzma lzma unzstd zstd lz4 unlz4 uncompress lzop brotli'
  assert.deepEqual(
    words(programs).filter((name) => made(`${name} -d a.b.gz c`).join() !== 'a.b'),
    [],
  )
  const ends = 'gz tgz z Z bz2 xz lzma lzo zst lz4 br'
  assert.deepEqual(
    words(ends).filter((end) => made(`gunzip a.${end}`).join() !== 'a'),
    [],
  )
  assert.deepEqual(['gunzip a.zip', 'gunzip .gz', 'cat a.gz', 'xgunzip a.gz'].flatMap(made), [])
})

test('what sends files elsewhere reads the folders behind its verb as a whole', () => {
  const trees = (line: string) =>
    filesOf(commandOf(line)).flatMap(({ kind, word }) => (kind === 'treeRead' ? [word.path] : []))
  const programs = 'aws az docker gcloud gsutil kubectl mc nerdctl podman rclone s3cmd s4cmd s5cmd'
  assert.deepEqual(
    words(programs).filter((name) => trees(`${name} x cp a b`).join() !== 'a,b'),
    [],
  )
  const verbs = 'cp copy copyto dsync mirror move moveto mv put rsync sync upload upload-batch'
  assert.deepEqual(
    words(verbs).filter((verb) => trees(`aws ${verb} a`).join() !== 'a'),
    [],
  )
  assert.deepEqual(
    words('tar bsdtar gtar gnutar star').filter((name) => trees(`${name} cf a b`).join() !== 'cf,a,b'),
    [],
  )
  assert.deepEqual(
    words('7z 7za 7zr 7zz pax rar').filter((name) => trees(`${name} a b c`).join() !== 'a,b,c'),
    [],
  )
  assert.deepEqual(['aws ls a', 'awsx cp a', 'xaws cp a', 'aws cpx a'].flatMap(trees), [])
})

test('options of the shell under which words mean what they say are no reason to ask', () => {
  const unknown = (line: string) => readShell(line).unknown !== undefined
  const options =
    'allexport checkwinsize emacs errexit errtrace failglob functrace history inherit_errexit lastpipe monitor noclobber noexec noglob notify nounset nullglob pipefail posix verbose vi xtrace'
  const lines = (name: string) => [`set -o ${name}`, `shopt -s ${name}`, `bash -o ${name} a`]
  assert.deepEqual(words(options).flatMap(lines).filter(unknown), [])
  const others = 'braceexpand extglob dotglob globstar nocaseglob keyword ignorebraces xtraces xposix'
  assert.deepEqual(
    words(others)
      .flatMap(lines)
      .filter((line) => !unknown(line)),
    [],
  )
})

test('a program that is given what another prints as its commands, or reads them from its input, is not known', () => {
  const unknown = (line: string) => readShell(line).unknown
  const scripts = words('sed make gmake ninja cmake just vi vim nvim emacs').flatMap((name) =>
    words('-f -S -s -P -l --file --makefile --justfile --load --script').map((option) => [
      `${name} ${option} <(a)`,
      `${name} runs what another command prints`,
    ]),
  )
  assert.deepEqual(
    scripts.map(([line]) => [line, unknown(line!)]),
    scripts,
  )
  const fed = words(
    'python python3.9 pypy pypy3 node nodejs perl perl5.30 ruby ruby2 php php8 lua lua5.1 luajit tclsh wish expect osascript Rscript R ghci irb groovy scala julia octave gdb lldb ed ex bc dc m4 gawk mawk awk sqlite3 psql mysql',
  ).map((name) => [name, `${name} reads its program from its input`])
  assert.deepEqual(
    fed.map(([name]) => [name, unknown(name!)]),
    fed,
  )
  const options = words('--test --eval --print --version --help --execute --command --file --expr -v -V -h')
  const letters = words('-c -e -f -r -E -B -m -xc')
  assert.deepEqual(
    [...options, ...letters].filter((option) => unknown(`node ${option}`) !== undefined),
    [],
  )
  assert.equal(unknown('node --other -x'), 'node reads its program from its input')
  const free = ['cat -f <(a)', 'sed -n <(a)', 'make -f a', 'nodex', 'xnode', 'node a.js', 'node -v', 'psql -c a']
  assert.deepEqual(
    free.filter((line) => unknown(line) !== undefined),
    [],
  )
})

test('the verb of git stands behind its options and their values', () => {
  const verbIn = (options: string) => {
    const args = commandOf(`git ${options} log x`).words.slice(1)
    return args[gitVerbAt(args)]?.value
  }
  const valued = words('-C -c --git-dir --work-tree --namespace --config-env --attr-source --super-prefix')
  const alone = words('-p -P --no-pager --bare --git-dir=a --html-path --exec-path=a -x --literal-pathspecs')
  assert.deepEqual(
    [...valued.map((option) => `${option} a`), ...alone, '-C a -c b --bare'].filter((given) => verbIn(given) !== 'log'),
    [],
  )
  const none = commandOf('git -C').words.slice(1)
  assert.equal(gitVerbAt(none), 1)
})

test('variables that change nothing of what an allowed command does, and names like theirs', () => {
  const safe =
    'NODE_ENV LANG LANGUAGE LC_ALL LC_CTYPE LC_MESSAGES TZ NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE CI TERM COLUMNS LINES RUST_BACKTRACE RUST_LOG PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE GOOS GOARCH'
  assert.deepEqual(
    words(safe).filter((name) => !isSafeVariable(name)),
    [],
  )
  assert.deepEqual(words('NODE_ENVX XLANG LC_ LC_all CIX TERMINFO PATH GOFLAGS').filter(isSafeVariable), [])
})

test('a verb of a package manager is no program, however a rule on the program is written', () => {
  const ran = (line: string) => otherForms(commandOf(line).words, () => true).map(asWritten)
  const verbs = words('bin env install link list ln ls node patch rm root run start test unlink up version why')
  assert.deepEqual(
    words('pnpm yarn')
      .flatMap((name) => verbs.map((verb) => `${name} ${verb} x`))
      .flatMap(ran),
    [],
  )
  assert.deepEqual(
    ['pnpm npm publish', 'yarn tool x', 'bun rm x', 'node rm.js x', 'node /a/npm-cli.js x'].flatMap(ran),
    [...['npm publish', 'tool x', 'rm x', 'rm x', 'npm x']],
  )
  const runners = words('node nodejs bun deno tsx ts-node python python3.9 pypy pypy3 perl ruby php lua pnpm yarn')
  assert.deepEqual(
    runners.filter((name) => ran(`${name} tool.js x`).join() !== 'tool x'),
    [],
  )
})

test('programs that are given code: in any word, after their option, or in their input alone', () => {
  const texts = (line: string) => codesOf(commandOf(line))[0]?.texts.join(' ')
  const anyWord =
    'awk gawk mawk nawk sed tar bsdtar zip ed ex vi vim nvim view emacs gdb lldb ssh scp sftp rsync make gmake man sqlite3 psql mysql dc less more fzf gpg vimdiff lftp ftp mutt'
  assert.deepEqual(
    words(anyWord).filter((name) => texts(`${name} a`) !== 'a'),
    [],
  )
  const withC = 'python python3.9 ipython bpython ptpython jython micropython pypy pypy3 expect tclsh'
  const withE =
    'guile racket csi gosh sbcl clisp ecl ghc ghci runghc elixir iex erl groovy scala kotlin swift crystal raku octave gnuplot maxima julia Rscript R pwsh powershell nu elvish xonsh qjs gjs janet fennel luajit clojure clj bb ocaml swipl gap sage gp bpftrace stap ts-node tsx zx jshell perl ruby lua osascript node nodejs bun deno'
  const given = [
    ...words(withC).map((name) => `${name} -c a`),
    ...words(withE).map((name) => `${name} -e a`),
    'php -r a',
  ]
  assert.deepEqual(
    given.filter((line) => texts(line) !== line.split(' ').slice(1).join(' ')),
    [],
  )
  assert.deepEqual(
    given.filter((line) => texts(line.replace(/ -\w/, ' --other')) !== ''),
    [],
  )
  const inputAlone = 'gcc g++ cc c++ clang cpp terraform tofu'
  assert.deepEqual(
    words(inputAlone).filter((name) => texts(`${name} -e a`) !== '' || texts(`${name} -e a <<< b`) !== 'b'),
    [],
  )
  assert.deepEqual(['cat -e a', 'xnode -e a', 'nodex -e a'].map(texts), [undefined, undefined, undefined])
})

test('the value of an option of read or mapfile is no name of a variable', () => {
  const unknown = (line: string) => readShell(line).unknown
  const options = { read: 'pdnNtu', mapfile: 'dnOsuc', readarray: 'dnOsuc' }
  const lines = (words: (letter: string) => string) =>
    Object.entries(options).flatMap(([name, letters]) => [...letters].map((letter) => `${name} ${words(letter)}`))
  const values = [...lines((letter) => `-${letter} "$q" x`), ...lines((letter) => `-r${letter} "$q" x`)]
  assert.deepEqual(
    values.filter((line) => unknown(line) !== undefined),
    [],
  )
  const names = [...lines((letter) => `-${letter}9 "$q"`), ...lines((letter) => `-${letter} 9 "$q"`), 'read -r "$q"']
  const isSet = 'it sets a variable whose name is only known when it runs'
  assert.deepEqual(
    names.filter((line) => unknown(line) !== isSet),
    [],
  )
})

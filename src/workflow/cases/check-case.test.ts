import assert from 'node:assert/strict'
import { test } from 'node:test'
import { caseProblems } from './check-case.ts'
import { templates } from './templates.ts'

const context = {
  projectDir: '/home/ada/greet',
  criteria: ['C1', 'C2'],
  implementation: ['lib/core.mjs', 'bin/tool.mjs'],
  entryPoints: ['bin/tool.mjs'],
}
const problems = (content: string, criterion: string | null = 'C1') => caseProblems({ criterion, content }, context)

const sound = [
  'set -eu\nout=$(node "$PROJECT_DIR/bin/tool.mjs" x)\n[ "$out" = "y" ]\n',
  'set -e\nnode "$PROJECT_DIR/bin/tool.mjs" | grep -q "^ready$"\n',
  'set -e\nnode "$PROJECT_DIR/bin/tool.mjs" | grep -qF -- \'--ready\'\n',
  'node "$PROJECT_DIR/bin/tool.mjs" > out.txt || exit 1\ndiff out.txt - <<< "y" || exit 1\n',
  'set -e\nnode "$PROJECT_DIR/bin/tool.mjs" --make\ntest -f made.txt\n',
  'node "$PROJECT_DIR/bin/tool.mjs" missing; code=$?\n[ "$code" -eq 1 ] || { echo "exit $code" >&2; exit 1; }\n',
  'set -e\nrows=$(sqlite3 "$AGENT_SDLC_DB" "SELECT count(*) FROM events")\n[[ $rows -gt 0 ]]\n',
  `set -e\nnode -e 'const { execFileSync } = require("child_process"); if (String(execFileSync("tool")) !== "1") process.exit(1)'\n`,
  `set -e\nnode --input-type=module -e 'import assert from "node:assert"; assert.equal(1, 1)'\n`,
  `set -e\npython3 - <<'END'\nimport os, subprocess\nfrom pathlib import Path\nassert subprocess.check_output(["tool"]) == b"1"\nEND\n`,
  'set -e\ntool serve 8099 &\ncurl -s http://127.0.0.1:8099/hello | grep -qx hi\nkill $!\n',
  'set -e\nset_up() { mkdir data; }\nset_up\necho "$PATH" > /dev/null\ntool | grep -q 1\n',
  'set -e\nona --eval \'{"tool":"Read","input":{"file_path":"/etc/hostname"}}\' | jq -e ".is_error == false"\n',
]

test('cases that look from outside may stand', () => {
  for (const content of sound) assert.deepEqual(problems(content), [], content)
  const withTool = { ...context, criteria: ['C1', 'C2', 'C3', 'C4', 'C5'] }
  for (const { surface, script } of templates) {
    const criterion = /# (C\d)/.exec(script)![1]!
    assert.deepEqual(caseProblems({ criterion, content: script }, withTool), [], surface)
  }
})

test('a helper that traces to nothing need not assert', () => {
  assert.deepEqual(problems('mkdir -p data\n', null), [])
})

const refused: [string, RegExp][] = [
  ['', /empty/],
  ['if then fi', /not a shell script/],
  ['set -e\nnode "$PROJECT_DIR/bin/tool.mjs"\ntest $? -eq 0\n', /nothing crashed/],
  ['set -e\nnode "$PROJECT_DIR/bin/tool.mjs"\n', /asserts nothing/],
  ['out=$(node x)\n[ "$out" = y ]\necho fine\n', /nothing in it can fail/],
  ['set -e\nnode -e "const { f } = require(\'./lib/core.mjs\'); console.log(f())" | grep 1\n', /loads a module/],
  ['set -e\nnode --input-type=module -e "import { f } from \'x\'" | grep 1\n', /loads a module/],
  ['set -e\npython3 -c "from app.core import f; print(f())" | grep 1\n', /loads a module/],
  [`set -e\npython3 - <<'END'\nimport app.core as core\nassert core.f() == 1\nEND\n`, /loads a module/],
  [`set -e\nnode -e 'import(process.env.PROJECT_DIR + "/lib/x.mjs")' | grep 1\n`, /loads a module/],
  [`set -e\nnode -e 'require(require("path").join("..", "x"))' | grep 1\n`, /loads a module/],
  ['set -e\nLD_PRELOAD=./fake.so tool | grep 1\n', /how the program is loaded/],
  ['set -e\nNODE_OPTIONS="-r ./patch.js" tool | grep 1\n', /how the program is loaded/],
  ['set -e\nexport PATH=$CASE_DIR:$PATH\ntool | grep 1\n', /changes PATH/],
  ['set -e\nread -r PATH <<< "$PWD/b"\ntool | grep 1\n', /changes PATH/],
  ['set -e\nenv "PATH=$PWD/b" tool | grep 1\n', /changes PATH/],
  ['set -e\nhash -p ./fake node\ntool | grep 1\n', /changes PATH/],
  ['set -e\nfunction [ { :; }\n[ "$(tool)" = 1 ]\n', /shadows a real program/],
  ['set -e\nif :; then function grep { :; }; fi\ntool | grep 1\n', /shadows a real program/],
  ['exit() { builtin exit 0; }\ntool | grep 1 || exit 1\n', /shadows a real program/],
  ['set -e\necho 1 > /home/ada/greet/bin/tool.mjs\ntool | grep -q 1\n', /names the folder of the project itself/],
  ['set -e\ngrep -q 1 /proc/$PPID/cwd/lib/core.mjs\n', /looks at processes/],
  ['set -e\ncurl -s https://example.com/x | diff - out\n', /depends on the network/],
  ['set -e\ncurl() { echo 1; }\ntool | grep 1\n', /shadows a real program/],
  ['set -e\n. "$PROJECT_DIR/lib.sh"\ntool | grep 1\n', /sources/],
  ['set -e\ngrep -q Hello "$PROJECT_DIR/lib/core.mjs"\n', /looks at lib\/core.mjs/],
  ['set -e\ngrep -q Hello "$PROJECT_DIR/bin/tool.mjs"\n', /looks at bin\/tool.mjs/],
  ['set -e\njest.fn(); tool | grep 1\n', /double/],
  ['set -e\nx=$(tool)\n[ "$x" = "$x" ]\n', /compares a value with itself/],
  ['set -e\ntool\n[ 1 -eq 1 ]\n', /compares two constants/],
  ['set -e\ntool | grep -q 1 || true\n', /its check cannot fail/],
  ['set -e\nx=$(tool)\n[ "$x" = 1 ] || echo wrong\n', /its check cannot fail/],
  ['set -e\ntool > out\nexit 0\ngrep -q 1 out\n', /ends before its checks/],
  ['set -e\nset +e\ntool | grep -q 1\n', /hides failures/],
  ['set -e\ntool > out; set +o errexit\ngrep -q 1 out\n', /hides failures/],
  ["set -e\ntrap 'rm -f x; exit 0' EXIT\ntool | grep -q 1\n", /hides failures/],
  ['set -e\ntrap "exit 0" 0\ntool | grep -q 1\n', /hides failures/],
  ['set -e\ntool > out\nexec true\ngrep -q 1 out\n', /ends before its checks/],
  ['set -e\nx=$(tool)\ntest 1\n[ "$x" ] && [ "yes" ]\n', /its check is a constant/],
  ['set -e\ntool > out\ngrep -q 1 out | cat\n', /its check cannot fail/],
  ['set -e\nif false; then tool | grep -q 1; fi\n', /never runs/],
  ['set -e\necho 1 > "$PROJECT_DIR/bin/tool.mjs"\ntool | grep -q 1\n', /changes the project it tests/],
  ['set -e\ncp fake.mjs "${PROJECT_DIR}/bin/tool.mjs"\ntool | grep -q 1\n', /changes the project it tests/],
]

test('cases that the specification forbids are refused, with the reason', () => {
  for (const [content, reason] of refused) assert.match(problems(content).join('\n'), reason, content)
})

test('a case that only looks at the help or the version is refused, unless its criterion is about them', () => {
  const only = [
    'set -e\nnode "$PROJECT_DIR/bin/tool.mjs" --help | grep -q Usage\n',
    'set -e\nout=$("$PROJECT_DIR/bin/tool.mjs" -h)\n[ "$out" != "" ]\ncase "$out" in *usage*) ;; *) exit 1 ;; esac\n',
    'set -e\ncd "$PROJECT_DIR/bin"\n./tool.mjs --version | grep -q 1\n',
  ]
  for (const content of only) assert.match(problems(content).join(), /only looks at the help or the version/, content)
  assert.deepEqual(problems(`${only[0]}node "$PROJECT_DIR/bin/tool.mjs" x | grep -q y\n`), [])
  const about = { ...context, texts: new Map([['C1', 'prints its usage with --help']]) }
  assert.deepEqual(caseProblems({ criterion: 'C1', content: only[0]! }, about), [])
})

test('words of the criterion that are about the help, however they are written', () => {
  const content = 'set -e\nnode "$PROJECT_DIR/bin/tool.mjs" --help | grep -q x\n'
  for (const text of ['Help is given', 'shows HELP', 'its usage', 'the Version'])
    assert.deepEqual(
      caseProblems({ criterion: 'C1', content }, { ...context, texts: new Map([['C1', text]]) }),
      [],
      text,
    )
})

test('of what is refused the first sixty characters are quoted, without the space around them', () => {
  const long = 'x'.repeat(70)
  const quoted: [string, string][] = [
    [`set -e\ncurl http://${long} | grep 1\n`, `it depends on the network: http://${long.slice(0, 53)}`],
    ['set -e\n\n  curl() { :; }\ntool | grep 1\n', 'it shadows a real program: curl()'],
    [
      `set -e\nnode -e 'import {${long}} from "x"' | grep 1\n`,
      `it loads a module of the project's; run the program instead: import {${long.slice(0, 52)}`,
    ],
    [
      'set -e\npython3 - << END\n\n  import core\nassert core.f() == 1\nEND\n',
      "it loads a module of the project's; run the program instead: import core",
    ],
    [
      `set -e\ncp ${long} "$PROJECT_DIR/x"\ntool | grep 1\n`,
      `it changes the project it tests: cp ${long.slice(0, 57)}`,
    ],
    [`set -e\ntool\n[ "${long}" = "${long}" ]\n`, `it compares a value with itself: [ "${long.slice(0, 57)}`],
  ]
  for (const [content, problem] of quoted) assert.equal(problems(content)[0], problem)
})

test('a case must trace to a criterion that the plan has', () => {
  for (const criterion of ['C9', 'c1', ''])
    assert.deepEqual(problems(sound[0]!, criterion), [
      `it traces to ${criterion}, which the plan does not have; the criteria are C1, C2`,
    ])
})

/** One line each: what is forbidden, in all its spellings. */
const spellings: Record<string, readonly string[]> = {
  double: [
    ...[
      'jest.fn()',
      'vi.mock("a")',
      'sinon.stub(a)',
      'td.replace(a)',
      'jest . spyOn(a)',
      'unittest.mock',
      'monkeypatch.x',
    ],
    ...[
      'proxyquire("a")',
      'nock("http")',
      'Mock(a)',
      'MagicMock()',
      'createMock()',
      'a.mockImplementation(b)',
      'stub(a)',
    ],
  ],
  loading: [
    ...['LD_PRELOAD=x', 'NODE_OPTIONS =x', 'PYTHONPATH=x', 'PYTHONSTARTUP=x', 'RUBYOPT=x', 'PERL5OPT=x', 'BASH_ENV=x'],
    ...['node --import x', 'node --require x', 'node --loader x', 'node --experimental-loader x'],
  ],
  path: ['PATH=x', 'hash -dp x', 'enable -n test', 'command_not_found_handle() { :; }'],
  shadow: [
    ...['node() { :; }', 'sqlite3 () { :; }', 'x; grep( ) { :; }', '[[() { :; }', 'function rg { :; }'],
    ...['if x; then diff() { :; }; fi', 'alias ls=x', 'for a in b; do test() { :; }; done', 'else exit() { :; }'],
  ],
  processes: [
    'cat /proc/self/maps',
    'ls /proc/1',
    'ls /proc/$x',
    'ls /proc/*',
    'exec 3> /dev/tcp/a/1',
    'cat /dev/fd/3',
    'x > /dev/udp/a/1',
  ],
  network: [
    'curl https://a.b',
    'curl http://localhost.evil',
    'curl http://localhost-evil',
    'curl http://localhost%2eevil',
    'curl http://localhost@evil',
    'curl http://127.0.0.1:80@evil',
    'curl ftp://a',
    'git clone ssh://a',
    'curl "http://[2001:db8::1]:80/"',
  ],
  loads: [
    ...[
      'require("./a")',
      'import("./a")',
      'require(x)',
      "import a from './a'",
      'import * as a from "x"',
      'from a.b import c',
    ],
    ...['import a', 'import a.b as c', 'x; import a, b', 'importlib', 'runpy', '__import__', 'createRequire'],
  ],
  sources: ['source a', '. ./a', 'source'],
  inside: [
    ...[
      'cat "$PROJECT_DIR/lib/core.mjs"',
      'node "$PROJECT_DIR/lib/core.mjs"',
      'sha256sum bin/tool.mjs',
      'x < bin/tool.mjs',
    ],
    ...['wc bin/tool.mjs', 'git show bin/tool.mjs', 'source bin/tool.mjs', 'head -1 bin/tool.mjs', 'jq . bin/tool.mjs'],
  ],
  overwrites: [
    ...[
      'x > "$PROJECT_DIR/a"',
      'mv a "$PROJECT_DIR"',
      'install a "${PROJECT_DIR}/a"',
      'ln -s a $PROJECT_DIR/a',
      'tee $PROJECT_DIR/a',
    ],
    ...[
      'rsync a $PROJECT_DIR',
      'rm -r $PROJECT_DIR/a b',
      'chmod 0 $PROJECT_DIR',
      'truncate $PROJECT_DIR/a',
      'patch $PROJECT_DIR/a',
    ],
    ...[
      'touch $PROJECT_DIR/a',
      'shred $PROJECT_DIR/a',
      'unlink $PROJECT_DIR/a',
      'chown x $PROJECT_DIR/a',
      'dd $PROJECT_DIR/a',
    ],
  ],
  outside: ['cat /home/ada/greet/x'],
  itself: ['[ $a = $a ]', '[[ ! "$a" == "$a" ]]', 'test $a -eq $a', '[ $a -ge $a ]', '[ $a -le $a ]', '[[ $a =~ $a ]]'],
  constants: ['[ 1 = 1 ]', '[[ a != b ]]', 'test 1 -lt 2', '[ ! "a" == "a" ]', "[ 'a.b' = 'c-d' ]"],
  'cannot fail': [
    ...[
      '[ $a = 1 ] || true',
      '[[ $a = 1 ]] || :',
      'grep a b || exit 0',
      'diff a b || echo no',
      'cmp a b ||true',
      'jq a || true',
    ],
    ...['test -f a || true', 'grep a b | cat', 'diff a b | true', 'cmp a b | :;', 'jq a | cat', 'test a | cat'],
  ],
  constant: ['[ yes ]', 'test 1', '[ -n "a" ]', '[[ a.b ]]', 'test x; y', 'test x && y'],
  hides: [
    'set +e',
    'x; set +ue',
    'set +o errexit',
    "trap 'exit 0' EXIT",
    'trap "true" ERR',
    'trap exit EXIT',
    "trap 'x; exit; ' EXIT",
  ],
  ends: ['exec true', 'exec echo a', 'exec printf a', 'x; exec echo', 'exit\nx', 'exit 0\nx'],
  never: [
    'if true; then a; fi',
    'if :; then a; fi',
    'if false; then a; fi',
    'while false; do a; done',
    '  if true; then a; fi',
    ' set +e',
    '\tset +o errexit',
  ],
}
const allowed = [
  ...[
    'curl http://localhost:1/',
    'curl http://127.0.0.1/',
    'curl "http://[::1]:1"',
    'curl http://localhost',
    'x=$(curl http://localhost); echo `curl http://127.0.0.1`',
    'curl http://localhost|cat; curl http://localhost>a; curl http://localhost?a=b@c',
    'curl http://localhost:$port?a=b@c; curl http://localhost:1/a@b; curl http://localhost:1#a@b',
    'echo $PATH',
    'echo "${PATH}"',
    'my-PATH',
    'ls /process',
  ],
  ...[
    '# jest.fn() in a comment',
    'tool # jest.fn()',
    "tool # isn't jest.fn()\n\t# 'jest.fn()",
    'tool "$x" # "jest.fn()',
    'tool \\" # "; jest.fn() # "',
    "cat <<E\nisn't\nE\ntool # it's jest.fn()",
    'require("fs")',
    'import os',
    'import os.path as p',
    'from json import loads',
    'import fs from "node:fs"',
  ],
  ...[
    '"$PROJECT_DIR/bin/tool.mjs" a',
    'cp "$PROJECT_DIR/a" b',
    'unsource a',
    '[ $a = $b ]',
    '[ $a = 1 ]',
    'exit 0',
    'set -e +x',
  ],
  ...[
    'grep a b || exit 1',
    'trap "rm a" EXIT',
    'if x; then a; fi',
    'echo what if true',
    'cat "$PROJECT_DIR/package.json"',
    'nodes() { :; }',
    'mygrep() { :; }',
  ],
]
const tail = '\nset -e\n[ "$(tool)" = 1 ]\n'

test('each spelling of what is forbidden is found and shown, and what is only alike is not', (t) => {
  const found = Object.entries(spellings).map(([kind, lines]) => [
    kind,
    lines.map((line) => [line, ...problems(`${line}${tail}`)]),
  ])
  for (const [kind, lines] of found) for (const [line, ...why] of lines!) assert.ok(why.length > 0, `${kind}: ${line}`)
  t.assert.snapshot(Object.fromEntries(found))
  for (const line of [
    'echo a#b; NODE_OPTIONS=x tool',
    'x=${#y}; NODE_OPTIONS=x tool',
    '[ $# = 0 ]; NODE_OPTIONS=x tool',
    "echo ' # '; NODE_OPTIONS=x tool",
    "x=' # '; NODE_OPTIONS=x tool",
    'echo " # "; NODE_OPTIONS=x tool',
    'echo "\\" # "; NODE_OPTIONS=x tool',
    "echo $'\\' # '; NODE_OPTIONS=x tool",
    'echo "\n # "; NODE_OPTIONS=x tool',
    "echo '\n # '; NODE_OPTIONS=x tool",
    'echo \\ #; NODE_OPTIONS=x tool',
    "echo ' # \\'; NODE_OPTIONS=x tool",
  ])
    assert.deepEqual(problems(`${line}${tail}`), ['it changes how the program is loaded: NODE_OPTIONS='], line)
  assert.deepEqual(problems(`tool | grep -q '^ # Title' || exit 1\n`), [])
  for (const line of allowed) assert.deepEqual(problems(`set -e\n[ "$(tool)" = 1 ]\n${line}\n`), [], line)
})

test('a module is the language’s own by its name, whatever lies below it, and never by a variable', () => {
  const loads = (module: string) => problems(`node -e "require('${module}')"${tail}`)
  for (const module of ['path/$X', 'node:$X', './fs', 'fsx'])
    assert.match(
      loads(module).join(),
      /^it loads a module of the project's; run the program instead: require\(/,
      module,
    )
  for (const module of ['path/posix', 'node:fs', 'fs']) assert.deepEqual(loads(module), [], module)
})

test('every word of the tables counts: what must not be shadowed, what reads and what changes, what a language brings', () => {
  const shadowed =
    'node npm npx deno bun python python3 ruby perl bash sh env git curl sqlite3 ona grep egrep fgrep rg diff cmp jq cat sed awk wc head tail sort test [ [[ exit return set trap true false eval exec command builtin echo printf read kill timeout'
  const readers =
    'cat grep egrep fgrep rg sed awk head tail less more wc diff cmp jq strings md5sum sha256sum sha1sum git source .'
  const modules =
    'os sys subprocess json re pathlib tempfile sqlite3 time shutil io csv socket http urllib signal textwrap difflib hashlib math datetime unittest fs path child_process'
  const tables: Record<string, readonly string[]> = {
    'it shadows a real program': shadowed.split(' ').map((word) => `${word}() { :; }`),
    'it looks at bin/tool.mjs': readers.split(' ').map((word) => `${word} bin/tool.mjs`),
    'it changes the project it tests': 'cp mv install ln tee dd rsync rm chmod chown truncate patch touch shred unlink'
      .split(' ')
      .map((word) => `${word} a $PROJECT_DIR/a`),
  }
  for (const [why, lines] of Object.entries(tables))
    for (const line of lines)
      assert.ok(
        problems(`${line}${tail}`).some((problem) => problem.startsWith(why)),
        `${why}: ${line}`,
      )
  for (const name of modules.split(' ')) assert.deepEqual(problems(`import ${name}${tail}`), [], name)
})

test('an assertion is a comparison that can fail, in one of these ways; a script that cannot fail is told how it could', () => {
  const ways: Record<string, readonly string[]> = {
    fails: ['set -e', 'set -xeu', 'x || exit 1', 'x || { y; }', 'x || fail', 'x || die a', 'x || return 2', 'exit 3'],
    asserts: [
      ...[
        'grep a b',
        'rg -n "a" b',
        'grep --count ^a b',
        'diff a b',
        'cmp a b',
        'jq -e .a',
        'jq -r -e .a',
        'jq -re .a',
      ],
      ...[
        '[ "$a" = b ]',
        ...['[ $a -eq $b ]', '[ $a -ne 3 ]', 'test $a -gt 3', 'test $a -ge 3', '[ $a -lt 3 ]', '[ $a -le 3 ]'],
        '[[ $a =~ b ]]',
        '[ ! $(x) != b ]',
        '[ b = $a ]',
        'test b == "$a"',
        '[ -e a ]',
        'test ! -L a',
      ],
      ...[
        'case $a in b) ;; esac',
        'case "${a}" in b) ;; esac',
        'python3 -c "assert x"',
        'node -e "process.exit(x)"',
        'python3 -c "sys.exit(x)"',
      ],
      ...['python3 -c "raise SystemExit(x)"', 'node -e "throw new Error(x)"', 'node -e "process.exitCode = x"'],
      ...['[ $? -eq 1 ]', 'test "$?" = 2', '[ $code == 3 ]'],
    ],
  }
  for (const way of ways['fails']!) assert.deepEqual(problems(`${way}\n[ "$(tool)" = 1 ]\n`), [], way)
  for (const way of ways['asserts']!) assert.deepEqual(problems(`set -e\n${way}\n`), [], way)
  const only = 'compare output, a file, a row or an exit code with what the criterion says'
  const table: [string, string[]][] = [
    ['[ "$(tool)" = 1 ]\n', ['nothing in it can fail: begin with set -eu, or end each check with || exit 1']],
    [
      'echo set -e\n[ "$(tool)" = 1 ]\n',
      ['nothing in it can fail: begin with set -eu, or end each check with || exit 1'],
    ],
    ['set -e\ntool\n', [`it asserts nothing that can be observed: ${only}`]],
    ['set -e\ntool\n[ $? -ne 1 ]\n', [`it only checks that nothing crashed: ${only}`]],
    ['set -e\ntool\necho the exit code is 0\n', [`it only checks that nothing crashed: ${only}`]],
    ['  \n', ['the case is empty']],
    ['if then fi', problems('if then fi')],
    [
      'set -e\nnode "$PROJECT_DIR/bin/tool.mjs" help | grep a\n',
      ['it only looks at the help or the version of the program: run what the criterion is about'],
    ],
  ]
  for (const [content, expected] of table) assert.deepEqual(problems(content), expected, content)
  assert.equal(problems('# only a comment')[0], 'it is not a shell script that can be read')
  assert.match(problems('if then fi')[0]!, /^it is not a shell script that can be read: ./)
  assert.deepEqual(problems('tool\n', 'C9'), [
    'it traces to C9, which the plan does not have; the criteria are C1, C2',
    'nothing in it can fail: begin with set -eu, or end each check with || exit 1',
  ])
  const anywhere = { ...context, projectDir: '/' }
  assert.deepEqual(caseProblems({ criterion: 'C1', content: 'set -e\ngrep a /b\n' }, anywhere), [])
})

test('each of these asks for help only, by whatever starts the program; one other call is enough', () => {
  const isHelp = (line: string) =>
    problems(`set -e\n${line} | grep a\n`).some((why) => why.startsWith('it only looks at the help'))
  const program = '"$PROJECT_DIR/bin/tool.mjs"'
  for (const flag of ['--help', '-h', "'-?'", 'help', '--version', '-V', '-v', 'version', '--usage'])
    assert.deepEqual([flag, isHelp(`${program} ${flag}`)], [flag, true])
  for (const starter of 'node deno bun python python3 ruby perl lua php sh bash env timeout exec command time npx'.split(
    ' ',
  ))
    assert.deepEqual([starter, isHelp(`${starter} ${program} a --help`)], [starter, true])
  for (const line of [`bash -v ${program} x`, `timeout -v 5 ${program} x`])
    assert.deepEqual([line, isHelp(line)], [line, false])
  for (const line of [`${program} x`, `echo ${program} --help`, 'other --help', `${program} --help; ${program} x`])
    assert.deepEqual([line, isHelp(line)], [line, false])
  assert.equal(isHelp('tool.mjs --help'), true, 'by its name alone')
  for (const line of [`timeout 5 ${program} --help`, `env A=b node ${program} --help`])
    assert.deepEqual([line, isHelp(line)], [line, true])
  assert.equal(isHelp(`xargs node ${program} --help`), false)
})

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

test('a case must trace to a criterion that the plan has', () => {
  assert.match(problems(sound[0]!, 'C9').join(), /traces to C9, which the plan does not have; the criteria are C1, C2/)
})

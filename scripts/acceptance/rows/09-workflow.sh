group workflow 'The workflow (spec 003 §8)' <<'X'
ona --init-db
X

plan_text='# Greet

## Success criteria
- `greet Ada` prints Hello, Ada!
- no name prints Hello, world!
'

# sound NAME: a program that greets: a script of the shell, since it runs again for each case and each mutant
sound() { printf '#!/bin/sh\necho "Hello, %s!"\n' "$1"; }

# greeter NAME: a project with a command that greets, and a conversation that has implemented an approved plan of it
greeter() {
  home; model lm; ona --init-db >/dev/null; conversation c planning; plan c "$plan_text"
  echo '{"name":"greet","bin":{"greet":"bin/greet.sh"}}' >package.json
  mkdir -p bin; sound "$1" >bin/greet.sh
}

# case_of CRITERION NAME ARGUMENTS EXPECTED
case_of() { printf '{"name":"WriteTestCase","input":{"criterion":"%s","name":"%s","script":"set -eu\\nactual=$(sh \\"$PROJECT_DIR/bin/greet.sh\\"%s)\\necho \\"$actual\\"\\n[ \\"$actual\\" = '"'"'%s'"'"' ] || exit 1\\n"}}' "$@"; }
both() { printf '[%s,%s]' "$(case_of C1 by-name ' Ada' 'Hello, Ada!')" "$(case_of C2 the-world '' 'Hello, world!')" >"$OUTSIDE/cases.json"; }

row 8.1-1 8.1 'conversations.phase is one of the six' 'another is wrong usage; a new conversation is idle' <<'X'
exits 2 ona --transition shipping --conversation x
home; ona --init-db >/dev/null
same idle "$(sql 'SELECT DISTINCT phase FROM conversations')"
X

row 8.2-1 8.2 'of the 36 pairs only those of the table are open, and a refusal changes nothing' '31 refusals leave the phase as it was' <<'X'
unit test/workflow.test.ts --test-name-pattern='36 pairs'
X

row 8.2-2 8.2 'EnterPlanMode leads from any phase to planning' 'planning from each of the six' <<'X'
home; ona --init-db >/dev/null
for from in idle planning implement test verify done; do conversation "p-$from" "$from"; tool EnterPlanMode '{}' --conversation "p-$from" >/dev/null; same planning "$(phase "p-$from")"; done
X

row 8.2-3 8.2 'forbidden: implement from planning without an approved plan' 'exit 1; still planning' <<'X'
home; ona --init-db >/dev/null; conversation c planning
exits 1 ona --transition implement --conversation c
same planning "$(phase c)"
X

row B-no-bypass 8.2 'forbidden: implement to verify or done directly' 'exit 1 twice; still implement; then test is open' <<'X'
home; ona --init-db >/dev/null; conversation c implement
exits 1 ona --transition verify --conversation c
exits 1 ona --transition done --conversation c --approve --as Ada
same implement "$(phase c)"
exits 0 ona --transition test --conversation c
same test "$(phase c)"
X

row 8.2-4 8.2 'a transition updates phase and last_active, with its events row, in one commit' 'one phase event; implementation_complete beside it' <<'X'
home; ona --init-db >/dev/null; conversation c implement; sql "UPDATE conversations SET last_active = '2000-01-01' WHERE id = 'c'"
ona --transition test --conversation c >/dev/null
same 'implementation_complete,phase' "$(sql "SELECT group_concat(event_type) FROM (SELECT event_type FROM events WHERE conversation_id = 'c' AND event_type IN ('implementation_complete', 'phase') ORDER BY event_type)")"
same 1 "$(sql "SELECT last_active > '2020' FROM conversations WHERE id = 'c'")"
X

row 8.2-5 8.2 'forbidden: a second authority for the phase in state' 'a phase written there changes nothing' <<'X'
home; ona --init-db >/dev/null; conversation c implement
sql "INSERT INTO state(conversation_id, key, value) VALUES ('c', 'phase', 'verify'), ('c', 'sdlc_phase', 'verify')"
exits 1 ona --transition done --conversation c --approve --as Ada
same implement "$(phase c)"
X

row 8.3-1 8.3 'planning without an approved plan: Write, Edit, Bash and NotebookEdit are denied before they run' 'four errors; nothing is made' <<'X'
home; ona --init-db >/dev/null; conversation c planning; settings '{"permissions":{"defaultMode":"bypassPermissions"}}'
for call in 'Write {"file_path":"made","content":"x"}' 'Edit {"file_path":"made","old_string":"a","new_string":"b"}' 'Bash {"command":"touch made"}' 'NotebookEdit {"notebook_path":"made.ipynb","new_source":"x"}'; do has "$(tool "${call%% *}" "${call#* }" --conversation c)" 'shut while the plan is being made.*"is_error":true'; done
[ -z "$(ls)" ]
X

row 8.3-2 8.3 'the other built-ins and MCP tools run under hooks and rules' 'Glob and TodoWrite work' <<'X'
home; ona --init-db >/dev/null; conversation c planning
has "$(tool Glob '{"pattern":"*"}' --conversation c)" '"is_error":false'
has "$(tool TodoWrite '{"todos":[]}' --conversation c)" '"is_error":false'
X

row 8.4-1 8.4 'a policy hook can read and write the workflow in AGENT_SDLC_DB' 'a hook reads the phase and denies by it' <<'X'
home; ona --init-db >/dev/null; conversation c verify
settings '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"Write","command":"[ \"$(sqlite3 \"$AGENT_SDLC_DB\" \"SELECT phase FROM conversations WHERE id = '"'c'"'\")\" != verify ] || { echo frozen >&2; exit 2; }"}]}'
has "$(tool Write '{"file_path":"x","content":"y"}' --conversation c)" 'frozen'
X

row B-isolation 8.5.1 'the test generator gets the approved plan, the criteria and the public contract, and nothing of the implementation' 'canaries in source, names, diff, debug output and instructions reach no request' <<'X'
greeter '${1-world}'; both
mkdir lib; tool Write "{\"file_path\":\"$PWD/lib/canary_name_9d04.mjs\",\"content\":\"export const x = 'CANARY_TEXT_71c2'\"}" --conversation c >/dev/null
tool Edit "{\"file_path\":\"$PWD/lib/canary_name_9d04.mjs\",\"old_string\":\"const x\",\"new_string\":\"const CANARY_DIFF_44ab\"}" --conversation c >/dev/null
tool Bash '{"command":"echo CANARY_DEBUG_e1f7"}' --conversation c >/dev/null
ona --transition test --conversation c
has "$(requests)" 'no name prints Hello, world'
lacks "$(requests)" '(CANARY_TEXT_71c2|canary_name_9d04|CANARY_DIFF_44ab|CANARY_DEBUG_e1f7)'
has "$(sql "SELECT detail FROM events WHERE event_type = 'test_generation_context'")" '"plan 1"'
X

row 8.5.1-1 8.5.1 'the generator has only its two tools: none reads a file' 'WriteTestCase and PublicContract' <<'X'
greeter '${1-world}'; both
ona --transition test --conversation c >/dev/null
same 'WriteTestCase,PublicContract' "$(requests | head -1 | json .body | node -e 'console.log(JSON.parse(require("fs").readFileSync(0, "utf8")).tools.map((t) => t.function.name).join())')"
X

row B-observable 8.5.2 'a case asserts observable surfaces only: one that only shows that nothing crashed, or that cannot fail, is refused' 'neither is stored; the generator is told why' <<'X'
greeter '${1-world}'
printf '[{"name":"WriteTestCase","input":{"criterion":"C1","name":"smoke","script":"set -e\\nsh \\"$PROJECT_DIR/bin/greet.sh\\" Ada\\ntest $? -eq 0\\n"}},{"name":"WriteTestCase","input":{"criterion":"C1","name":"idle","script":"echo fine\\n"}}]' >"$OUTSIDE/cases.json"
ona --transition test --conversation c
same 0 "$(sql 'SELECT count(*) FROM ona_test_cases')"
has "$(requests | sed -n 2p)" 'only checks'; has "$(requests | sed -n 2p)" 'nothing in it can fail'
X

row B-anti-mock 8.5.3 'a case with an internal import, a stub or a double is refused' 'none of three is stored' <<'X'
greeter '${1-world}'
printf '[{"name":"WriteTestCase","input":{"criterion":"C1","name":"imports","script":"set -e\\nnode -e \\"import('"'../lib/x.mjs'"')\\" | grep Hello\\n"}},{"name":"WriteTestCase","input":{"criterion":"C1","name":"mocks","script":"set -e\\nPATH=\\"$CASE_DIR/fake:$PATH\\" greet Ada | grep Hello\\n"}},{"name":"WriteTestCase","input":{"criterion":"C1","name":"loader","script":"set -e\\nNODE_OPTIONS=--import=./fake.mjs node \\"$PROJECT_DIR/bin/greet.mjs\\" Ada | grep Hello\\n"}}]' >"$OUTSIDE/cases.json"
ona --transition test --conversation c
same 0 "$(sql 'SELECT count(*) FROM ona_test_cases')"
X

row B-traceability 8.6.1 'every case is recorded with the criterion of the plan that it shows' 'C1 and C2; one without a criterion does not count' <<'X'
greeter '${1-world}'; both
ona --transition test --conversation c >/dev/null
same $'C1|by-name\nC2|the-world' "$(sql 'SELECT criterion, name FROM ona_test_cases WHERE superseded = 0 ORDER BY id')"
X

row B-gate 8.6.2 'test to verify is blocked while a traced case fails' 'exit 1 naming it; still test; open after the fix and a new run' <<'X'
greeter '${1-nobody}'; both
ona --transition test --conversation c >/dev/null
has "$(exits 1 ona --transition verify --conversation c)" 'the-world failed'
same test "$(phase c)"
sound '${1-world}' >bin/greet.sh
ona verify --conversation c --run >/dev/null
exits 0 ona --transition verify --conversation c
same verify "$(phase c)"
X

row 8.6.2-1 8.6.2 'forbidden: verify with a criterion that no case covers' 'exit 1 naming it; still test' <<'X'
greeter '${1-world}'
printf '[%s]' "$(case_of C1 by-name ' Ada' 'Hello, Ada!')" >"$OUTSIDE/cases.json"
ona --transition test --conversation c >/dev/null
has "$(exits 1 ona --transition verify --conversation c)" 'C2 has no test case'
same test "$(phase c)"
X

row 8.6.2-2 8.6.2 'results are stored for the verify phase' 'a run with exit code, stdout and stderr for each case' <<'X'
greeter '${1-nobody}'; both
ona --transition test --conversation c >/dev/null
same $'by-name|0|Hello, Ada!\nthe-world|1|Hello, nobody!' "$(sql "SELECT name, exit_code, trim(stdout, char(10)) FROM ona_test_runs r JOIN ona_test_cases c ON c.id = r.case_id ORDER BY c.id")"
X

row B-report 8.7 'the report: matrix of criteria, cases and states; what each printed; what is uncovered; the rate' 'all four, as text and as JSON' <<'X'
greeter '${1-nobody}'; both
ona --transition test --conversation c >/dev/null
said=$(ona verify --conversation c || true)
has "$said" 'C1'; has "$said" 'by-name \(passed'; has "$said" 'the-world \(failed'; has "$said" 'Hello, nobody!'; has "$said" '2 traced cases, 1 passed, 1 failed \(50 %\)'
same C2 "$( (ona verify --conversation c --json || true) | json .uncovered.0.criterion)"
X

row 8.7-1 8.7 'verify to done needs the operator: approval and a name' 'refused without; done with, and the name is on record' <<'X'
greeter '${1-world}'; both
ona --transition test --conversation c >/dev/null; ona --transition verify --conversation c >/dev/null
exits 1 ona --transition done --conversation c
exits 2 ona --transition done --conversation c --approve
exits 0 ona --transition done --conversation c --approve --as Ada
same Ada "$(sql "SELECT json_extract(detail, '$.by') FROM events WHERE event_type = 'sign_off'")"
same done "$(phase c)"
X

row 8.8.1-1 8.8.1 'the template of a tool contract, as written' 'is_error false, line1, 3 lines in the newest tool_result' <<'X'
home; ona --init-db >/dev/null
echo -e "line1\nline2\nline3" >input.txt
ona --eval "{\"tool\": \"Read\", \"input\": {\"file_path\": \"$PWD/input.txt\"}}"
RESULT=$(sqlite3 "$AGENT_SDLC_DB" "SELECT payload_json FROM transcript_entries WHERE entry_type='tool_result' ORDER BY sequence DESC LIMIT 1")
echo "$RESULT" | grep '"is_error":false'; echo "$RESULT" | grep 'line1'; echo "$RESULT" | grep '3 lines'
X

row 8.8.2-1 8.8.2 'the template of a phase transition, as written' 'implement, then test' <<'X'
home; ona --init-db >/dev/null
sqlite3 "$AGENT_SDLC_DB" "INSERT INTO conversations(id, project_dir, phase) VALUES ('test-conv-1', '/tmp', 'implement')"
ona --transition verify --conversation test-conv-1 2>&1 || true
same implement "$(sqlite3 "$AGENT_SDLC_DB" "SELECT phase FROM conversations WHERE id='test-conv-1'")"
ona --transition test --conversation test-conv-1
same test "$(sqlite3 "$AGENT_SDLC_DB" "SELECT phase FROM conversations WHERE id='test-conv-1'")"
X

row 8.8.3-1 8.8.3 'the template of a hook contract, as written' 'exit_code 2 in the row; is_error true' <<'X'
home; ona --init-db >/dev/null
sqlite3 "$AGENT_SDLC_DB" "INSERT OR REPLACE INTO settings_snapshot(scope, json, updated_at) VALUES ('effective', '{\"hooks\":[{\"hook_event_name\":\"PreToolUse\",\"matcher\":\"Bash\",\"command\":\"exit 2\"}]}', datetime('now'))"
ona --eval '{"tool": "Bash", "input": {"command": "echo hello"}}' || true
sqlite3 "$AGENT_SDLC_DB" "SELECT exit_code FROM hook_invocations WHERE hook_event='PreToolUse' AND tool_name='Bash' ORDER BY id DESC LIMIT 1" | grep '^2$'
sqlite3 "$AGENT_SDLC_DB" "SELECT payload_json FROM transcript_entries WHERE entry_type='tool_result' ORDER BY sequence DESC LIMIT 1" | grep '"is_error":true'
X

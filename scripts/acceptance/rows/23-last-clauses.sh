group clauses 'The last clauses of the documents' <<'X'
home
X

row S001-5.2 001§5.2 'what a module logs, and every warning of it, is in its own debug.log; a warning is an event as well' 'the tests pass' <<'X'
unit test/dispatcher/dispatcher.test.ts --test-name-pattern='debug.log'
X

row S001-11 001§11 'the capability is computed again at Stop and PostToolUse, and never on PreToolUse' 'the tests pass' <<'X'
unit test/dispatcher/dispatcher.test.ts --test-name-pattern='graph database again|never asked on PreToolUse'
X

row S001-12.2 001§12.2 'a policy violation and a spent budget lead to BLOCKED, and the next prompt leads back' 'the tests pass' <<'X'
unit test/dispatcher/dispatcher.test.ts --test-name-pattern='12.2'
X

row S001-17 001§17 'a pattern with many wildcards is held against a path in linear time' 'the test passes' <<'X'
unit src/dispatcher/rules/glob.test.ts
X

row S001-16 001§16 'every keyword that a schema of the dispatcher uses is enforced; one that is not is named' 'the tests pass' <<'X'
unit src/dispatcher/setup/check-schema.test.ts
X

row SDK-2 002 'attempt is typed under strict; a plain function among the tools is an error that shows how to make it one' 'the tests pass' <<'X'
unit src/sdk/types.test.ts
unit src/sdk/run.test.ts --test-name-pattern='plain function'
X

row SDK-3 002 'a tool gets the context that it declares; guard, defineHook, deny, ask and allow have the types of the tool' 'the tests pass' <<'X'
unit src/sdk/guard.test.ts --test-name-pattern='context|guard'
X

row SDK-4 002 'an agent is a tool of another one; events name their agent and handoffs' 'the tests pass' <<'X'
unit src/sdk/guard.test.ts --test-name-pattern='tool of another one|handoff is an event'
X

row SDK-5 002 'the files that the package names are shipped with it' 'the test passes' <<'X'
unit test/packaging.test.ts --test-name-pattern='files of the package are there'
X

row APPROVAL-3 5.7 'a sub-agent, one in the background, and a skill that runs as a sub-agent wait and resume at the call that waited' 'the tests pass' <<'X'
unit test/agent/agent-approvals.test.ts --test-name-pattern='sub-agent|in the background'
X

row APPROVAL-4 5.7 'an approval has an owner and an expiry, covers the call as it was seen, and runs it once, after a crash too' 'the tests pass' <<'X'
unit test/agent/agent-approvals.test.ts --test-name-pattern='only its owner|does not cover|not run a second time'
X

row BARE-1 4.4 '--bare keeps deny and ask rules of record; what the settings switch off is listed as withheld' 'the tests pass' <<'X'
unit src/store/settings/settings.test.ts --test-name-pattern='bare|withheld'
X

row ASK-1 5.7 "a hook's ask in -p is denied with the hook's reason, and with no advice that would not help" 'the reason is in the result; no flag is named' <<'X'
model lm; ona --init-db >/dev/null
echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"outside office hours"}}' >ask.json
settings '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"Bash","command":"cat '"$PWD"'/ask.json"}]}'
ona -p 'call Bash {"command":"touch made"}' --allowed-tools Bash >/dev/null || true
result=$(sql "SELECT payload_json FROM transcript_entries WHERE entry_type = 'tool_result' ORDER BY id DESC LIMIT 1")
has "$result" 'outside office hours'; has "$result" '"is_error":true'
lacks "$result" '(--allowed-tools|permissions\.allow)'
[ ! -e made ]
X

row COMPACT-1 2.5 'compaction survives one result that is larger than the window; the largest results go first; the session goes on' 'the tests pass' <<'X'
unit src/agent/context/context.test.ts --test-name-pattern='larger than the window|what is summarised fits|old bulky results'
X

row FILES-2 4.1 'inspect --html, verify --html, --record and /export write into a pipe, and a pipe stays one' 'the tests pass' <<'X'
unit test/headless/headless.test.ts --test-name-pattern='stays one'
X

row MEMORY-1 4.7 'words that every sentence has recall nothing; a piped # line is stored and no model is asked' 'the tests pass' <<'X'
unit src/store/records.test.ts --test-name-pattern='recall nothing'
unit test/headless/headless.test.ts --test-name-pattern='begins with #'
X

row STORE-1 2.8 'the file fallback of the secure store is a row of the forks, and ona status says that it is not encrypted' 'both say so' <<'X'
has "$(cat "$ROOT/docs/FORKS.md")" 'credentials.json.*not encrypted'
printf 'sk-ant-fallback-000000001\n' | ona login --key >/dev/null
same 600 "$(stat -c %a ~/.ona/credentials.json)"
has "$(ona status)" 'not encrypted'
X

row STEPS-2 004 'images by URL in a tool result; a hook-supplied reply raises after_generate once' 'the tests pass' <<'X'
unit test/hooks/step-controls.test.ts --test-name-pattern='image by URL|generated once'
X

row EXAM-4 8.5.1 'the implementation reaches the writer by no way: Bash, hooks and their refusals, servers, git, /proc, --help' 'the tests pass' <<'X'
unit test/redteam/blind-generator.test.ts
unit test/redteam/blind-tests.test.ts --test-name-pattern='reach the writer'
X

row EXAM-5 8.5.2 'what a case does decides: emptied, commented out, reworded and mutated copies of the project' 'the tests pass' <<'X'
unit src/workflow/cases/prove.test.ts
X

row EXAM-6 8.5.3 'the checker refuses shadowed programs, PATH, modules of the project, the project by its own path and the network' 'the tests pass' <<'X'
unit src/workflow/cases/check-case.test.ts
X

row EXAM-7 8.7 'the report has the kill score of each criterion, and a case that proves nothing holds the gate' 'the tests pass' <<'X'
unit test/redteam/blind-tests.test.ts --test-name-pattern='kill score|holds the gate'
X

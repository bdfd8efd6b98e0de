group sandbox 'The sandbox' <<'X'
home
X

row SANDBOX-1 sandbox 'no case of the escape table gets out, and where no sandbox can be made the table fails and says why' 'the tests pass; without bubblewrap the exit code is not 0' <<'X'
unit test/sandbox/escapes.test.ts
code=0; out=$(bwrap --dev-bind / / --ro-bind /dev/null "$(command -v bwrap)" -- "$(command -v node)" --test --test-name-pattern='the sandbox is available' "$ROOT/test/sandbox/escapes.test.ts" 2>&1) || code=$?
[ "$code" -ne 0 ]; has "$out" 'bubblewrap is not installed'
X

row SANDBOX-2 sandbox 'attacks that need more than one command: inherited descriptors, an older policy, a worktree, the end of a session' 'the tests pass' <<'X'
unit test/sandbox/attacks.test.ts
X

row SANDBOX-3 sandbox 'a command is sandboxed without a prompt, its row holds the profile, and what it runs into is named with the rule' 'the row says so; the result names path and rule' <<'X'
ona --init-db >/dev/null
settings '{"sandbox":{"enabled":true},"permissions":{"deny":["Read(./private/**)"]}}'
mkdir private; echo secret >private/key
out=$(ona --eval '{"tool":"Bash","input":{"command":"perl -e '"'"'open my $f, shift or die $!'"'"' $PWD/privat*/key"}}' || true)
lacks "$out" secret
out=$(ona --eval '{"tool":"Bash","input":{"command":"perl -e '"'"'my $p = $ENV{HOME} . chr(47) . 1; open(F, chr(62), $p) or die $p . chr(58) . chr(32) . $!'"'"'"}}' || true)
has "$out" 'cannot be written: it is not part of the sandbox'
[ "$(sql "SELECT count(*) FROM events JOIN ona_sandbox_profiles ON digest = json_extract(detail, '$.sandbox_profile') WHERE event_type = 'tool_start' AND json_extract(detail, '$.sandboxed')")" -ge 1 ]
X

row SANDBOX-4 sandbox 'settings: excluded commands, leaving the sandbox, managed hosts and paths, and every section of explain' 'the tests pass' <<'X'
unit test/sandbox/policies.test.ts
X

row SANDBOX-5 sandbox 'a host that no list mentions: hooks, then the user, once or by rule; without a terminal it is refused' 'the tests pass' <<'X'
unit test/sandbox/hosts.test.ts
X

row SANDBOX-6 sandbox 'a protected file or folder that is missing is not created, or taken away before anything reads it' 'the tests pass' <<'X'
unit test/sandbox/missing.test.ts
X

row SANDBOX-7 sandbox 'Bash, hooks, MCP servers and test scripts run inside; where no sandbox can be made the result says so, or nothing starts' 'the tests pass' <<'X'
unit test/sandbox/integration.test.ts
X

row SANDBOX-8 sandbox 'a hostile test writer finds the code by no way: tools, hooks, MCP, git objects, /proc, the network' 'the tests pass' <<'X'
unit test/redteam/blind-generator.test.ts
X

row SANDBOX-9 sandbox 'a user without root has the same sandbox' 'the test passes' <<'X'
unit test/sandbox/as-user.test.ts
X

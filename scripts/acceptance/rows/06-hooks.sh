group hooks 'The hook plane (spec 003 §3, §5, §6, appendices A and B)' <<'X'
ona --init-db
X

row 3-1 3 'the 27 events, closed and case-sensitive' '27 names in the schema; another spelling is an error that says which was meant' <<'X'
same 27 "$(json .anyOf.length <"$ROOT/schemas/hook-input.schema.json")"
has "$(exits 1 ona -p hi --settings '{"hooks":[{"hook_event_name":"preToolUse","matcher":"","command":"true"}]}')" 'PreToolUse'
X

row 3-2 3 'the order of the union is that of appendix A' 'verify-sdlc-hook-order.mjs exits 0' <<'X'
node "$ROOT/scripts/verify-sdlc-hook-order.mjs"
X

row 5.1-1 5.1 'what each matcher is held against' 'the unit test of the matcher table passes' <<'X'
unit src/hooks/wire/matcher.test.ts
X

row 5.1-2 5.1 'matcher: "" and * match any; A|B are exact names; else a regular expression; a bad one matches nothing' 'of five hooks exactly the right three run' <<'X'
home; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"","command":"true #any"},{"hook_event_name":"PreToolUse","matcher":"Glo|Read","command":"true #exact"},{"hook_event_name":"PreToolUse","matcher":"Glob|Read","command":"true #set"},{"hook_event_name":"PreToolUse","matcher":"^Gl.b$","command":"true #regex"},{"hook_event_name":"PreToolUse","matcher":"([","command":"true #bad"}]}'
tool Glob '{"pattern":"*"}'
same 'true #any,true #set,true #regex' "$(sql "SELECT group_concat(command) FROM (SELECT command FROM hook_invocations WHERE hook_event = 'PreToolUse' AND exit_code = 0 ORDER BY hook_ordinal)")"
X

row 5.2-1 5.2 'ordinals from 0, in the order of the snapshot; nested hooks in theirs' '0,1,2 in written order' <<'X'
home; ona --init-db >/dev/null
settings '{"hooks":{"PreToolUse":[{"matcher":"Glob","hooks":[{"type":"command","command":"true #a"},{"type":"command","command":"true #b"}]},{"matcher":"","hooks":[{"type":"command","command":"true #c"}]}]}}'
tool Glob '{"pattern":"*"}'
same $'0|true #a\n1|true #b\n2|true #c' "$(sql "SELECT hook_ordinal, command FROM hook_invocations WHERE hook_event = 'PreToolUse' ORDER BY id")"
X

row 5.2-2 5.2 'adjacent hooks that are the very same collapse to the first' 'one row of two; equal ones that are apart stay' <<'X'
home; ona --init-db >/dev/null
h='{"hook_event_name":"PreToolUse","matcher":"Glob","command":"true #same"}'
settings "{\"hooks\":[$h,$h,{\"hook_event_name\":\"PreToolUse\",\"matcher\":\"Glob\",\"command\":\"true #other\"},$h]}"
tool Glob '{"pattern":"*"}'
same 'true #same,true #other,true #same' "$(sql "SELECT group_concat(command) FROM (SELECT command FROM hook_invocations WHERE hook_event = 'PreToolUse' ORDER BY id)")"
X

row 5.3-1 5.3 'hooks run one at a time, in ascending order' 'no row starts before the one before it is completed' <<'X'
home; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"","command":"sleep 0.2; echo a >> order"},{"hook_event_name":"PreToolUse","matcher":"","command":"sleep 0.1; echo b >> order"},{"hook_event_name":"PreToolUse","matcher":"","command":"echo c >> order"}]}'
tool Glob '{"pattern":"*"}'
same 'a b c' "$(xargs <order)"
same 0 "$(sql "SELECT count(*) FROM hook_invocations a JOIN hook_invocations b ON b.hook_ordinal = a.hook_ordinal + 1 AND a.tool_use_id = b.tool_use_id AND a.hook_event = b.hook_event WHERE b.started_at < a.completed_at")"
X

row 5.4-1 5.4 'exit 0 with text is success; exit 2 blocks; any other code is a failure that is logged and passed over' 'codes 0, 1 and 2 in the rows; the call goes on after 1' <<'X'
home; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"","command":"echo fine"},{"hook_event_name":"PreToolUse","matcher":"","command":"exit 1"}]}'
has "$(tool Glob '{"pattern":"*"}')" '"is_error":false'
same '0,1' "$(sql "SELECT group_concat(exit_code) FROM (SELECT exit_code FROM hook_invocations WHERE hook_event = 'PreToolUse' ORDER BY hook_ordinal)")"
X

row 5.5-1 5.5 'stdout that begins with { must be one value of appendix B; a bad field makes its changes count for nothing, and never turns a no into a yes' 'the changed input beside a bad field is not applied; the deny beside one denies; the rows say which field' <<'X'
home; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"","command":"echo '"'"'{\"continue\":\"yes\",\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\"}}'"'"'"}]}'
has "$(tool Glob '{"pattern":"*"}')" '"is_error":true'
has "$(sql "SELECT stderr_text FROM hook_invocations WHERE hook_event = 'PreToolUse'")" 'continue'
settings '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"","command":"echo '"'"'{\"continue\":\"yes\",\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"updatedInput\":{\"pattern\":7}}}'"'"'"}]}'
has "$(tool Glob '{"pattern":"*"}')" '"is_error":false'
X

row 5.6-1 5.6 'deny > ask > allow; after a deny or a block the rest is skipped and recorded so' 'third row: prior_block_or_deny; call denied with the reason' <<'X'
home; ona --init-db >/dev/null
d() { printf '{"hook_event_name":"PreToolUse","matcher":"","command":"echo '"'"'{\\"hookSpecificOutput\\":{\\"hookEventName\\":\\"PreToolUse\\",\\"permissionDecision\\":\\"%s\\",\\"permissionDecisionReason\\":\\"because %s\\"}}'"'"'"}' "$1" "$1"; }
settings "{\"hooks\":[$(d allow),$(d deny),$(d allow)]}"
has "$(tool Glob '{"pattern":"*"}')" 'because deny.*"is_error":true'
same prior_block_or_deny "$(sql "SELECT skipped_reason FROM hook_invocations WHERE hook_event = 'PreToolUse' AND hook_ordinal = 2")"
X

row 5.6-2 5.6 'the message of a block is "[ordinal] stderr"' '[1] not on friday' <<'X'
home; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"","command":"true"},{"hook_event_name":"PreToolUse","matcher":"","command":"echo not on friday >&2; exit 2"}]}'
has "$(tool Glob '{"pattern":"*"}')" '\[1\] not on friday'
X

row 5.6-3 5.6 'PostToolUse never skips the remainder, and exit-2 messages reach the model in order' 'both rows ran; both texts are in the next request' <<'X'
home; model lm; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"PostToolUse","matcher":"","command":"echo first word >&2; exit 2"},{"hook_event_name":"PostToolUse","matcher":"","command":"echo second word >&2; exit 2"}]}'
ona -p 'call Glob {"pattern":"*"}' --allowed-tools Glob >/dev/null
same '2,2' "$(sql "SELECT group_concat(exit_code) FROM hook_invocations WHERE hook_event = 'PostToolUse'")"
has "$(requests | tail -1 | json .body)" 'first word.*second word'
X

row 5.7-1 5.7 'PreToolUse, then the rules of the snapshot, then on ask the user; each ask leaves a tool_permission_log row' 'ask is approved by the operator of --eval and logged so' <<'X'
home; ona --init-db >/dev/null
settings '{"permissions":{"ask":["Bash"]}}'
tool Bash '{"command":"echo x"}'
has "$(sql "SELECT decision || ' ' || tool_name || ' ' || reason_json FROM tool_permission_log")" 'Bash.*operator'
X

row 5.8-1 5.8 'forbidden: {"async":true} as control' 'logged as a validation error; the hook is waited for; exit 2 still blocks' <<'X'
home; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"Glob","command":"echo '"'"'{\"async\":true}'"'"'; sleep 0.3; echo waited > waited"},{"hook_event_name":"PreToolUse","matcher":"Read","command":"echo '"'"'{\"async\":true}'"'"'; exit 2"}]}'
has "$(tool Glob '{"pattern":"*"}')" '"is_error":false'
[ -e waited ]
has "$(sql "SELECT stderr_text FROM hook_invocations WHERE hook_event = 'PreToolUse'")" 'async'
echo x >f; has "$(tool Read '{"file_path":"f"}')" '"is_error":true'
X

row 5.9-1 5.9 'a PreToolUse hook that times out counts as exit 2' 'SDLC_HOOK_TIMEOUT_MS=300: denied; the row tells of the time-out' <<'X'
home; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"","command":"sleep 20"}]}'
has "$(SDLC_HOOK_TIMEOUT_MS=300 tool Glob '{"pattern":"*"}')" '"is_error":true'
has "$(sql "SELECT stderr_text FROM hook_invocations WHERE hook_event = 'PreToolUse'")" '300'
X

row 5.9-2 5.9 'a PostToolUse hook that times out is logged and blocks nothing' 'the result stands' <<'X'
home; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"PostToolUse","matcher":"","command":"sleep 20"}]}'
has "$(SDLC_HOOK_TIMEOUT_MS=300 tool Glob '{"pattern":"*"}')" '"is_error":false'
X

row 5.9-3 5.9 'SessionEnd hooks have 1500 ms, or SDLC_SESSIONEND_HOOK_TIMEOUT_MS' 'a hook of 20 s ends the run in less than 10 s' <<'X'
home; model lm; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"SessionEnd","matcher":"","command":"sleep 20"}]}'
SECONDS=0; ona -p 'say x' >/dev/null; [ "$SECONDS" -lt 15 ]
SECONDS=0; SDLC_SESSIONEND_HOOK_TIMEOUT_MS=100 ona -p 'say x' >/dev/null; [ "$SECONDS" -lt 12 ]
X

row 5.9-4 5.9 'the defaults are 600000 ms and 1500 ms' 'as the unit tests of the plane hold them' <<'X'
has "$(grep -rhoE '600_000|1_?500' "$ROOT"/src/hooks/handlers/timeout.ts | sort -u | xargs)" '(1_?500 600_000|600_000 1_?500)'
X

row 5.10-1 5.10 'SDLC_DISABLE_ALL_HOOKS=1 skips all hooks, and each leaves a row that says so' 'a denying hook does not deny; skipped_reason' <<'X'
home; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"","command":"exit 2"}]}'
has "$(SDLC_DISABLE_ALL_HOOKS=1 tool Glob '{"pattern":"*"}')" '"is_error":false'
same hooks_disabled "$(sql "SELECT skipped_reason FROM hook_invocations")"
X

row 5.10-2 5.10 'hooks of an untrusted folder do not run, and are recorded as skipped' 'no file is made; a row with a reason; with --trust it runs' <<'X'
home; mkdir .ona; echo '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"","command":"touch ran"}]}' >.ona/settings.json
tool Glob '{"pattern":"*"}'; [ ! -e ran ]
has "$(sql "SELECT skipped_reason FROM hook_invocations")" 'trust'
tool Glob '{"pattern":"*"}' --trust; [ -e ran ]
X

row 5.11-1 5.11 'the child runs in the cwd of its stdin; a folder that is gone is a failure that does not block' 'pwd equals cwd' <<'X'
home; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"","command":"pwd > where; cat > stdin.json"}]}'
tool Glob '{"pattern":"*"}'
same "$(cat where)" "$(json .cwd <stdin.json)"
X

row 5.11-2 5.11 'bash hooks are run as /bin/bash -lc, sh hooks as /bin/sh -c' '$0, login shell and parameters as said' <<'X'
home; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"","command":"shopt -q login_shell && echo login >> how; tr \"\\\\0\" \" \" < /proc/$$/cmdline >> how; true"},{"hook_event_name":"PreToolUse","matcher":"","shell":"sh","command":"tr \"\\\\0\" \" \" < /proc/$$/cmdline > how-sh; true"}]}'
tool Glob '{"pattern":"*"}'
has "$(cat how)" '^login$'; has "$(cat how)" '^/bin/bash -lc '
has "$(cat how-sh)" '^/bin/sh -c '
X

row 5.11-3 5.11 'powershell that is missing is a failure that does not block' 'the call goes on; exit_code is null' <<'X'
command -v pwsh powershell && exit 0
home; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"","shell":"powershell","command":"exit 0"}]}'
has "$(tool Glob '{"pattern":"*"}')" '"is_error":false'
same 'null' "$(sql "SELECT coalesce(exit_code, 'null') FROM hook_invocations WHERE hook_event = 'PreToolUse'")"
X

row 5.11-4 5.11 'stdin is UTF-8 without a BOM, one JSON object and exactly one newline' 'first byte {, last byte \n, the one before it }' <<'X'
home; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"","command":"cat > stdin.bin"}]}'
tool Glob '{"pattern":"häß*"}'
same '7b' "$(head -c 1 stdin.bin | od -An -tx1 | tr -d ' ')"
same '7d0a' "$(tail -c 2 stdin.bin | od -An -tx1 | tr -d ' \n')"
same 1 "$(wc -l <stdin.bin)"
X

row 5.11-5 5.11 'invalid UTF-8 on stdout becomes U+FFFD' 'EF BF BD in the row' <<'X'
home; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"","command":"printf \"a\\\\377b\""}]}'
tool Glob '{"pattern":"*"}'
same 61EFBFBD62 "$(sql "SELECT hex(stdout_text) FROM hook_invocations WHERE hook_event = 'PreToolUse'")"
X

row 5.11-6 5.11 'each stream is kept up to 4194304 bytes and then marked' 'length and the suffix [SDLC_OUTPUT_TRUNCATED]' <<'X'
home; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"","command":"head -c 6000000 /dev/zero | tr \"\\\\0\" x"}]}'
tool Glob '{"pattern":"*"}'
same "$((4194304 + 25))|1" "$(sql "SELECT length(stdout_text), stdout_text LIKE '%x' || char(10) || '[SDLC_OUTPUT_TRUNCATED]' || char(10) FROM hook_invocations WHERE hook_event = 'PreToolUse'")"
X

row 5.11-7 5.11 'the environment is the whole of ours, with AGENT_SDLC_DB, SDLC_HOOK=1, LANG and CLAUDE_PROJECT_DIR' 'each is there' <<'X'
home; ona --init-db >/dev/null; export CARRIED=over; unset LC_ALL LANG
settings '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"","command":"env > env.txt"}]}'
tool Glob '{"pattern":"*"}'
for line in "AGENT_SDLC_DB=$AGENT_SDLC_DB" SDLC_HOOK=1 LANG=C.UTF-8 CARRIED=over "CLAUDE_PROJECT_DIR=$PWD"; do has "$(cat env.txt)" "^$line\$"; done
X

row 6-1 6 'every stdin has hook_event_name, session_id, conversation_id, runtime_db_path and cwd; never transcript_path' 'for each hook of a whole session' <<'X'
home; model lm; ona --init-db >/dev/null
all=$(for event in SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PermissionRequest PermissionDenied Stop SessionEnd SubagentStart SubagentStop InstructionsLoaded; do printf '{"hook_event_name":"%s","matcher":"","command":"cat >> stdin.jsonl"},' $event; done)
settings "{\"permissions\":{\"allow\":[\"Agent\",\"Bash\"],\"deny\":[\"WebSearch\"]},\"hooks\":[${all%,}]}"
echo hello >AGENTS.md
ona -p $'call Bash {"command":"true"}\ncall Bash {"command":"false"}\ncall WebSearch {"query":"anything"}\ncall Write {"file_path":"x","content":"y"}\ncall Agent {"description":"x","prompt":"say hi","subagent_type":"general-purpose"}' >/dev/null
same "" "$(node -e 'for (const line of require("fs").readFileSync("stdin.jsonl", "utf8").trim().split("\n")) { const x = JSON.parse(line); for (const key of ["hook_event_name", "session_id", "conversation_id", "runtime_db_path", "cwd"]) if (typeof x[key] !== "string") console.log(x.hook_event_name, key); if ("transcript_path" in x || x.runtime_db_path !== process.env.AGENT_SDLC_DB) console.log(x) }')"
for event in SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PermissionRequest PermissionDenied Stop SessionEnd SubagentStart SubagentStop InstructionsLoaded; do has "$(cat stdin.jsonl)" "\"hook_event_name\":\"$event\""; done
X

row 6-2 6 'conversation_id is a row of conversations; a sub-agent has agent_id and agent_type' 'no orphan; both fields' <<'X'
home; model lm; ona --init-db >/dev/null
settings '{"permissions":{"allow":["Agent","Glob"]},"hooks":[{"hook_event_name":"PreToolUse","matcher":"Glob","command":"cat > stdin.json"}]}'
ona -p $'call Agent {"description":"x","prompt":"call Glob {\\"pattern\\":\\"*\\"}","subagent_type":"general-purpose"}' >/dev/null
same general-purpose "$(json .agent_type <stdin.json)"; has "$(json .agent_id <stdin.json)" .
same 0 "$(sql "SELECT count(*) FROM hook_invocations WHERE conversation_id NOT IN (SELECT id FROM conversations)")"
X

row App.A-1 11 'the fields of every event on stdin' 'what the plane sends fits schemas/hook-input.schema.json, event by event' <<'X'
unit test/hooks/schemas.test.ts src/hooks/handlers/handlers.test.ts
X

row App.A-2 11 'ona hooks fire takes a whole event and asks the hooks of it, for each of the 27' 'each of the 27 names is accepted' <<'X'
home
events=$(json .anyOf <"$ROOT/schemas/hook-input.schema.json" | grep -oE '[A-Za-z]+"' | grep -oE '^[A-Z][A-Za-z]+' | sort -u)
said=$(printf '["hooks","fire","%s","--input","{}"]\n' $events | commands)
same 27 "$(grep -c '"code"' <<<"$said")"; lacks "$said" 'it must be one of'
X

row App.B-1 12 'every field of hook stdout: continue, stopReason, systemMessage, decision, updatedInput, additionalContext' 'the unit tests of the verdict pass' <<'X'
unit src/hooks/verdict.test.ts src/hooks/dispatch.test.ts
X

row App.B-2 12 'updatedInput changes what the tool gets and what the rules judge' 'the changed command ran; a denied one does not' <<'X'
home; ona --init-db >/dev/null
u() { printf '{"hook_event_name":"PreToolUse","matcher":"Bash","command":"echo '"'"'{\\"hookSpecificOutput\\":{\\"hookEventName\\":\\"PreToolUse\\",\\"permissionDecision\\":\\"allow\\",\\"updatedInput\\":{\\"command\\":\\"%s\\"}}}'"'"'"}' "$1"; }
settings "{\"hooks\":[$(u 'echo changed')]}"
has "$(tool Bash '{"command":"echo original"}')" 'changed'
settings "{\"permissions\":{\"deny\":[\"Bash(rm *)\"]},\"hooks\":[$(u 'rm -f x')]}"
has "$(tool Bash '{"command":"echo original"}')" 'deny rule'
X

row App.B-3 12 'PermissionRequest: a hook answers allow or deny for the user, with updatedPermissions' 'an ask in -p is allowed by the hook; the rule is added' <<'X'
unit test/permissions.test.ts --test-name-pattern='a hook that answers'
X

row App.B-4 12 'SessionStart additionalContext reaches the model; UserPromptSubmit too' 'both texts are in the request' <<'X'
home; model lm; ona --init-db >/dev/null
c() { printf '{"hook_event_name":"%s","matcher":"","command":"echo '"'"'{\\"hookSpecificOutput\\":{\\"hookEventName\\":\\"%s\\",\\"additionalContext\\":\\"context of %s\\"}}'"'"'"}' "$1" "$1" "$1"; }
settings "{\"hooks\":[$(c SessionStart),$(c UserPromptSubmit)]}"
ona -p 'say x' >/dev/null
has "$(requests)" 'context of SessionStart'; has "$(requests)" 'context of UserPromptSubmit'
X

group store 'Storage (spec 003 §4)' <<'X'
ona --init-db
ona --eval '{"tool":"Glob","input":{"pattern":"*"}}'
X

row 4.1-1 4.1 'AGENT_SDLC_DB names the file; it must be absolute' 'the file is made there; a relative path is exit 1' <<'X'
AGENT_SDLC_DB=$PWD/elsewhere/x.db ona --init-db
same ok "$(sqlite3 elsewhere/x.db 'PRAGMA integrity_check')"
AGENT_SDLC_DB=x.db exits 1 ona --init-db
X

row 4.1-2 4.1 'the journal is a WAL' 'wal' <<'X'
same wal "$(sql 'PRAGMA journal_mode')"
X

row 4.1-3 4.1 'foreign keys are enforced on every connection of the program' 'no dangling row after a busy run; the unit test of open.ts' <<'X'
same '' "$(sql 'PRAGMA foreign_key_check')"
unit src/store/open.test.ts
X

row 4.2-1 4.2 'schema_meta holds schema_version 1' 1 <<'X'
same 1 "$(sql "SELECT value FROM schema_meta WHERE key = 'schema_version'")"
X

row 4.3-1 4.3 'every table, column, key, index and default of the DDL, and no others on those tables' 'sqlite_schema equals that of the specification' <<'X'
rm -f spec.db; sqlite3 spec.db <"$ROOT/test/fixtures/spec-tables.sql" >/dev/null
wanted=$(sqlite3 spec.db "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
for name in $wanted; do same "$(sqlite3 spec.db "SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info('$name')")" "$(sql "SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info('$name')")"; done
for name in idx_transcript_session idx_hook_inv_session; do same "$(sqlite3 spec.db "SELECT group_concat(name) FROM pragma_index_info('$name')")" "$(sql "SELECT group_concat(name) FROM pragma_index_info('$name')")"; done
same 0 "$(sql "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'")"
X

row 4.3-2 4.3 'schema.sql makes those tables in an empty database' 'the same list of tables' <<'X'
rm -f spec.db own.db; sqlite3 spec.db <"$ROOT/test/fixtures/spec-tables.sql" >/dev/null; sqlite3 own.db <"$ROOT/schema.sql" >/dev/null
list="SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1"
same "$(sqlite3 spec.db "$list")" "$(sqlite3 own.db "$list")"
X

row 4.3-3 4.3 'memories and memories_fts are written in one transaction' 'the unit tests of the records pass' <<'X'
unit src/store/records.test.ts
X

row 4.4-1 4.4 'settings are imported at start into settings_snapshot(effective)' 'the row holds what the file says' <<'X'
home; mkdir -p ~/.ona; echo '{"permissions":{"deny":["WebFetch"]}}' >~/.ona/settings.json
tool Glob '{"pattern":"*"}' >/dev/null
same WebFetch "$(sql "SELECT json_extract(json, '$.permissions.deny[0]') FROM settings_snapshot WHERE scope = 'effective'")"
X

row 4.4-2 4.4 'forbidden: a re-read of the settings file in the middle of a turn' 'a file changed while the first call of a turn is judged does not deny the second' <<'X'
home; model lm; mkdir -p ~/.ona; echo '{"permissions":{"deny":["Bash"]}}' >next.json
echo '{"permissions":{"allow":["Bash"]},"hooks":[{"hook_event_name":"PreToolUse","matcher":"","command":"cp next.json ~/.ona/settings.json"}]}' >~/.ona/settings.json
ona -p $'call Bash {"command":"echo first"}\nthen\ncall Bash {"command":"echo still"}' >/dev/null
has "$(result)" '"content":"still\\n","is_error":false'
X

row 4.4-3 4.4 'hooks and permissions read the snapshot: what the operator stores there counts' 'a deny rule and a hook put there by SQL are in force' <<'X'
home; ona --init-db >/dev/null
settings '{"permissions":{"deny":["Glob"]},"hooks":[{"hook_event_name":"PreToolUse","matcher":"Read","command":"exit 2"}]}'
has "$(tool Glob '{"pattern":"*"}')" 'deny rule'
echo x >f; has "$(tool Read '{"file_path":"f"}')" '"is_error":true'
X

row 4.5-1 4.5 'sequence starts at 0 and goes up by 1 in each session' 'no gap after a busy run' <<'X'
home; model lm
ona -p $'call Bash {"command":"echo 1"}\ncall Bash {"command":"echo 2"}' --allowed-tools Bash >/dev/null
ona -p 'say more' --continue >/dev/null
same '' "$(sql "SELECT session_id FROM transcript_entries GROUP BY 1 HAVING min(sequence) <> 0 OR max(sequence) <> count(*) - 1")"
X

row 4.5-2 4.5 'entry_type is one of the closed set' 'no other value after a busy run' <<'X'
home; model lm
ona -p $'call TodoWrite {"todos":[{"content":"x","status":"pending","activeForm":"x"}]}\ncall Write {"file_path":"a","content":"b"}' --permission-mode acceptEdits >/dev/null
same '' "$(sql "SELECT DISTINCT entry_type FROM transcript_entries WHERE entry_type NOT IN ('user','assistant','system','tool_use','tool_result','progress','attachment','internal_hook','content_replacement','collapse_commit','file_history_snapshot','attribution_snapshot','queue_operation','speculation_accept','ai_title')")"
X

row 4.6-1 4.6 'the plan of record is plans.content; a plan file is a hint' 'what plan show prints is the row, whatever lies in plans/' <<'X'
home; ona --init-db >/dev/null; conversation c planning
mkdir -p plans ~/.claude/plans; echo '# from a file' | tee plans/p.md >~/.claude/plans/p.md
plan c $'# From the row\n\n## Success criteria\n- x prints y'
said=$(ona plan show --conversation c)
has "$said" 'From the row'; lacks "$said" 'from a file'
X

row 4.6-2 4.6 'plans.status is draft, approved, completed or superseded' 'no other value; a second approval supersedes the first' <<'X'
home; ona --init-db >/dev/null; conversation c planning
plan c $'# A\n\n## Success criteria\n- x prints y'; ona --transition planning --conversation c >/dev/null
plan c $'# B\n\n## Success criteria\n- x prints y'
same 'superseded,approved' "$(sql "SELECT group_concat(status) FROM (SELECT status FROM plans ORDER BY id)")"
X

row 4.7-1 4.7 'forbidden: memories read from shared-memory/*.md' 'a canary there reaches no request' <<'X'
home; model lm; mkdir shared-memory; echo CANARY_MEMORY_55 >shared-memory/a.md
ona -p 'say x' --trust >/dev/null
lacks "$(requests)" CANARY_MEMORY_55
X

row 4.8-1 4.8 'one writer at a time: eight processes append to one session without a loss or a gap' '8 × 2 results, sequence without gaps' <<'X'
home; ona --init-db >/dev/null
for n in 1 2 3 4 5 6 7 8; do (for m in 1 2; do tool Glob '{"pattern":"*"}' >/dev/null; done) & done; wait
same 16 "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type = 'tool_result'")"
same '' "$(sql "SELECT session_id FROM transcript_entries GROUP BY 1 HAVING max(sequence) <> count(*) - 1")"
X

row 4.8-2 4.8 'busy_timeout is 30000: a locked database is waited for' 'a lock held for two seconds delays the call and does not fail it' <<'X'
home; ona --init-db >/dev/null
node -e 'const { DatabaseSync } = require("node:sqlite"); const db = new DatabaseSync(process.env.AGENT_SDLC_DB); db.exec("BEGIN IMMEDIATE"); console.log("locked"); setTimeout(() => { db.exec("COMMIT"); db.close() }, 2000)' >locked & 
for _ in $(seq 100); do [ -s locked ] && break; sleep 0.02; done
has "$(tool Glob '{"pattern":"*"}')" '"is_error":false'
wait
X

row 4.8-3 4.8 'all hook rows of a tool fire and its tool_result are one commit' 'killed at 200 moments no result is without its hook rows' <<'X'
unit test/faults/store-crash.test.ts
X

row 4.8-4 4.8 'rows of an iteration are committed before the next model call' 'a hook of the second round reads the result of the first from the database' <<'X'
home; model lm; ona --init-db >/dev/null
settings '{"permissions":{"allow":["Bash"]},"hooks":[{"hook_event_name":"PreToolUse","matcher":"Bash","command":"sqlite3 \"$AGENT_SDLC_DB\" \"SELECT count(*) FROM transcript_entries WHERE entry_type = '"'tool_result'"'\" >> counted"}]}'
ona -p $'call Bash {"command":"echo 1"}\nthen\ncall Bash {"command":"echo 2"}' >/dev/null
same '0 1' "$(xargs <counted)"
X

row 4.8-5 4.8 'a phase change and its events and plans rows are one commit' 'killed at any moment of a transition, phase and rows agree' <<'X'
unit test/workflow.test.ts --test-name-pattern='killed at any moment'
X

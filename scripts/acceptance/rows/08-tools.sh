group tools 'Built-in tools and MCP (spec 003 §7)' <<'X'
ona --init-db
mkdir -p ~/.ona
printf '{"permissions":{"allow":["Agent","Bash","TaskOutput","TaskStop","WebFetch(domain:127.0.0.1)"]},"mcpServers":{"Every":{"command":"%s","args":["%s"]}}}' "$ROOT/node_modules/.bin/node" "$ROOT/node_modules/@modelcontextprotocol/server-everything/dist/index.js" >~/.ona/settings.json
X

row T-Read 7 'Read gives the lines of a file and their number; a path that is missing is rejected' 'is_error false, "3 lines", line1; then is_error true' <<'X'
printf 'line1\nline2\nline3\n' >read.txt
said=$(tool Read "{\"file_path\":\"$PWD/read.txt\"}")
has "$said" '3 lines.*line1.*"is_error":false'
has "$(result)" '3 lines.*line1.*"is_error":false'
has "$(tool Read '{"file_path":"/nowhere/at/all"}')" '"is_error":true'
X

row T-Write 7 'Write makes a file with this content' 'the file holds it; is_error false' <<'X'
has "$(tool Write "{\"file_path\":\"$PWD/new/made.txt\",\"content\":\"hello\\n\"}")" '"is_error":false'
same hello "$(cat new/made.txt)"
has "$(tool Write "{\"file_path\":\"$PWD\",\"content\":\"\"}")" '"is_error":true'
X

row T-Edit 7 'Edit replaces an exact text; one that is not there is rejected and nothing is changed' 'two; then is_error true and still two' <<'X'
echo one >edit.txt; tool Read '{"file_path":"edit.txt"}' >/dev/null
has "$(tool Edit '{"file_path":"edit.txt","old_string":"one","new_string":"two"}')" '"is_error":false'
has "$(tool Edit '{"file_path":"edit.txt","old_string":"nope","new_string":"x"}')" '"is_error":true'
same two "$(cat edit.txt)"
X

row T-NotebookEdit 7 'NotebookEdit changes one cell' 'the source of the cell is new' <<'X'
echo '{"cells":[{"id":"a","cell_type":"code","source":["x"],"metadata":{},"outputs":[],"execution_count":null}],"nbformat":4,"nbformat_minor":5,"metadata":{}}' >n.ipynb
tool Read '{"file_path":"n.ipynb"}' >/dev/null
has "$(tool NotebookEdit '{"notebook_path":"n.ipynb","cell_id":"a","new_source":"y = 1"}')" '"is_error":false'
has "$(json .cells.0.source <n.ipynb)" 'y = 1'
X

row T-Bash 7 'Bash gives stdout and stderr apart; another exit code than 0 is an error' 'both streams; is_error true for false' <<'X'
same '{"content":"out\n\n--- stderr ---\nerr\n","is_error":false}' "$(tool Bash '{"command":"echo out; echo err >&2"}')"
has "$(tool Bash '{"command":"exit 3"}')" '3.*"is_error":true'
X

row T-Glob 7 'Glob lists matching files; none is no error' 'the path; is_error false with nothing' <<'X'
mkdir -p src; touch src/a.zig
has "$(tool Glob '{"pattern":"**/*.zig"}')" 'src/a.zig.*"is_error":false'
has "$(tool Glob '{"pattern":"**/*.nothing"}')" '"is_error":false'
X

row T-Grep 7 'Grep finds lines; none is no error' 'the line; is_error false with nothing' <<'X'
mkdir -p src; echo needle >src/hay.txt
has "$(tool Grep '{"pattern":"need","output_mode":"content"}')" 'src/hay.txt:1:needle.*"is_error":false'
has "$(tool Grep '{"pattern":"not in here at all"}')" '"is_error":false'
X

row T-WebFetch 7 'WebFetch reads a page that a rule names; a private address that no rule names is refused; 404 is an error' 'a page; two errors' <<'X'
model lm
has "$(tool WebFetch "{\"url\":\"$WORLD/page\",\"prompt\":\"what?\"}")" '"is_error":false'
has "$(tool WebFetch "{\"url\":\"${WORLD/127.0.0.1/localhost}/page\",\"prompt\":\"x\"}")" 'private, loopback.*"is_error":true'
has "$(tool WebFetch "{\"url\":\"$WORLD/missing\",\"prompt\":\"x\"}")" '"is_error":true'
X

row T-WebSearch 7 'WebSearch gives titles and addresses; a failing service is an error' 'One — https://one.example/; is_error true' <<'X'
has "$(ONA_SEARCH_URL=$WORLD/ tool WebSearch '{"query":"anything"}')" 'One.*https://one.example/.*"is_error":false'
has "$(ONA_SEARCH_URL=http://127.0.0.1:9/ tool WebSearch '{"query":"anything"}')" '"is_error":true'
X

row T-AskUserQuestion 7 'AskUserQuestion gives the answers; nobody there is an error' 'Which=a; is_error true' <<'X'
q='"questions":[{"question":"Which?","header":"H","options":[{"label":"a","description":""},{"label":"b","description":""}],"multiSelect":false}]'
has "$(tool AskUserQuestion "{$q,\"answers\":{\"Which?\":\"a\"}}")" 'Which.*a.*"is_error":false'
has "$(tool AskUserQuestion "{$q}")" '"is_error":true'
X

row T-TodoWrite 7 'TodoWrite keeps the list of the conversation' 'the list is in state' <<'X'
has "$(tool TodoWrite '{"todos":[{"content":"paint it","status":"in_progress","activeForm":"Painting"}]}')" '"is_error":false'
has "$(sql "SELECT value FROM state WHERE key = 'todos'")" 'paint it'
X

row T-TaskOutput 7 'TaskOutput shows what a background task printed' 'ready-42 in its result' <<'X'
model lm
ona -p $'call Bash {"command":"echo ready-$((40+2))","run_in_background":true}\nthen\ncall TaskOutput {"task_id":"TASK","block":true}' >/dev/null
has "$(result)" 'ready-42.*"is_error":false'
has "$(tool TaskOutput '{"task_id":"none"}')" 'no task.*"is_error":true'
X

row T-TaskStop 7 'TaskStop ends a background task' 'is_error false; the process is gone' <<'X'
model lm
ona -p $'call Bash {"command":"echo $$ > task.pid; sleep 300","run_in_background":true}\nthen\ncall TaskStop {"task_id":"TASK"}' >/dev/null
has "$(result)" '"is_error":false'
[ ! -s task.pid ] || ! kill -0 "$(cat task.pid)" 2>/dev/null
X

row T-Agent 7 'Agent runs a sub-agent in a session of its own and gives its last words' 'its words; two sessions; SubagentStart and SubagentStop' <<'X'
model lm
ona -p 'call Agent {"description":"x","prompt":"say I have looked","subagent_type":"general-purpose"}' >/dev/null
has "$(result)" 'I have looked.*"is_error":false'
same 1 "$(sql "SELECT count(*) > 0 FROM ona_subagents")"
X

row T-Skill 7 'Skill loads the instructions of a skill; an unknown one is an error' 'Launching skill; is_error true' <<'X'
mkdir -p ~/.ona/skills/paint; printf -- '---\nname: paint\ndescription: paints\n---\nUse blue for $ARGUMENTS.\n' >~/.ona/skills/paint/SKILL.md
has "$(tool Skill '{"skill":"paint","args":"the door"}')" 'Use blue for the door.*"is_error":false'
has "$(tool Skill '{"skill":"none"}')" '"is_error":true'
X

row T-EnterPlanMode 7 'EnterPlanMode begins planning' 'the phase is planning' <<'X'
conversation enter idle
has "$(tool EnterPlanMode '{}' --conversation enter)" '"is_error":false'
same planning "$(phase enter)"
X

row T-ExitPlanMode 7 'ExitPlanMode puts the plan to the user; approved, the phase is implement; with nobody there it stays a draft' 'draft kept, then approved and implement' <<'X'
conversation leave planning
has "$(tool ExitPlanMode '{"plan":"# P\n\n## Success criteria\n- x prints y"}' --conversation leave)" 'draft'
same "draft" "$(sql "SELECT status FROM plans WHERE conversation_id = 'leave'")"
ona plan approve --conversation leave >/dev/null
same implement "$(phase leave)"
unit test/tui/terminal.test.ts --test-name-pattern='plan: it is shown'
X

row T-ListMcpResources 7 'ListMcpResources lists the resources of the servers' 'a JSON list with a uri' <<'X'
has "$(tool ListMcpResources '{"server":"Every"}')" 'uri.*"is_error":false'
has "$(tool ListMcpResources '{"server":"nobody"}')" '"is_error":true'
X

row T-ReadMcpResource 7 'ReadMcpResource reads one' 'contents' <<'X'
uri=$(tool ListMcpResources '{"server":"Every"}' | json .content | json .0.uri)
has "$(tool ReadMcpResource "{\"server\":\"Every\",\"uri\":\"$uri\"}")" 'contents.*"is_error":false'
X

row T-ToolSearch 7 'ToolSearch finds tools by words' 'names a tool; finding nothing is reported' <<'X'
has "$(tool ToolSearch '{"query":"mcp echo"}')" 'echo.*"is_error":false'
has "$(tool ToolSearch '{"query":"zzzzqqq"}')" 'No tool matches'
X

row T-Brief 7 'Brief gives the user a message' 'Message delivered' <<'X'
has "$(tool Brief '{"message":"Half done"}')" 'Message delivered to user: Half done.*"is_error":false'
X

row T-mcp 7 'mcp__server__tool: JSON-RPC to the server; its error is ours' 'Echo: hi; is_error true' <<'X'
same '{"content":"Echo: hi","is_error":false}' "$(tool mcp__every__echo '{"message":"hi"}')"
has "$(tool mcp__every__echo '{}')" '"is_error":true'
X

row 7.1-1 7.1 'a result is {content, is_error} and is stored as tool_result' 'the same content and flag in the row' <<'X'
said=$(tool Bash '{"command":"echo stored"}')
same "$(json .content <<<"$said")" "$(result | json .content)"
same "$(json .is_error <<<"$said")" "$(result | json .is_error)"
X

row 7.1-2 7.1 'internal failures begin with [SDLC_INTERNAL]' 'a command past its time' <<'X'
has "$(tool Bash '{"command":"sleep 30","timeout":300}')" '\[SDLC_INTERNAL\].*"is_error":true'
X

row 7.1-3 7.1 'each stream of Bash is cut at 1048576 bytes and marked' 'length and [SDLC_TRUNCATED]' <<'X'
same "$((1048576 + 16)) true" "$(tool Bash '{"command":"head -c 3000000 /dev/zero | tr \"\\0\" x"}' | node -e 'const { content } = JSON.parse(require("fs").readFileSync(0, "utf8")); console.log(content.length, content.endsWith("x[SDLC_TRUNCATED]"))')"
X

row 7.1-4 7.1 'a validation failure is tool_rejected and no hook runs' 'is_error true; no hook row' <<'X'
before=$(sql 'SELECT count(*) FROM hook_invocations')
has "$(tool Read '{}')" 'file_path is missing.*"is_error":true'
same "$before" "$(sql 'SELECT count(*) FROM hook_invocations')"
X

row 7.1-5 7.1 'a command that a signal ends is an error' 'is_error true' <<'X'
has "$(tool Bash '{"command":"kill -9 $$"}')" '"is_error":true'
X

row 7.1-6 7.1 'binary files are read by their kind or as hex' 'hex of 00 ff; an image is reported as one' <<'X'
printf '\000\377\001' >b.bin
has "$(tool Read '{"file_path":"b.bin"}')" '00 ?ff'
X

row 7.1-7 7.1 'a bounded WebFetch body: 1048576 bytes and [SDLC_TRUNCATED]; MCP calls end after 120000 ms' 'the unit tests of both bounds pass' <<'X'
unit src/tools/web/web.test.ts
has "$(grep -rhoE '120_?000' "$ROOT"/src/mcp | sort -u)" '120'
X

row 7.2-1 7.2 'every built-in name of §7 is offered to the model, and each has a complete implementation' 'the 21 names in the request; the suite of the tools passes' <<'X'
home; model lm; ona -p 'say x' >/dev/null
names=$(requests | tail -1 | json .body | node -e 'console.log(JSON.parse(require("fs").readFileSync(0, "utf8")).tools.map((t) => t.function.name).join("\n"))')
for name in Read Write Edit NotebookEdit Bash Glob Grep WebFetch WebSearch AskUserQuestion TodoWrite TaskOutput Agent Skill EnterPlanMode ExitPlanMode ListMcpResources ReadMcpResource ToolSearch Brief TaskStop; do has "$names" "^$name\$" || has "$(tool $name '{}')" 'input does not fit|"is_error"'; done
unit src/tools/suite.test.ts
X

row 7.2-2 7.2 'forbidden: not implemented, an empty stub, a TODO' 'no such text in the sources of the program' <<'X'
lacks "$(grep -rnE '(//|/?\*).*\b(TODO|FIXME|XXX)\b|[Nn]ot (yet )?implemented|[Uu]nimplemented' "$ROOT/src" --include=*.ts | grep -v '\.test\.ts:' || true)" .
X

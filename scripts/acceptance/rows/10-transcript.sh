group transcript 'Transcript rows (spec 003 appendix C)' <<'X'
model lm
ona -p $'call Bash {"command":"echo x"}\nthen\ncall Bash {"command":"false"}' --allowed-tools Bash
ona --eval '{"tool":"Glob","input":{"pattern":"*"}}'
X

row App.C-1 13 'payload_json carries "_t" equal to entry_type' 'no row where they differ' <<'X'
same 0 "$(sql "SELECT count(*) FROM transcript_entries WHERE json_extract(payload_json, '$._t') IS NOT entry_type")"
same 1 "$(sql "SELECT count(*) > 5 FROM transcript_entries")"
X

row App.C-2 13 'user and assistant: uuid and a list of blocks' 'no row without' <<'X'
same 0 "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type IN ('user', 'assistant') AND (json_extract(payload_json, '$.uuid') IS NULL OR json_type(payload_json, '$.content') IS NOT 'array')")"
X

row App.C-3 13 'content blocks are text, tool_use or tool_result' 'no other type' <<'X'
same '' "$(sql "SELECT DISTINCT json_extract(b.value, '$.type') FROM transcript_entries t, json_each(t.payload_json, '$.content') b WHERE t.entry_type IN ('user', 'assistant') AND json_extract(b.value, '$.type') NOT IN ('text', 'tool_use', 'tool_result')")"
X

row App.C-4 13 'tool_use: id, name, input; tool_result: tool_use_id, content, is_error' 'the shapes of all rows' <<'X'
same 0 "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type = 'tool_result' AND (json_type(payload_json, '$.tool_use_id') <> 'text' OR json_type(payload_json, '$.content') <> 'text' OR json_type(payload_json, '$.is_error') NOT IN ('true', 'false') OR tool_use_id IS NOT json_extract(payload_json, '$.tool_use_id'))")"
same 0 "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type = 'tool_use' AND (json_type(payload_json, '$.id') <> 'text' OR json_type(payload_json, '$.name') <> 'text' OR json_type(payload_json, '$.input') <> 'object')")"
same true,false "$(sql "SELECT group_concat(DISTINCT json_extract(payload_json, '$.is_error') = 0) FROM transcript_entries WHERE entry_type = 'tool_result'" | sed 's/1/true/; s/0/false/')"
X

row App.C-5 13 'every tool call of an assistant has exactly one result' 'none is missing' <<'X'
same 0 "$(sql "SELECT count(*) FROM transcript_entries t, json_each(t.payload_json, '$.content') b WHERE t.entry_type = 'assistant' AND json_extract(b.value, '$.type') = 'tool_use' AND (SELECT count(*) FROM transcript_entries r WHERE r.entry_type = 'tool_result' AND r.tool_use_id = json_extract(b.value, '$.id')) <> 1")"
X

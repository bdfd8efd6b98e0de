group model 'Model providers and the turn loop (spec 003 §2.1–§2.6, §2.10)' <<'X'
ona --init-db
X

row P-claude_code_subscription 2.1 'claude_code_subscription completes a turn with a tool, and the transcript is stored' 'prints done; the file is written; user, assistant, tool_result, assistant' <<'X'
home; model anthropic
same done "$(ona -p 'call Write {"file_path":"made.txt","content":"by the model"}' --allowed-tools Write --settings '{"model_config":{"provider":"claude_code_subscription","model_id":"claude_sonnet_4"}}')"
same 'by the model' "$(cat made.txt)"
same 'user,assistant,tool_result,assistant' "$(sql "SELECT group_concat(entry_type) FROM (SELECT entry_type FROM transcript_entries WHERE entry_type IN ('user', 'assistant', 'tool_result') ORDER BY sequence)")"
same /v1/messages "$(requests | tail -1 | json .path)"
X

row P-openai_compatible 2.1 'openai_compatible completes a turn with a tool, and the transcript is stored' 'prints done; the file is written; user, assistant, tool_result, assistant' <<'X'
home; model openai
same done "$(ona -p 'call Write {"file_path":"made.txt","content":"by the model"}' --allowed-tools Write --settings '{"model_config":{"provider":"openai_compatible","model_id":"gpt_4o"}}')"
same 'by the model' "$(cat made.txt)"
same 'user,assistant,tool_result,assistant' "$(sql "SELECT group_concat(entry_type) FROM (SELECT entry_type FROM transcript_entries WHERE entry_type IN ('user', 'assistant', 'tool_result') ORDER BY sequence)")"
same /v1/chat/completions "$(requests | tail -1 | json .path)"
X

row P-lm_studio_local 2.1 'lm_studio_local completes a turn with a tool, and the transcript is stored' 'prints done; the file is written; user, assistant, tool_result, assistant' <<'X'
home; model lm
same done "$(ona -p 'call Write {"file_path":"made.txt","content":"by the model"}' --allowed-tools Write --settings '{"model_config":{"provider":"lm_studio_local","model_id":"lm_studio_server_routed"}}')"
same 'by the model' "$(cat made.txt)"
same 'user,assistant,tool_result,assistant' "$(sql "SELECT group_concat(entry_type) FROM (SELECT entry_type FROM transcript_entries WHERE entry_type IN ('user', 'assistant', 'tool_result') ORDER BY sequence)")"
same recorder "$(requests | tail -1 | json .body | json .model)"
X

row 2.1-1 2.1 'the provider enum is closed and case-sensitive' 'another spelling is refused before any request' <<'X'
home; model openai
has "$(exits 1 ona -p hi --settings '{"model_config":{"provider":"OpenAI_compatible","model_id":"gpt_4o"}}')" 'provider'
same '' "$(requests)"
X

row 2.2-1 2.2 'claude_opus_4, claude_sonnet_4 and claude_3_5_haiku have their names on the wire' 'the three wire names' <<'X'
model anthropic
for id in claude_opus_4 claude_sonnet_4 claude_3_5_haiku; do ona -p hi --model $id >/dev/null; done
same 'claude-opus-4-20250514 claude-sonnet-4-20250514 claude-3-5-haiku-20241022' "$(requests | while read -r line; do json .body <<<"$line" | json .model; done | xargs)"
X

row 2.2-2 2.2 'gpt_4o, gpt_4o_mini, o3 and o3_mini have their names on the wire' 'the four wire names' <<'X'
model openai
for id in gpt_4o gpt_4o_mini o3 o3_mini; do ona -p hi --model $id >/dev/null; done
same 'gpt-4o gpt-4o-mini o3 o3-mini' "$(requests | while read -r line; do json .body <<<"$line" | json .model; done | xargs)"
X

row 2.2-3 2.2 'lm_studio_server_routed is the value of LM_STUDIO_MODEL, which is required' 'recorder; without it exit 1 and no request' <<'X'
model lm
ona -p hi --model lm_studio_server_routed >/dev/null
same recorder "$(requests | tail -1 | json .body | json .model)"
sent=$(requests | wc -l)
unset LM_STUDIO_MODEL
has "$(exits 1 ona -p hi --model lm_studio_server_routed)" LM_STUDIO_MODEL
same "$sent" "$(requests | wc -l)"
X

row 2.2-4 2.2 'a model_id of another provider is a configuration error before any network I/O' 'exit 1; the right ids are named; no request' <<'X'
home; model openai
has "$(exits 1 ona -p hi --settings '{"model_config":{"provider":"openai_compatible","model_id":"claude_opus_4"}}')" 'gpt_4o'
same '' "$(requests)"
X

row 2.2-5 2.2 'forbidden: another key than provider and model_id in model_config' 'exit 1; nothing of it is stored' <<'X'
home
exits 1 ona -p hi --settings '{"model_config":{"provider":"openai_compatible","model_id":"gpt_4o","api_key":"sk-planted-7777777777"}}'
lacks "$(sqlite3 "$AGENT_SDLC_DB" .dump 2>/dev/null || true)" 'sk-planted'
X

row 2.3-1 2.3 'claude_code_subscription needs a credential: without one there is no model call' 'exit 1; no request; the failure is a StopFailure or an events row' <<'X'
home
export ANTHROPIC_BASE_URL=$WORLD
exits 1 ona -p hi --model claude_opus_4
same '' "$(requests)"
X

row 2.3-2 2.3 'ANTHROPIC_BASE_URL overrides the address; without it the address is https://api.anthropic.com' 'both addresses are told by ona status' <<'X'
home; export ANTHROPIC_API_KEY=sk-ant-acceptance-0001
has "$(ona status)" '^Address +https://api.anthropic.com'
has "$(ANTHROPIC_BASE_URL=$WORLD ona status)" "^Address +$WORLD"
X

row 2.3-3 2.3 'openai_compatible needs OPENAI_API_KEY and OPENAI_BASE_URL' 'exit 1 naming the one that is missing; no request' <<'X'
home
has "$(OPENAI_BASE_URL=$WORLD/v1 exits 1 ona -p hi --model gpt_4o)" OPENAI_API_KEY
has "$(OPENAI_API_KEY=sk-openai-acceptance-02 exits 1 ona -p hi --model gpt_4o)" OPENAI_BASE_URL
same '' "$(requests)"
X

row 2.3-4 2.3 'lm_studio_local has its default address and key' 'http://127.0.0.1:1234/v1; Authorization: Bearer lm-studio' <<'X'
home; model lm
ona -p hi --model lm_studio_server_routed >/dev/null
same 'Bearer lm-studio' "$(requests | tail -1 | json .headers.authorization)"
unset LM_STUDIO_BASE_URL
has "$(ona status --model lm_studio_server_routed)" '^Address +http://127.0.0.1:1234/v1'
X

row 2.4-1 2.4 'the settings of record choose provider and model; the environment gives address and credential' 'gpt-4o-mini is asked although an Anthropic key is there' <<'X'
home; model openai; model anthropic; ona --init-db >/dev/null
settings '{"model_config":{"provider":"openai_compatible","model_id":"gpt_4o_mini"}}'
ona -p hi >/dev/null
same gpt-4o-mini "$(requests | tail -1 | json .body | json .model)"
X

row 2.4-2 2.4 'missing required environment: no model call, and the failure is recorded' 'StopFailure hook row, error authentication_failed or invalid_request' <<'X'
home; ona --init-db >/dev/null
settings '{"model_config":{"provider":"openai_compatible","model_id":"gpt_4o"},"hooks":[{"hook_event_name":"StopFailure","matcher":"","command":"true"}]}'
exits 1 ona -p hi
same '' "$(requests)"
has "$(sql "SELECT 'recorded ' || count(*) FROM (SELECT id FROM events WHERE detail LIKE '%OPENAI%' UNION ALL SELECT id FROM hook_invocations WHERE hook_event = 'StopFailure')")" 'recorded [1-9]'
X

row 2.5-1 2.5 'UserPromptSubmit hooks run before the prompt is stored, and can refuse it' 'no user row, no request; the hook row has exit code 2' <<'X'
home; model lm; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"UserPromptSubmit","matcher":"","command":"echo not now >&2; exit 2"}]}'
ona -p 'say hello' || true
same 0 "$(sql "SELECT count(*) FROM transcript_entries WHERE entry_type = 'user'")"
same 2 "$(sql "SELECT exit_code FROM hook_invocations WHERE hook_event = 'UserPromptSubmit'")"
same '' "$(requests)"
X

row 2.5-2 2.5 'each tool call in its declared order: PreToolUse, permission, tool, PostToolUse, tool_result; then the model again' 'hook rows and results of two calls in order; two requests' <<'X'
home; model lm; ona --init-db >/dev/null
settings '{"permissions":{"allow":["Bash"]},"hooks":[{"hook_event_name":"PreToolUse","matcher":"","command":"true"},{"hook_event_name":"PostToolUse","matcher":"","command":"true"}]}'
ona -p $'call Bash {"command":"echo one"}\ncall Bash {"command":"echo two"}' >/dev/null
same 'PreToolUse,PostToolUse,PreToolUse,PostToolUse' "$(sql "SELECT group_concat(hook_event) FROM (SELECT hook_event FROM hook_invocations WHERE tool_name = 'Bash' ORDER BY id)")"
same $'one\ntwo' "$(sql "SELECT trim(json_extract(payload_json, '$.content'), char(10)) FROM transcript_entries WHERE entry_type = 'tool_result' ORDER BY sequence")"
same 2 "$(requests | wc -l)"
X

row 2.5-3 2.5 'messages are built from transcript_entries in their sequence: a resumed session sends what was said' 'the second request holds the first prompt and answer' <<'X'
home; model lm
ona -p 'say first answer' >/dev/null
ona -p 'say second answer' --continue >/dev/null
has "$(requests | tail -1 | json .body)" 'say first answer.*first answer.*say second answer'
X

row 2.5-4 2.5 'fork: no parallel model calls in a session; an agent has a session_id of its own' 'two sessions in the conversation; requests do not overlap in the transcript' <<'X'
home; model lm
ona -p 'call Agent {"description":"x","prompt":"say from the agent","subagent_type":"general-purpose"}' --allowed-tools Agent >/dev/null
same 2 "$(sql "SELECT count(DISTINCT session_id) FROM transcript_entries")"
has "$(result)" 'from the agent'
X

row 2.6-1 2.6 'SessionStart tells the resolved wire model' 'input_json.model is the wire name' <<'X'
home; model openai; ona --init-db >/dev/null
settings '{"model_config":{"provider":"openai_compatible","model_id":"o3_mini"},"hooks":[{"hook_event_name":"SessionStart","matcher":"startup","command":"true"}]}'
ona -p hi >/dev/null
same o3-mini "$(sql "SELECT json_extract(input_json, '$.model') FROM hook_invocations WHERE hook_event = 'SessionStart' LIMIT 1")"
X

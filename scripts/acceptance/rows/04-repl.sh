group repl 'The REPL (spec 003 §2.9)' <<'X'
ona --init-db
X

row C-help 2.9 '/help lists and filters the commands' 'every minimum command is listed; /help model tells of one' <<'X'
said=$(ANTHROPIC_MODEL=rehearsal repl /help /exit)
for command in /help /model /login /logout /status /config /clear; do has "$said" "^ +$command\b"; done
has "$(ANTHROPIC_MODEL=rehearsal repl '/help model' /exit)" '/model'
X

row C-model 2.9 '/model changes model and provider at once, without a restart' 'the next request of the same process names the new model; the other provider is asked' <<'X'
home; model openai; model anthropic
repl 'say one' '/model gpt_4o_mini' 'say two' '/model opus' 'say three' /exit
same 'claude-sonnet-4-20250514 gpt-4o-mini claude-opus-4-20250514' "$(requests | grep -v '/models"' | while read -r line; do json .body <<<"$line" | json .model; done | xargs)"
X

row C-login 2.9 '/login stores a credential in the secure storage, shows dots, and the database has none of it; on a pipe it says what to do' 'the terminal test of /login passes; ona login names itself' <<'X'
has "$(repl /login /exit)" 'ona login'
unit test/tui/commands.test.ts --test-name-pattern='^/login keeps a key'
X

row C-logout 2.9 '/logout forgets it' 'status exit 1 afterwards' <<'X'
home; printf 'sk-ant-typed-in-the-repl-9\n' | ona login --key >/dev/null
repl /logout /exit
exits 1 ona status
X

row C-status 2.9 '/status tells version, session, model and credential class, no secret' 'lines of it; never the key' <<'X'
home; model anthropic
said=$(repl /status /exit)
has "$said" '^Version:'; has "$said" '^Model: +.*claude'; has "$said" '^Credentials:'
lacks "$said" 'acceptance-0001'
X

row C-config 2.9 '/config changes the model and other preferences of the session' 'the next request names the model; the mode is told' <<'X'
home; model openai
said=$(repl '/config model=o3' 'say x' '/config mode=acceptEdits' /config /exit)
has "$said" 'mode=acceptEdits'
same o3 "$(requests | grep -v '/models"' | tail -1 | json .body | json .model)"
X

row C-settings 2.9 '/settings is /config' 'the same keys' <<'X'
same "$(repl /config /exit)" "$(repl /settings /exit)"
X

row C-clear 2.9 '/clear begins a new conversation and raises SessionEnd(clear) and SessionStart(clear)' 'two conversations; the hook rows; the next request has nothing of before' <<'X'
home; model lm; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"SessionEnd","matcher":"clear","command":"true"},{"hook_event_name":"SessionStart","matcher":"clear","command":"true"}]}'
repl 'say before' /clear 'say after' /exit
same 'SessionEnd,SessionStart' "$(sql "SELECT group_concat(hook_event) FROM (SELECT hook_event FROM hook_invocations ORDER BY id)")"
lacks "$(requests | tail -1 | json .body)" 'say before'
X

row C-reset 2.9 '/reset and /new are /clear' 'each begins a session' <<'X'
home; model lm
repl 'say a' /reset 'say b' /new 'say c' /exit
same 3 "$(sql "SELECT count(DISTINCT session_id) FROM transcript_entries")"
X

row 2.9-1 2.9 'the commands of the reference are there, or have a row in docs/FORKS.md' 'each name is listed by /help, or stands in docs/FORKS.md' <<'X'
said=$(ANTHROPIC_MODEL=rehearsal repl /help /exit; cat "$ROOT/docs/FORKS.md")
for command in add-dir agents bashes bug clear compact config context copy cost diff doctor exit export feedback help hooks init login logout mcp memory model output-style permissions plan quit release-notes resume review rewind security-review skills status statusline tasks theme todos usage vim; do has "$said" "/$command\b"; done
X

row 2.9-2 2.9 'forbidden: a JSON file as the only way to switch model or provider' 'switched by /model, --model and /config with no settings file there' <<'X'
home; model openai
repl '/model o3' 'say x' /exit
[ -z "$(find "$HOME" . -name 'settings*.json')" ]
same o3 "$(requests | grep -v '/models"' | tail -1 | json .body | json .model)"
X

row 2.9-3 2.9 'an unknown command is reported, with the nearest that exists' 'names /model' <<'X'
has "$(ANTHROPIC_MODEL=rehearsal repl /modle /exit)" '/model'
X

row 2.9-4 2.9 'discovery: the / menu filters as one types' 'the terminal test of the menu passes' <<'X'
unit test/tui/terminal.test.ts --test-name-pattern='menu'
X

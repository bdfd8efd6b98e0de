group auth 'Credentials (spec 003 §2.7–§2.8)' <<'X'
ona --init-db
X

row A1 2.7.1 'ANTHROPIC_API_KEY in the environment is used' 'x-api-key of the request is it' <<'X'
home; export ANTHROPIC_API_KEY=sk-ant-acceptance-0001 ANTHROPIC_BASE_URL=$WORLD
ona -p hi >/dev/null
same sk-ant-acceptance-0001 "$(requests | tail -1 | json .headers.x-api-key)"
X

row A2 2.7.1 'ANTHROPIC_AUTH_TOKEN in the environment is sent as a bearer' 'Authorization of the request is it' <<'X'
home; export ANTHROPIC_AUTH_TOKEN=bearer-acceptance-0002 ANTHROPIC_BASE_URL=$WORLD
ona -p hi >/dev/null
same 'Bearer bearer-acceptance-0002' "$(requests | tail -1 | json .headers.authorization)"
X

# login: goes through the account's authorization server as a browser would
login() {
  set -a; . "$OUTSIDE/account"; set +a
  export ANTHROPIC_BASE_URL=$WORLD
  ona login --oauth >login.out 2>login.err &
  local asked=$! url=''
  for _ in $(seq 200); do url=$(grep -oE 'http://\S+authorize\S+' login.err || true); [ -z "$url" ] || break; sleep 0.05; done
  node -e 'fetch(process.argv[1]).then((r) => r.text())' "$url"
  wait "$asked"
}

row A3 2.7.1 'interactive OAuth login: browser, tokens, a turn; nothing of it in the database' 'Login successful; the turn is sent with the token; no token in the database' <<'X'
home; login
has "$(cat login.out)" 'Login successful as ada@example.org'
same done "$(ona -p hi)"
has "$(requests | tail -1 | json .headers.authorization)" '^Bearer access-token-number-'
lacks "$(sql .dump)" '(access|refresh)-token-number'
X

row A4 2.7.1 'logout forgets the session: the next run does not use it' 'status exit 1 after logout; no file holds the token' <<'X'
home; login
exits 0 ona status
ona logout
exits 1 ona status
lacks "$(grep -rhs token-number "$HOME" || true)" token-number
X

row A5 2.7.1 'status tells whether there is a credential and of which class, and never the whole of it' 'class and source; at most four characters' <<'X'
home; export ANTHROPIC_API_KEY=sk-ant-acceptance-0001
said=$(ona status; ona status --json)
has "$said" 'api_key from ANTHROPIC_API_KEY'
lacks "$said" 'acceptance-0001'
unset ANTHROPIC_API_KEY
has "$(exits 1 ona status)" 'Credential +none'
X

row A6 2.7.1 'apiKeyHelper: run only before a model call, its answer never stored, its failure authentication_failed, never before trust' 'not run by status or in an untrusted folder; used in a trusted one; no trace in the database' <<'X'
home; export ANTHROPIC_BASE_URL=$WORLD
echo helper-key-acceptance >key.txt
mkdir .ona; printf '{"apiKeyHelper":"touch %s/ran; cat %s/key.txt"}' "$PWD" "$PWD" >.ona/settings.json
ona -p hi >/dev/null 2>&1 || true
ona status >/dev/null 2>&1 || true
[ ! -e ran ]
ona -p hi --trust >/dev/null
[ -e ran ]
same helper-key-acceptance "$(requests | tail -1 | json .headers.x-api-key)"
lacks "$(sql .dump)" 'helper-key-acceptance'
printf '{"apiKeyHelper":"exit 3"}' >.ona/settings.json
exits 1 ona -p hi --settings '{"hooks":[{"hook_event_name":"StopFailure","matcher":"","command":"true"}]}'
same authentication_failed "$(sql "SELECT json_extract(input_json, '$.error') FROM hook_invocations WHERE hook_event = 'StopFailure' ORDER BY id DESC LIMIT 1")"
X

row A7 2.7.1 '--bare: only ANTHROPIC_API_KEY or the apiKeyHelper of --settings; OAuth and keychain are out' 'a login and a bearer are not used; the key and the helper are' <<'X'
home; login
has "$(exits 1 ona status --bare)" 'login is not used'
exits 1 env ANTHROPIC_AUTH_TOKEN=bearer-x ona status --bare
has "$(ANTHROPIC_API_KEY=sk-ant-acceptance-0001 exits 0 ona status --bare)" 'api_key from ANTHROPIC_API_KEY'
ona --bare -p hi --settings '{"apiKeyHelper":"echo bare-helper-key-01"}' >/dev/null
same bare-helper-key-01 "$(requests | tail -1 | json .headers.x-api-key)"
X

row O1 2.7.2 'OPENAI_API_KEY and OPENAI_BASE_URL from the environment; never stored' 'bearer of the request; no trace in the database' <<'X'
home; model openai
ona -p hi >/dev/null
same 'Bearer sk-openai-acceptance-02' "$(requests | tail -1 | json .headers.authorization)"
lacks "$(sql .dump)" 'sk-openai-acceptance'
X

row L1 2.7.3 'LM_STUDIO_BASE_URL, LM_STUDIO_API_KEY and LM_STUDIO_MODEL from the environment' 'address, bearer and model of the request' <<'X'
home; model lm; export LM_STUDIO_API_KEY=lm-acceptance-key-3
ona -p hi >/dev/null
same 'Bearer lm-acceptance-key-3' "$(requests | tail -1 | json .headers.authorization)"
same recorder "$(requests | tail -1 | json .body | json .model)"
X

row 2.7.4-1 2.7.4 'precedence: ANTHROPIC_AUTH_TOKEN, ANTHROPIC_API_KEY, apiKeyHelper, CLAUDE_CODE_OAUTH_TOKEN, login' 'each is named by status when the stronger ones are gone' <<'X'
home; mkdir -p ~/.ona; echo '{"apiKeyHelper":"echo k"}' >~/.ona/settings.json
export ANTHROPIC_AUTH_TOKEN=a-token-1 ANTHROPIC_API_KEY=sk-ant-acceptance-0001 CLAUDE_CODE_OAUTH_TOKEN=oauth-token-1
has "$(ona status)" 'from ANTHROPIC_AUTH_TOKEN'; unset ANTHROPIC_AUTH_TOKEN
has "$(ona status)" 'from ANTHROPIC_API_KEY'; unset ANTHROPIC_API_KEY
has "$(ona status)" 'from apiKeyHelper'; rm ~/.ona/settings.json
has "$(ona status)" 'from CLAUDE_CODE_OAUTH_TOKEN'
X

row 2.7.5-1 2.7.5 'teleport, bridge and web sessions are not shipped, so nothing accepts an API key where OAuth is needed' 'no such command or flag' <<'X'
lacks "$(ona --help; repl /help /exit)" '(teleport|remote-control|/bridge)'
X

row F2.8-1 2.8 'forbidden: keys, tokens, Authorization headers or helper output in the database, the snapshot, the transcript, hook stdin or hook stdout rows' 'a busy session that is told, prints and is refused with planted keys leaves none' <<'X'
home; model anthropic; ona --init-db >/dev/null
printf 'tee -a seen; echo "$ANTHROPIC_API_KEY"; echo "Authorization: Bearer $ANTHROPIC_API_KEY" >&2\n' >hook.sh
settings '{"permissions":{"allow":["Bash"]},"hooks":[{"hook_event_name":"PreToolUse","matcher":"","command":"sh hook.sh"},{"hook_event_name":"UserPromptSubmit","matcher":"","command":"sh hook.sh"},{"hook_event_name":"Stop","matcher":"","command":"sh hook.sh"}]}'
ona -p $'my key is sk-ant-acceptance-0001\ncall Bash {"command":"echo sk-ant-acceptance-0001; env"}\nthen\nsay your key is sk-ant-acceptance-0001' >/dev/null
exits 1 ona -p $'fail 401\nsay sk-ant-acceptance-0001' --continue
same 0 "$(sql .dump | grep -c acceptance-0001 || true)"
same 0 "$(grep -c acceptance-0001 seen || true)"
same '' "$(grep -la acceptance-0001 "$AGENT_SDLC_DB"* || true)"
X

row F2.8-2 2.8 'allowed: a token by file descriptor and by managed launcher, kept out of the tables' 'both are used; neither is in the database' <<'X'
home; export ANTHROPIC_BASE_URL=$WORLD
CLAUDE_CODE_OAUTH_TOKEN=launcher-token-77 ona -p hi >/dev/null
same 'Bearer launcher-token-77' "$(requests | tail -1 | json .headers.authorization)"
echo fd-token-number-88 >token; CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR=7 node "$ROOT/bin/ona.mjs" -p hi 7<token >/dev/null
same 'Bearer fd-token-number-88' "$(requests | tail -1 | json .headers.authorization)"
lacks "$(sql .dump)" '(launcher|fd)-token'
X

row F2.8-3 2.8 'refresh: refresh tokens stay in the secure storage' 'a login leaves them in the keychain or credentials.json (0600) alone' <<'X'
home; login
same "$HOME/.ona/credentials.json" "$(grep -rls refresh-token-number "$HOME")"
same 600 "$(stat -c %a ~/.ona/credentials.json)"
X

row F2.8-4 2.8 'logging: no whole key in what is printed, with --verbose and --debug too' 'no key on stdout or stderr' <<'X'
home; model anthropic
lacks "$(ona -p $'fail 401\nsay x' --verbose --debug --output-format stream-json 2>&1 || true)" 'sk-ant-acceptance-0001'
X

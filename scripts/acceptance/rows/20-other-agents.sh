group brains 'Hooks of roles in other agents (spec 000)' <<'X'
mkdir -p .git .claude .opencode/plugin
echo '{ "permissions": { "allow": ["Bash(ls)"] } }' >.claude/settings.json
echo 'export const Mine = async () => ({})' >.opencode/plugin/mine.ts
echo '{}' >.opencode/opencode.json
X

# role HOOKS: one role with these hooks
role() { printf 'repo: acme\nroles:\n  - slug: mechanic\n    purpose: keeps the engine clean\n    hooks:\n      onBrain:\n%s\n' "$1" >ona.roles.yaml; }
guard='        onTool: [{ command: node guard.mjs, timeout: PT5S, filter: { what: "Write|Edit" } }]'

row S000-1 000 'init --roles links the roles and does not bind hooks' '.agent has the role; the config of Claude Code is as it was' <<'X'
role "$guard"; before=$(cat .claude/settings.json)
ona init --roles mechanic
[ -d '.agent/repo=acme/role=mechanic' ]
same "$before" "$(cat .claude/settings.json)"
X

row S000-2 000 'init --roles --hooks with no names finds the agents and binds in each' 'PreToolUse in .claude/settings.json, a plugin for opencode' <<'X'
role "$guard"; ona init --roles mechanic --hooks
same 'Write|Edit' "$(json .hooks.PreToolUse.0.matcher <.claude/settings.json)"
has "$(cat .opencode/plugin/rhachet-hooks.ts)" 'node guard.mjs'
X

row S000-3 000 'what is not ours stays: permissions, other plugins' 'Bash(ls) and mine.ts' <<'X'
role "$guard"; ona init --roles mechanic --hooks
same 'Bash(ls)' "$(json .permissions.allow.0 <.claude/settings.json)"
same 'export const Mine = async () => ({})' "$(cat .opencode/plugin/mine.ts)"
X

row S000-4 000 'onBoot, onTool before and after, onStop have their places in Claude Code' 'SessionStart, PreToolUse, PostToolUse, Stop' <<'X'
role '        onBoot: [{ command: echo boot, timeout: PT5S }]
        onTool: [{ command: echo before, timeout: PT5S, filter: { what: "*" } }, { command: echo after, timeout: { seconds: 60 }, filter: { what: Bash, when: after } }]
        onStop: [{ command: echo stop, timeout: PT1M }]'
ona init --roles mechanic --hooks claudecode
same 'PostToolUse PreToolUse SessionStart Stop' "$(json .hooks <.claude/settings.json | node -e 'console.log(Object.keys(JSON.parse(require("fs").readFileSync(0, "utf8"))).sort().join(" "))')"
same 60 "$(json .hooks.PostToolUse.0.hooks.0.timeout <.claude/settings.json)"
X

row S000-5 000 'and in opencode: session.created and session.compacted, tool.execute.before, tool.execute.after, session.idle' 'each name in the plugin' <<'X'
ona init --roles mechanic --hooks opencode
for name in session.created session.compacted tool.execute.before tool.execute.after session.idle; do has "$(cat .opencode/plugin/rhachet-hooks.ts)" "$name"; done
X

row S000-6 000 'declarative: a hook that the role drops is gone everywhere' 'no hook of ours is left' <<'X'
role "$guard"; ona init --roles mechanic --hooks >/dev/null
role '        onStop: []'; ona init --hooks
lacks "$(cat .claude/settings.json .opencode/plugin/*)" 'guard.mjs'
X

row S000-7 000 'an unknown agent is an error that lists the names, and nothing is written' 'exit 1; claudecode is named; the file is as it was' <<'X'
role "$guard"; before=$(cat .claude/settings.json)
has "$(exits 1 ona init --roles mechanic --hooks nobody claudecode)" 'claudecode'
same "$before" "$(cat .claude/settings.json)"
X

row S000-8 000 'init --hooks applies hooks of roles that are linked already' 'bound again without --roles' <<'X'
role "$guard"; ona init --roles mechanic >/dev/null; ona init --hooks claudecode
has "$(cat .claude/settings.json)" 'guard.mjs'
X

row S000-9 000 'applying twice changes nothing' 'byte for byte' <<'X'
role "$guard"; ona init --roles mechanic --hooks >/dev/null; before=$(cat .claude/settings.json .opencode/plugin/*)
ona init --roles mechanic --hooks >/dev/null
same "$before" "$(cat .claude/settings.json .opencode/plugin/*)"
X

row S000-10 000 'BrainHooksAdapter get, findsert, upsert and del, for each agent; discovery in rhachet-brains-* packages; two that match are an error' 'the suite of the adapters passes' <<'X'
unit src/hosts/hosts.test.ts src/brains/suppliers.test.ts src/brains/sync.test.ts
X

row S000-11 000 'durations: PT60S and { seconds: 60 }; the same key twice, a bad filter and a bad duration are errors' 'the unit tests of roles pass' <<'X'
unit src/hosts/duration.test.ts src/brains/role.test.ts
X

row S000-12 000 'rhachet is the same program' 'both bins of the package are bin/ona.mjs' <<'X'
same "$(json .bin.ona <"$ROOT/package.json")" "$(json .bin.rhachet <"$ROOT/package.json")"
X

row S000-13 000 'roles of the published shape: onTalk, boot filters, rhachet run and rhachet roles boot; renamed, unlinked and adopted hooks' 'the tests of the published shape pass' <<'X'
unit test/roles/published-roles.test.ts
X

row S000-14 000 'init --hooks --check exits 1 on drift and writes nothing' 'exit 1, then 0 after a sync' <<'X'
role "$guard"; ona init --roles mechanic >/dev/null; echo '{}' >.claude/settings.json; before=$(cat .claude/settings.json)
exits 1 ona init --hooks claudecode --check
same "$before" "$(cat .claude/settings.json)"
ona init --hooks claudecode >/dev/null; ona init --hooks claudecode --check
X

group dispatcher 'The dispatcher (spec 001)' <<'X'
mkdir -p .git
ona dispatcher install --modules all
X

# fire EVENT JSON: as a host runs it
fire() { printf '%s' "$2" | node .ai/hooks/dispatch.mjs "$1"; }
session='"session_id":"1f0c22ab-1111-4222-8333-444444444444"'

row S001-1 001§2 'one command per event in the registration' 'eight events, node .ai/hooks/dispatch.mjs EVENT' <<'X'
file=$(find .github -name '*.json' | head -1)
for event in SessionStart UserPromptSubmit PreToolUse PostToolUse PreCompact Stop SubagentStart SubagentStop; do has "$(cat "$file")" "dispatch.mjs.*$event"; done
X

row S001-2 001§3 'exactly one JSON object on stdout, nothing on stderr, exit 0, for each event' 'eight times' <<'X'
for event in SessionStart UserPromptSubmit PreToolUse PostToolUse PreCompact Stop SubagentStart SubagentStop; do
  fire $event "{$session,\"tool_name\":\"read_file\",\"tool_input\":{},\"prompt\":\"x\"}" >out 2>err
  same object "$(node -e 'console.log(typeof JSON.parse(require("fs").readFileSync("out", "utf8")))')"; [ ! -s err ]
done
X

row S001-3 001§3.3 'stdin that is no JSON is answered too' 'one JSON object, exit 0' <<'X'
same object "$(fire PreToolUse 'not json' | node -e 'console.log(typeof JSON.parse(require("fs").readFileSync(0, "utf8")))')"
X

row S001-4 001§5 'ids: sid of 8 hex, w###, u00; everything under .ai/tmp/<sid>/' 'the state holds them' <<'X'
fire SessionStart "{$session}" >/dev/null; fire UserPromptSubmit "{$session,\"prompt\":\"x\"}" >/dev/null
state=$(cat .ai/tmp/*/state.json | head -1)
has "$(ls .ai/tmp)" '^[0-9a-f]{8}$'; has "$(cat .ai/tmp/*/state.json)" '"workId": ?"w[0-9]{3}"'
X

row S001-5 001§4 'events.jsonl is append-only and holds every call' 'it grows, and its beginning stays' <<'X'
fire SessionStart "{$session}" >/dev/null
log=$(ls .ai/tmp/*/events.jsonl | head -1); size=$(wc -c <"$log"); head -c "$size" "$log" | sha256sum >before
fire PostToolUse "{$session,\"tool_name\":\"read_file\",\"tool_input\":{},\"tool_response\":{}}" >/dev/null
head -c "$size" "$log" | sha256sum | cmp - before; [ "$(wc -c <"$log")" -gt "$size" ]
X

row S001-6 001§17 'the ten invariants' 'one test each passes' <<'X'
unit test/dispatcher/dispatcher.test.ts --test-name-pattern='invariant'
X

row S001-7 001§8 'order, short-circuit, budgets, merge, error isolation' 'the tests of the dispatcher pass' <<'X'
unit test/dispatcher/dispatcher.test.ts --test-name-pattern='modules run in order|first deny|critical module|rewrite owner'
X

row S001-8 001§16 'the nine schemas are shipped' 'each is a JSON Schema' <<'X'
for name in hook-input hook-output ctx hook-action state event-record artifact-record rlm-policy followup-rules; do file=$(find .ai/hooks/schema -name "$name.schema.json"); same object "$(node -e 'console.log(typeof JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")))' "$file")"; done
X

row S001-9 001§14 'the minimal set and the eight modules can be enabled' 'the doctor finds no problem and fires eight events' <<'X'
said=$(ona dispatcher doctor --json)
same '[]' "$(json .problems <<<"$said")"
same 8 "$(json .fired.length <<<"$said")"
X

group steps 'Step hooks (spec 004)' <<'X'
ona --init-db
X

row S004-1 004 'the 14 steps: names, envelopes, verdicts, control and the turn loop' 'every vector passes' <<'X'
has "$(cd "$ROOT" && npm run --silent test:vectors)" '^[1-9][0-9]* passed, 0 failed'
X

row S004-2 004 'a misspelt step is a hard error when the settings are loaded' 'exit 1; the right name is told' <<'X'
has "$(exits 1 ona -p hi --settings '{"hooks":[{"hook_event_name":"before_tool_aply","command":"true"}]}')" 'before_tool_apply'
X

row S004-3 004 'before_tool_apply: args are rewritten; a result stands in for the tool' 'the rewritten command ran; the result is the hook’s' <<'X'
settings '{"hooks":[{"hook_event_name":"before_tool_apply","match":{"tool":"Bash"},"command":"echo '"'"'{\"args\":{\"command\":\"echo rewritten\"}}'"'"'"}]}'
has "$(tool Bash '{"command":"echo original"}')" 'rewritten'
settings '{"hooks":[{"hook_event_name":"before_tool_apply","match":{"tool":"Bash"},"command":"echo '"'"'{\"result\":{\"kind\":\"text\",\"text\":\"instead\"}}'"'"'"}]}'
has "$(tool Bash '{"command":"touch made"}')" 'instead.*"is_error":false'
[ ! -e made ]
X

row S004-4 004 'before_generate: an assistant text stands in for the model' 'no request is sent' <<'X'
home; model lm; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"before_generate","command":"echo '"'"'{\"assistant\":\"from the hook\"}'"'"'"}]}'
same 'from the hook' "$(ona -p 'say x')"
same '' "$(requests)"
X

row S004-5 004 'before_turn_end: continue, with feedback, at most three times' 'four requests' <<'X'
home; model lm; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"before_turn_end","command":"echo '"'"'{\"control\":\"continue\",\"additional_context\":[\"go on please\"]}'"'"'"}]}'
ona -p 'say x' >/dev/null
same 4 "$(requests | wc -l)"; has "$(requests | tail -1)" 'go on please'
X

row S004-6 004 'a verdict with a bad field counts for nothing' 'the original command ran, or the gate refuses; never the rewritten one' <<'X'
settings '{"hooks":[{"hook_event_name":"before_tool_apply","onError":"proceed","match":{"tool":"Bash"},"command":"echo '"'"'{\"args\":{\"command\":\"echo rewritten\"},\"control\":7}'"'"'"}]}'
has "$(tool Bash '{"command":"echo original"}')" 'original'
X

row S004-7 004 'exit 2 at a step is a veto' 'before_ingest: the prompt is refused' <<'X'
home; model lm; ona --init-db >/dev/null
settings '{"hooks":[{"hook_event_name":"before_ingest","command":"echo no >&2; exit 2"}]}'
ona -p 'say x' || true
same '' "$(requests)"
X

group sdk 'Agents in code (spec 002)' <<'X'
ona --init-db
X

# script TEXT: a program that imports the built package
script() { printf "import { defineAgent, run } from '%s/dist/sdk.cjs'\n%s\n" "$ROOT" "$1" >script.mjs; node script.mjs; }

row S002-1 002 'a hook takes one object: context, agent and timestamp are always in it, and what the hook adds' 'a program on the built package prints them' <<'X'
said=$(script 'const seen = []
const agent = defineAgent({ name: "a", model: "rehearsal", instructions: "help", hooks: { onStart: ({ context, agent, timestamp, input }) => seen.push([context.get("region"), agent.name, timestamp instanceof Date, input]), onTokensCounted: (all) => seen.push(Object.keys(all)) } })
await run(agent, { input: "list", context: { region: "EU" }, bare: true })
console.log(JSON.stringify(seen))')
has "$said" '\["EU","a",true,"list"\]'; has "$said" 'inputTokens'
X

row S002-2 002 'the eleven hooks fire where their names say, with all their fields; both spellings; a failing one is logged and the run goes on' 'the tests of the hooks pass' <<'X'
unit src/sdk/hooks.test.ts
X

row S002-3 002 'resultTransform: one or two parameters, more, a method by name; only undefined and null are missing' 'the tests of the transforms pass' <<'X'
unit src/sdk/output/transform.test.ts
X

row S002-4 002 'the old form is refused with what to write instead' 'the tests of the definition pass' <<'X'
unit test/sdk.test.ts --test-name-pattern='every hook of the specification|standard parameters|takes what it needs|all parameters'
X

row S002-5 002 'a misspelt parameter does not compile' 'the tests of the types pass' <<'X'
unit test/sdk-types.test.ts
X

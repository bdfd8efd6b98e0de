# The words that the rows are written in. A row's body is a few lines of bash: it passes when it ends with 0.

# sql QUERY: rows of the database, columns separated by "|"
sql() { sqlite3 -cmd '.timeout 30000' "$AGENT_SDLC_DB" "$1"; }

# same WANTED FOUND
same() { [ "$1" = "$2" ] || { printf 'wanted: %s\nfound:  %s\n' "$1" "$2"; return 1; }; }

# has TEXT PATTERN: an extended regular expression that some line matches
has() { grep -qE -- "$2" <<<"$1" || { printf 'no line matches %s in:\n%s\n' "$2" "$1"; return 1; }; }

# lacks TEXT PATTERN
lacks() { if grep -qE -- "$2" <<<"$1"; then printf 'a line matches %s in:\n%s\n' "$2" "$1"; return 1; fi; }

# exits CODE COMMAND…: what it prints is on stdout, both streams
exits() {
  local wanted=$1 code=0 said
  shift
  said=$("$@" 2>&1) || code=$?
  printf '%s\n' "$said"
  [ "$code" = "$wanted" ] || { printf 'exit code %s, not %s: %s\n' "$code" "$wanted" "$*"; return 1; }
}

# tool NAME INPUT [FLAG…]: one call by the operator; prints {"content":…,"is_error":…} and never fails
tool() {
  local name=$1 input=$2
  shift 2
  ona --eval "{\"tool\":\"$name\",\"input\":$input}" "$@" || true
}

# commands: command lines of ona, a JSON array of words each, in one process; prints {"code":…,"stdout":…,"stderr":…} for each
commands() { node --import="$ROOT/scripts/compile-cache.mjs" "$ROOT/test/support/run-commands.ts"; }

# settings JSON: the operator's settings of record, in place of what is there
settings() {
  sql "INSERT OR REPLACE INTO settings_snapshot(scope, json, updated_at) VALUES ('effective', '${1//\'/\'\'}', datetime('now'))"
}

# conversation ID PHASE: a conversation at a phase
conversation() { sql "INSERT OR REPLACE INTO conversations(id, project_dir, phase) VALUES ('$1', '$PWD', '$2')"; }

# phase ID
phase() { sql "SELECT phase FROM conversations WHERE id = '$1'"; }

# result: the newest tool_result row
result() { sql "SELECT payload_json FROM transcript_entries WHERE entry_type = 'tool_result' ORDER BY id DESC LIMIT 1"; }

# model anthropic|openai|lm: the provider's variables, pointing at the server of the rows
model() {
  case $1 in
    anthropic) export ANTHROPIC_API_KEY=sk-ant-acceptance-0001 ANTHROPIC_BASE_URL=$WORLD ;;
    openai) export OPENAI_API_KEY=sk-openai-acceptance-02 OPENAI_BASE_URL=$WORLD/v1 ;;
    lm) export LM_STUDIO_BASE_URL=$WORLD/v1 LM_STUDIO_MODEL=recorder ;;
  esac
}

# requests: what the model's server was sent since the row began, one JSON object a line
requests() { tail -n "+$((REQUESTS_BEFORE + 1))" "$OUTSIDE/requests.jsonl"; }

# repl LINE…: a session of the REPL, with these lines typed into it
repl() { printf '%s\n' "$@" | ona 2>&1; }

# json PATH: a value out of the JSON on stdin, e.g. json .a.0.b, or json .a.length; sqlite3 starts ten times as fast as node
json() {
  local text path='$' key
  text=$(cat)
  for key in ${1//./ }; do
    case $key in
      length) sqlite3 :memory: <<<"SELECT json_array_length('${text//\'/\'\'}', '$path')"; return ;;
      *[!0-9]*) path+=".\"$key\"" ;;
      *) path+="[$key]" ;;
    esac
  done
  sqlite3 :memory: <<<"SELECT iif(json_type(value, '$path') = 'text', value ->> '$path', value -> '$path') FROM (SELECT '${text//\'/\'\'}' AS value)"
}

# unit FILE…: the product's own tests of a contract that no command shows; with --tested, as they ended there
unit() {
  local said
  if [ -n "$tested" ] && [ -n "$record" ]; then
    # the process that prints looks them up, so that no file of rows waits for a test
    printf '%s\n' "unit $(printf '%q ' "$@")|| exit 1" >>"$record/$ROW.tests"
    return
  fi
  if [ -n "$tested" ]; then
    (IFS=$'\t' && printf '%s\n' "$*") >&8 && IFS= read -r said <&7 || { echo 'nothing tells how the tests ended'; return 1; }
    [ -z "$said" ] || { printf '%s\n' "$said"; return 1; }
    return
  fi
  said=$(cd "$ROOT" && node scripts/test.ts "$@") || { printf '%s\n' "$said"; return 1; }
  has "$said" 'pass [1-9]'
}

# plan ID TEXT: a plan of a conversation, approved by the operator
plan() {
  sql "INSERT INTO plans(conversation_id, content, hash) VALUES ('$1', '${2//\'/\'\'}', 'x')"
  ona plan approve --conversation "$1" --as Ada >/dev/null
}

# home: an empty home, folder and database for this row alone
home() {
  local at
  at=$(mktemp -d "$WORK/row.XXXXXX")
  mkdir -p "$at/home" "$at/project"
  export HOME=$at/home AGENT_SDLC_DB=$at/home/.ona/agent.db
  cd "$at/project"
}

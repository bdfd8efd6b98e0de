#!/usr/bin/env bash
# Runs every row of docs/ACCEPTANCE_MATRIX.md, in its order, through the program, sqlite3 and the file system.
#
#   scripts/sdlc-acceptance.sh                 ends at the first row that fails, with its id on stderr and exit code 1
#   scripts/sdlc-acceptance.sh --keep-going    runs them all
#   scripts/sdlc-acceptance.sh --only ID       one row; may be given more than once
#   scripts/sdlc-acceptance.sh --jobs N        N files of rows at a time, each with a server of its own; prints in the same order
#   scripts/sdlc-acceptance.sh --tested FILE   takes the results of tests from a run of scripts/test.ts --results FILE;
#                                              --testing PID: from that run, which still goes on
#   scripts/sdlc-acceptance.sh --shared        with --jobs: the runs of ona of a file of rows share a process (Linux)
#   scripts/sdlc-acceptance.sh --times FILE    adds a line per row to FILE: its id and its CPU time in milliseconds (Linux)
#   scripts/sdlc-acceptance.sh --matrix        prints the matrix as Markdown
#   scripts/sdlc-acceptance.sh --list          prints ids, sections and obligations, separated by tabs
#
# The rows are in scripts/acceptance/rows, the words they use in scripts/acceptance/lib.sh. Needs sqlite3 and a build
# (npm run build); no network.
set -uo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
# another folder of rows, for the test of this script
rows=${ACCEPTANCE_ROWS:-$ROOT/scripts/acceptance/rows}
mode=run keep_going='' tested='' testing='' jobs='' part='' record='' times='' shared='' only=()
while [ $# -gt 0 ]; do
  case $1 in
    --keep-going) keep_going=yes ;;
    --only) only+=("${2:?--only needs an id}"); shift ;;
    --tested) tested=$(realpath "${2:?--tested needs a file}") || exit 2; shift ;;
    --testing) testing=${2:?--testing needs a process id}; shift ;;
    --times) : >>"${2:?--times needs a file}" && times=$(realpath "$2") || exit 2; shift ;;
    --jobs) jobs=${2:?--jobs needs a number}; shift ;;
    # how --jobs calls this script: the rows of one file, and a folder for what became of each
    --part) part=${2:?}; shift ;;
    --record) record=${2:?}; shift ;;
    --shared) shared=yes ;;
    --matrix) mode=matrix ;;
    --list) mode=list ;;
    --help | -h) sed -n '2,17s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "sdlc-acceptance.sh: what is \"$1\"? --help says what there is" >&2; exit 2 ;;
  esac
  shift
done
[ -e /proc/self/stat ] || times='' shared=''

passed=0 failed=0 group='' group_setup='' wanted=''
declare -A outcome=() bodies=() ready=()

# group NAME TITLE: the rows that follow share a home, a folder and a database; the body prepares them
group() {
  group=$1
  group_setup=$(cat)
  [ "$mode" != matrix ] || printf '\n## %s\n\n| id | section | obligation | command or SQL | PASS when |\n| --- | --- | --- | --- | --- |\n' "$2"
}

# row ID SECTION OBLIGATION EXPECTED: the body on stdin is the command
row() {
  local body
  IFS= read -rd '' body || true
  case $mode in
    matrix) matrix_row "$@" "$body" ;;
    list) printf '%s\t%s\t%s\n' "$1" "$2" "$3" ;;
    run)
      is_wanted "$1" || return 0
      if [ -n "$jobs" ]; then collect "$1" "$3"; return; fi
      prepare_group
      judge "$1" "$3" "$body"
      ;;
  esac
}

# rollup ID SECTION OBLIGATION ROW…: passes when these rows have passed
rollup() {
  local id=$1 section=$2 what=$3 row
  shift 3
  case $mode in
    matrix) printf '| %s | %s | %s | `scripts/sdlc-acceptance.sh%s` | exit 0: each of these rows passes |\n' "$id" "$section" "$what" "$(printf -- ' --only %s' "$@")" ;;
    list) printf '%s\t%s\t%s\n' "$id" "$section" "$what" ;;
    run)
      is_wanted "$id" && [ -z "$record" ] || return 0
      for row in "$@"; do
        [ "${outcome[$row]-}" = PASS ] || { settle "$id" "$what" "row $row did not pass (${outcome[$row]-not run})"; return; }
      done
      settle "$id" "$what" ''
      ;;
  esac
}

is_wanted() { [ "${#only[@]}" = 0 ] || [[ $wanted == *" $1 "* ]]; }

matrix_row() {
  local id=$1 section=$2 what=$3 expected=$4 cell='' line
  while IFS= read -r line; do
    [ -z "$line" ] && continue
    [[ $line == *\`* ]] && line="\`\` ${line//|/\\|} \`\`" || line="\`${line//|/\\|}\`"
    cell+=${cell:+<br>}$line
  done <<<"$5"
  printf '| %s | %s | %s | %s | %s |\n' "$id" "$section" "${what//|/\\|}" "$cell" "${expected//|/\\|}"
}

prepare_group() {
  [ -z "${ready[$group]-}" ] || return 0
  ready[$group]=yes
  mkdir -p "$WORK/$group/home" "$WORK/$group/project"
  in_group "$group_setup" >"$WORK/log" 2>&1
  [ $? = 0 ] || settle "$group" 'the preparation of this group of rows' "$(tail -c 1500 "$WORK/log")"
}

in_group() {
  (
    set -euo pipefail
    export HOME=$WORK/$group/home
    export AGENT_SDLC_DB=$HOME/.ona/agent.db
    REQUESTS_BEFORE=$(wc -l <"$OUTSIDE/requests.jsonl")
    cd "$WORK/$group/project"
    eval "$1"
  )
}

# pause: a moment, without a process that sleeps
pause() { read -rt 0.1 <>"$WORK/pause" || true; }

# start_server: the outside world of the rows
start_server() {
  "$node" --import="$ROOT/scripts/compile-cache.mjs" "$ROOT/scripts/acceptance/model-server.ts" "$OUTSIDE" >"$OUTSIDE/log" 2>&1 &
  server=$!
  trap 'trap "" INT TERM; kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; stop_lookups; rm -rf "$WORK"' EXIT
  for _ in $(seq 200); do [ -s "$OUTSIDE/env" ] && break; kill -0 "$server" 2>/dev/null || break; pause; done
  [ -s "$OUTSIDE/env" ] || { cat "$OUTSIDE/log" >&2; echo 'sdlc-acceptance.sh: the server of the rows did not start' >&2; exit 1; }
  grep '^export ONA_OAUTH' "$OUTSIDE/env" >"$OUTSIDE/account" || true
  WORLD=$(sed -n 's/^export WORLD=//p' "$OUTSIDE/env")
  export WORLD
}

# start_lookups: one process tells how the tests ended that rows name; file descriptor 8 asks it, 7 hears it
start_lookups() {
  coproc lookups { exec 2>&1; cd "$ROOT" && exec "$node" --import=./scripts/compile-cache.mjs scripts/passed.ts "$tested" --serve ${testing:+--testing "$testing"}; }
  exec 7<&"${lookups[0]}" 8>&"${lookups[1]}"
}

stop_lookups() { [ -z "${lookups_PID-}" ] || kill "$lookups_PID" 2>/dev/null; }

# start_parts: every file of rows in a process of its own, $jobs at a time, those with the most rows first
start_parts() {
  local words=() file
  [ -z "$tested" ] || words+=(--tested "$tested")
  [ -z "$times" ] || words+=(--times "$times")
  [ -z "$shared" ] || words+=(--shared)
  for id in "${only[@]}"; do words+=(--only "$id"); done
  mkdir "$WORK/record"
  set -m # a process group of their own, to end them by
  (
    for file in "$rows"/*.sh; do printf '%s %s\0' "$(grep -c '^row ' "$file")" "$file"; done | sort -zrn | cut -zd' ' -f2- |
      xargs -0 -P "$jobs" -I{} "$BASH" "$0" --keep-going --record "$WORK/record" "${words[@]}" --part {}
  ) >/dev/null 2>&1 &
  parts=$!
  set +m
  trap 'trap "" INT TERM; stop_parts; stop_lookups; rm -rf "$WORK"' EXIT
}

# stop_parts: ends what still runs, and waits until it has cleaned up
stop_parts() {
  kill -- "-$parts" 2>/dev/null
  for _ in $(seq 400); do kill -0 -- "-$parts" 2>/dev/null || return; pause; done
}

# collect ID OBLIGATION: what became of a row in its own process, and the tests that it names
collect() {
  local problem
  until [ -e "$WORK/record/$1" ]; do
    kill -0 "$parts" 2>/dev/null || [ -e "$WORK/record/$1" ] || { settle "$1" "$2" 'the process of its file ended before it'; return; }
    pause
  done
  if [ -s "$WORK/record/$group" ] && [ -z "${outcome[$group]-}" ]; then
    settle "$group" 'the preparation of this group of rows' "$(cat "$WORK/record/$group")"
  fi
  problem=$(cat "$WORK/record/$1")
  if [ -z "$problem" ] && [ -e "$WORK/record/$1.tests" ]; then
    problem=$(. "$WORK/record/$1.tests") && problem='' || problem+=' (failed)'
  fi
  settle "$1" "$2" "$problem"
}

# The body must not run as a condition: bash would go on after a line of it that fails.
judge() {
  ROW=$1
  local ended before=() after=()
  [ -z "$times" ] || read -r -a before <"/proc/$BASHPID/stat"
  in_group "$3" >"$WORK/log" 2>&1
  ended=$?
  if [ -n "$times" ]; then
    read -r -a after <"/proc/$BASHPID/stat"
    # the time of children, in hundredths of a second
    printf '%s %s\n' "$1" $(((after[15] + after[16] - before[15] - before[16]) * 10)) >>"$times"
  fi
  if [ "$ended" = 0 ]; then settle "$1" "$2" ''; else settle "$1" "$2" "$(tail -c 1500 "$WORK/log"; echo '(failed)')"; fi
}

# settle ID OBLIGATION PROBLEM
settle() {
  [ -z "$record" ] || { printf '%s' "$3" >"$record/$1.new" && mv "$record/$1.new" "$record/$1"; }
  if [ -z "$3" ]; then
    outcome[$1]=PASS passed=$((passed + 1))
    printf '[%s] %s PASS\n' "$1" "$2"
    return
  fi
  outcome[$1]=FAIL failed=$((failed + 1))
  printf '[%s] %s FAIL\n' "$1" "$2"
  printf '%s\n' "$3" | sed 's/^/    /' >&2
  printf 'FAIL %s\n' "$1" >&2
  [ -n "$keep_going" ] || finish
}

finish() {
  if [ -n "${wanted// /}" ]; then
    for id in $wanted; do [ -n "${outcome[$id]-}" ] || { echo "FAIL $id: there is no such row" >&2; failed=$((failed + 1)); }; done
  fi
  printf '%s passed, %s failed\n' "$passed" "$failed"
  [ "$failed" = 0 ] && exit 0 || exit 1
}

# A rollup that is asked for alone brings its rows with it.
widen_only() {
  wanted=" ${only[*]} "
  local id parts
  for id in "${only[@]}"; do
    parts=$(grep -hE "^rollup $id " "$rows"/*.sh | sed -E "s/^rollup $id [^ ]+ '([^']|'\\\\'')*' //" || true)
    wanted+="$parts "
  done
}

if [ "$mode" = run ]; then
  [ -f "$ROOT/dist/main.cjs" ] || { echo 'sdlc-acceptance.sh: there is no build: run npm run build' >&2; exit 2; }
  command -v sqlite3 >/dev/null || { echo 'sdlc-acceptance.sh: sqlite3 is not installed' >&2; exit 2; }
  [ "${#only[@]}" = 0 ] || widen_only
  WORK=$(mktemp -d "${record:-${TMPDIR:-/tmp}/ona-acceptance}.XXXXXX")
  WORK=$(cd "$WORK" && pwd -P)
  OUTSIDE=$WORK/outside
  mkdir -p "$OUTSIDE" "$WORK/bin"
  mkfifo "$WORK/pause"
  : >"$OUTSIDE/requests.jsonl"
  echo '[]' >"$OUTSIDE/cases.json"
  node=$ROOT/node_modules/.bin/node
  [ -x "$node" ] || node=$(command -v node)
  printf '#!/bin/sh\nexec timeout -k 5 120 "%s" "%s/bin/ona.mjs" "$@"\n' "$node" "$ROOT" >"$WORK/bin/ona-alone"
  chmod +x "$WORK/bin/ona-alone"
  if [ -n "$shared" ] && [ -n "$part" ]; then
    mkfifo "$OUTSIDE/runs" "$OUTSIDE/ended"
    ln -s "$ROOT/scripts/acceptance/shared-ona.sh" "$WORK/bin/ona"
  else
    ln -s ona-alone "$WORK/bin/ona"
  fi
  # nothing of the caller's reaches a row: neither a credential nor a setting
  for name in $(compgen -e | grep -E '^(ANTHROPIC|OPENAI|LM_STUDIO|CLAUDE|ONA|SDLC|AGENT_SDLC|XDG|HTTPS?_PROXY|NO_PROXY|https?_proxy|BASH_ENV|NODE_|SSL_CERT_)'); do unset "$name"; done
  export PATH=$WORK/bin:$ROOT/node_modules/.bin:$PATH ROOT WORK OUTSIDE ONA_KEYCHAIN=off NO_COLOR=1 LC_ALL=C.UTF-8
  . "$ROOT/scripts/acceptance/lib.sh"
  trap 'exit 130' INT TERM
  if [ -n "$jobs" ]; then start_parts; else start_server; fi
  [ -z "$tested" ] || [ -n "$record" ] || start_lookups
elif [ "$mode" = matrix ]; then
  cat "$ROOT/scripts/acceptance/matrix-head.md"
fi

if [ -n "$part" ]; then . "$part"; else for file in "$rows"/*.sh; do . "$file"; done; fi
[ "$mode" != run ] || finish

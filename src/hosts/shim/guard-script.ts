/**
 * The small shell script that runs a hook whose failure refuses the call, in agents that speak a role's own names (Claude Code and
 * Codex). The shim would do, and costs a Node process more for every call; this needs Node only to check an answer, which a
 * guard that lets a call pass does not give, and where there is no timeout(1).
 */

export const guardScript = `# Written by ona: runs a hook whose failure refuses the call. \`ona init --hooks\` brings it up to date.
# Called with a command and a time limit in ms; the event is on stdin.
here=\${0%/*}
if [ "$3" != inside ]; then
  # the timeout of BusyBox and of Windows does not end what the command started
  if command -v timeout >/dev/null 2>&1 && [ ! -e /etc/alpine-release ] && [ -z "\${WINDIR-}" ]; then
    timeout -s KILL "$((($2 + 999) / 1000))" sh "$0" "$1" "$2" inside && exit 0
    [ $? != 137 ] || echo "a hook failed (no answer within $2 ms), and its failure refuses the call: $1" >&2
    exit 2
  fi
  exec node "$here/rhachet-hook.cjs" '*' "$1" "$2" refuse
fi
cd "$here/../.." || exit 2
{ sh -c "$1"; echo "ona-exit-$$=$?"; } | {
  IFS= read -r first
  case $first in
    ona-exit-$$=0) exit 0 ;;
    ona-exit-$$=2) echo "refused by a hook: $1" >&2 ;;
    ona-exit-$$=*) echo "a hook failed (exit \${first#*=}), and its failure refuses the call: $1" >&2 ;;
    *)
      { printf '%s\\n' "$first"; cat; } | node "$here/rhachet-hook.cjs" --answer "$1" "$$"
      exit $?
      ;;
  esac
  exit 2
}
`

#!/usr/bin/env bash
# The `ona` of acceptance rows whose runs share a process (shared-runs.ts): one at a time. What runs beside another, or tells
# something before it ends, has a process of its own.
if [[ " $* " != *' --oauth '* ]] && (set -C && : >"$OUTSIDE/busy") 2>/dev/null; then
  echo $$ >"$OUTSIDE/runs"
  read -r code <"$OUTSIDE/ended"
  exit "$code"
fi
exec "$WORK/bin/ona-alone" "$@"

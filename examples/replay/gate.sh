#!/usr/bin/env bash
# For CI: the policy in the pull request must not change what happened in the last month. Give it the audit database.
#   AGENT_SDLC_DB=/srv/audit/agent.db examples/replay/gate.sh .ona/settings.json
set -eu
exec ona hooks replay --settings "${1:-.ona/settings.json}" --since 30d --fail-on-change

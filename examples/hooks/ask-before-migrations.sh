# Asks a user before a migration is written. Everything else it has no opinion on.
grep -q '"file_path":"[^"]*/migrations/' || exit 0
cat <<'JSON'
{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask",
  "permissionDecisionReason": "this changes the database of everyone"}}
JSON

-- The newest conversation, as it was: what was said, which tools ran, who decided, which hooks were asked.
SELECT c.project_dir, c.phase, s.session_id, s.started_at
FROM conversations c JOIN sessions s ON s.conversation_id = c.id
ORDER BY c.last_active DESC LIMIT 1;

SELECT sequence, entry_type, substr(payload_json, 1, 100) FROM transcript_entries
WHERE session_id = (SELECT session_id FROM sessions ORDER BY started_at DESC, rowid DESC LIMIT 1) ORDER BY sequence;

SELECT created_at, tool_name, decision, reason_json FROM tool_permission_log ORDER BY id DESC LIMIT 20;

SELECT started_at, hook_event, hook_ordinal, command, exit_code, skipped_reason FROM hook_invocations
ORDER BY id DESC LIMIT 20;

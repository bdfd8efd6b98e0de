/**
 * Tables of our own, beside those of the specification. Each entry is applied once, in order (`PRAGMA user_version`
 * counts them): add at the end, never change one that has shipped.
 */
export const ownTables: readonly string[] = [
  // One row a project: what its files held when last imported, and the snapshot that was then in force for it.
  `CREATE TABLE ona_settings_imports (
    project     TEXT PRIMARY KEY,
    content     TEXT NOT NULL,
    snapshot    TEXT NOT NULL,
    current     INTEGER NOT NULL,
    imported_at TEXT NOT NULL DEFAULT (datetime('now'))
  )`,
  // Sessions of sub-agents and their parents: a user resumes none of them.
  `CREATE TABLE ona_subagents (
    session_id        TEXT PRIMARY KEY REFERENCES sessions(session_id),
    parent_session_id TEXT NOT NULL REFERENCES sessions(session_id),
    agent_id          TEXT NOT NULL,
    agent_type        TEXT NOT NULL
  )`,
  // What was typed at the terminal, by project: for the arrows and the search of the input line.
  `CREATE TABLE ona_prompt_history (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    project_dir TEXT NOT NULL,
    text        TEXT NOT NULL,
    created_at  TEXT NOT NULL DEFAULT (datetime('now'))
  )`,
  'CREATE INDEX ona_prompt_history_project ON ona_prompt_history(project_dir, id)',
  // Test cases of a plan; the text here is the case, a file is only a copy.
  `CREATE TABLE ona_test_cases (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    plan_id    INTEGER NOT NULL REFERENCES plans(id),
    name       TEXT NOT NULL,
    criterion  TEXT,
    content    TEXT NOT NULL,
    hash       TEXT NOT NULL,
    superseded INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL DEFAULT (datetime('now'))
  )`,
  'CREATE INDEX ona_test_cases_plan ON ona_test_cases(plan_id)',
  // Every run of a case, with the hashes it ran against.
  `CREATE TABLE ona_test_runs (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    case_id     INTEGER NOT NULL REFERENCES ona_test_cases(id),
    hash        TEXT NOT NULL,
    plan_hash   TEXT NOT NULL,
    exit_code   INTEGER,
    timed_out   INTEGER NOT NULL,
    stdout      TEXT NOT NULL,
    stderr      TEXT NOT NULL,
    duration_ms INTEGER NOT NULL,
    started_at  TEXT NOT NULL
  )`,
  'CREATE INDEX ona_test_runs_case ON ona_test_runs(case_id, id)',
  // One row a log of the dispatcher: how much of it has been imported, and as which session.
  `CREATE TABLE ona_dispatcher_imports (
    project_dir TEXT NOT NULL,
    sid         TEXT NOT NULL,
    session_id  TEXT NOT NULL REFERENCES sessions(session_id),
    bytes       INTEGER NOT NULL,
    PRIMARY KEY (project_dir, sid)
  )`,
  // Sessions that came out of another agent's history: whose they are, and that nobody resumes them here.
  `CREATE TABLE ona_imports (
    session_id  TEXT PRIMARY KEY REFERENCES sessions(session_id),
    agent       TEXT NOT NULL,
    source_id   TEXT NOT NULL,
    file        TEXT NOT NULL,
    version     TEXT,
    imported_at TEXT NOT NULL DEFAULT (datetime('now'))
  )`,
  // One row a history file: how far it has been read, and the state of its reader at that place.
  `CREATE TABLE ona_import_files (
    agent       TEXT NOT NULL,
    file_key    TEXT NOT NULL,
    path        TEXT NOT NULL,
    bytes       INTEGER NOT NULL,
    mark        TEXT NOT NULL,
    state       TEXT NOT NULL,
    imported_at TEXT NOT NULL DEFAULT (datetime('now')),
    PRIMARY KEY (agent, file_key)
  )`,
  // What a command waits for is found by session, conversation or event; the tables of the specification stay exact.
  'CREATE INDEX ona_sessions_conversation ON sessions(conversation_id)',
  'CREATE INDEX ona_conversations_active ON conversations(last_active)',
  'CREATE INDEX ona_events_session ON events(session_id, event_type)',
  'CREATE INDEX ona_events_conversation ON events(conversation_id, event_type)',
  'CREATE INDEX ona_permissions_call ON tool_permission_log(session_id, tool_use_id)',
  'CREATE INDEX ona_hooks_conversation ON hook_invocations(conversation_id)',
  'CREATE INDEX ona_hooks_event ON hook_invocations(hook_event, id)',
  // What a sandboxed command could read, write and reach; `tool_start` names the profile by its digest.
  `CREATE TABLE ona_sandbox_profiles (
    digest     TEXT PRIMARY KEY,
    profile    TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (datetime('now'))
  )`,
  // What a test case is worth: in passes_emptied 0, or the number of its flaw (workflow/cases/proofs.ts); which mutants it fails on.
  `CREATE TABLE ona_test_proofs (
    case_id        INTEGER PRIMARY KEY REFERENCES ona_test_cases(id),
    hash           TEXT NOT NULL,
    code_hash      TEXT NOT NULL,
    passes_emptied INTEGER NOT NULL,
    mutants        TEXT NOT NULL,
    killed         TEXT NOT NULL,
    proved_at      TEXT NOT NULL DEFAULT (datetime('now'))
  )`,
  // One row a commit and session: the hashes of the rows that it added, chained per session and per database.
  `CREATE TABLE ona_chain (
    id           INTEGER PRIMARY KEY,
    session_id   TEXT NOT NULL,
    rows         BLOB NOT NULL,
    session_hash BLOB NOT NULL,
    hash         BLOB NOT NULL
  )`,
  'CREATE INDEX ona_chain_session ON ona_chain(session_id, id)',
  // The last row of each table that was there before the chain began.
  `CREATE TABLE ona_chain_origin AS
    SELECT 'transcript_entries' AS name, coalesce(max(id), 0) AS last FROM transcript_entries
    UNION ALL SELECT 'events', coalesce(max(id), 0) FROM events
    UNION ALL SELECT 'hook_invocations', coalesce(max(id), 0) FROM hook_invocations
    UNION ALL SELECT 'tool_permission_log', coalesce(max(id), 0) FROM tool_permission_log`,
  // Rows whose content was erased on purpose: what is left of each, so that only what was erased may differ.
  `CREATE TABLE ona_tombstones (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT,
    table_name TEXT NOT NULL,
    row_id     INTEGER NOT NULL,
    digest     BLOB NOT NULL,
    reason     TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (datetime('now'))
  )`,
  'CREATE INDEX ona_tombstones_row ON ona_tombstones(table_name, row_id)',
  // Calls that wait for an answer while nobody is there; `settled` when the call has its result.
  `CREATE TABLE ona_approvals (
    id              TEXT PRIMARY KEY,
    conversation_id TEXT NOT NULL REFERENCES conversations(id),
    session_id      TEXT NOT NULL REFERENCES sessions(session_id),
    tool_use_id     TEXT NOT NULL,
    tool_name       TEXT NOT NULL,
    input_json      TEXT NOT NULL,
    summary         TEXT NOT NULL,
    reason          TEXT NOT NULL,
    owner           TEXT,
    created_at      TEXT NOT NULL DEFAULT (datetime('now')),
    expires_at      TEXT NOT NULL,
    decision        TEXT,
    decided_by      TEXT,
    decided_at      TEXT,
    note            TEXT,
    settled         INTEGER NOT NULL DEFAULT 0
  )`,
  'CREATE INDEX ona_approvals_session ON ona_approvals(session_id, settled)',
  // How far the record has been sent to an OpenTelemetry collector.
  `CREATE TABLE ona_otel_cursor (
    name TEXT PRIMARY KEY,
    last INTEGER NOT NULL
  )`,
  // Calls that have no result because an agent that they started waits for an approval; `detail` says how to resume it.
  `CREATE TABLE ona_waiting_calls (
    session_id       TEXT NOT NULL REFERENCES sessions(session_id),
    tool_use_id      TEXT NOT NULL,
    child_session_id TEXT NOT NULL REFERENCES sessions(session_id),
    detail           TEXT NOT NULL,
    PRIMARY KEY (session_id, tool_use_id)
  )`,
  // Prompts, markers and counts of a session without its payloads; the hooks of a call and of a tool.
  'CREATE INDEX ona_entries_type ON transcript_entries(session_id, entry_type, sequence)',
  'CREATE INDEX ona_hooks_call ON hook_invocations(session_id, tool_use_id)',
  'CREATE INDEX ona_hooks_tool ON hook_invocations(tool_name, hook_event)',
  'CREATE INDEX ona_subagents_parent ON ona_subagents(parent_session_id)',
  // Conversations whose rows are in a compressed file beside the database: where in it, and what it must hold.
  `CREATE TABLE ona_archives (
    conversation_id TEXT PRIMARY KEY REFERENCES conversations(id),
    file            TEXT NOT NULL,
    offset          INTEGER NOT NULL,
    length          INTEGER NOT NULL,
    digest          BLOB NOT NULL,
    rows            INTEGER NOT NULL,
    archived_at     TEXT NOT NULL DEFAULT (datetime('now'))
  )`,
  'CREATE INDEX ona_conversations_project ON conversations(project_dir, last_active)',
  // By declaration: the tools that an MCP server last offered, and a digest of each tool as it was accepted.
  `CREATE TABLE ona_mcp_servers (
    key      TEXT PRIMARY KEY,
    server   TEXT NOT NULL,
    identity TEXT NOT NULL,
    offer    TEXT,
    accepted TEXT NOT NULL,
    seen_at  TEXT NOT NULL DEFAULT (datetime('now'))
  )`,
  // Each run of the retention that the settings ask for.
  `CREATE TABLE ona_retention (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    days       INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    sessions   INTEGER,
    rows       INTEGER,
    remaining  INTEGER
  )`,
  // Conversations of which nothing may be erased.
  `CREATE TABLE ona_holds (
    conversation_id TEXT PRIMARY KEY REFERENCES conversations(id),
    reason          TEXT NOT NULL,
    created_at      TEXT NOT NULL DEFAULT (datetime('now'))
  )`,
  // A session is resumed by its name.
  "CREATE INDEX ona_state_name ON state(value) WHERE key = 'name'",
  // Hashes of the imported records of agents that copy records from one file to another: each is stored once.
  'CREATE TABLE ona_import_records (key TEXT PRIMARY KEY) WITHOUT ROWID',
  // Archive files that may hold more than the conversations that refer to them: they are being written to, or emptied.
  'CREATE TABLE ona_unsettled_archives (file TEXT PRIMARY KEY)',
  // The result of a call; an agent's commands and a model's replies by their time. Core functions only: any SQLite can write.
  'CREATE INDEX ona_entries_call ON transcript_entries(session_id, tool_use_id) WHERE tool_use_id IS NOT NULL',
  `CREATE INDEX ona_events_commands ON events(timestamp)
    WHERE event_type = 'tool_start' AND instr(detail, '"tool_name":"Bash"') > 0`,
  "CREATE INDEX ona_events_replies ON events(timestamp) WHERE event_type = 'model_reply'",
  // Events of a conversation that belong to none of its sessions: phases, approvals.
  'CREATE INDEX ona_events_outside ON events(conversation_id) WHERE session_id IS NULL',
  // The hooks in an archive by event and tool ('' for none). The event '' and a frame's digest: all of its hooks are listed.
  `CREATE TABLE ona_archived_hooks (
    hook_event      TEXT NOT NULL,
    tool_name       TEXT NOT NULL,
    conversation_id TEXT NOT NULL REFERENCES conversations(id),
    PRIMARY KEY (hook_event, tool_name, conversation_id)
  ) WITHOUT ROWID`,
  'CREATE INDEX ona_archived_hooks_conversation ON ona_archived_hooks(conversation_id)',
  // Approvals that are pending: few, however many have expired.
  'CREATE INDEX ona_approvals_pending ON ona_approvals(expires_at) WHERE settled = 0 AND decision IS NULL',
  // Whether a session is a log of the dispatcher.
  'CREATE INDEX ona_dispatcher_imports_session ON ona_dispatcher_imports(session_id)',
  // A log that was added to was active then.
  `UPDATE conversations SET last_active = max(last_active,
      coalesce((SELECT max(timestamp) FROM events e WHERE e.session_id = conversations.id), ''))
    WHERE id IN (SELECT session_id FROM ona_dispatcher_imports)`,
  // The plans of a conversation, and the one in force.
  'CREATE INDEX ona_plans_conversation ON plans(conversation_id, status)',
  // The newest approvals.
  'CREATE INDEX ona_approvals_time ON ona_approvals(created_at)',
  // What was typed in a session that is erased goes with it, commands too.
  'ALTER TABLE ona_prompt_history ADD COLUMN session_id TEXT',
  'CREATE INDEX ona_prompt_history_session ON ona_prompt_history(session_id)',
  // Nothing is left in it that retention could remove.
  'ALTER TABLE ona_archives ADD COLUMN erased INTEGER NOT NULL DEFAULT 0',
]

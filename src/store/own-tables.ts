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
  // Sessions of sub-agents, and whose they are: a person resumes none of them.
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
]

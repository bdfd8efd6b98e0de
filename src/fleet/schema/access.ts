/**
 * Who may do what. The service connects as ona_service, which by itself authenticates and nothing else; for each request
 * it takes the role of whoever asks, so that PostgreSQL refuses what the role may not do.
 */
export const roles = ['ona_node', 'ona_reader', 'ona_publisher', 'ona_admin', 'ona_service'] as const

/** Roles belong to the whole server, and may be there already. */
export const roleSql = roles
  .map(
    (role) => `DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${role}') THEN
      CREATE ROLE ${role} NOLOGIN NOINHERIT; END IF; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;`,
  )
  .concat(['GRANT ona_node, ona_reader, ona_publisher, ona_admin TO ona_service;'])
  .join('\n')

const recorded = ['streams', 'session_heads', 'faults', 'conversations', 'sessions', 'links', 'rows', 'calls']
const own = "node_id::text = current_setting('ona.node', true)"

export const accessSql = `
REVOKE ALL ON ALL TABLES IN SCHEMA ona_fleet FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ona_fleet FROM PUBLIC;
GRANT USAGE ON SCHEMA ona_fleet TO ona_node, ona_reader, ona_publisher, ona_admin, ona_service;
GRANT INSERT (actor, role, action, target, detail, address) ON ona_fleet.access_log
  TO ona_node, ona_reader, ona_publisher, ona_admin, ona_service;

-- the service itself: who is it that asks?
GRANT SELECT (id, public_key, revoked_at, worker), INSERT ON ona_fleet.nodes TO ona_service;
GRANT SELECT, UPDATE (used_at, used_by) ON ona_fleet.enrol_tokens TO ona_service;
GRANT SELECT, INSERT, DELETE ON ona_fleet.nonces TO ona_service;
GRANT SELECT, INSERT ON ona_fleet.tokens TO ona_service;
GRANT SELECT ON ona_fleet.publishers TO ona_service, ona_node;
GRANT EXECUTE ON FUNCTION ona_fleet.ensure_partitions(integer) TO ona_service, ona_admin;

-- a node: adds rows of its own; of rows, calls and content it reads nothing
${recorded.map((name) => `ALTER TABLE ona_fleet.${name} ENABLE ROW LEVEL SECURITY;`).join('\n')}
${recorded.map((name) => `CREATE POLICY node ON ona_fleet.${name} TO ona_node USING (${own}) WITH CHECK (${own});`).join('\n')}
${recorded.map((name) => `CREATE POLICY reader ON ona_fleet.${name} FOR SELECT TO ona_reader, ona_publisher, ona_admin USING (true);`).join('\n')}
CREATE POLICY acknowledge ON ona_fleet.faults FOR UPDATE TO ona_admin USING (true);
ALTER TABLE ona_fleet.nodes ENABLE ROW LEVEL SECURITY;
CREATE POLICY node ON ona_fleet.nodes TO ona_node USING (id::text = current_setting('ona.node', true));
CREATE POLICY people ON ona_fleet.nodes TO ona_reader, ona_publisher, ona_admin, ona_service USING (true);
ALTER TABLE ona_fleet.policy_state ENABLE ROW LEVEL SECURITY;
CREATE POLICY node ON ona_fleet.policy_state TO ona_node USING (${own}) WITH CHECK (${own});
CREATE POLICY reader ON ona_fleet.policy_state FOR SELECT TO ona_reader, ona_publisher, ona_admin USING (true);
GRANT SELECT, INSERT, UPDATE ON ona_fleet.streams, ona_fleet.session_heads TO ona_node;
GRANT INSERT ON ona_fleet.faults, ona_fleet.links, ona_fleet.rows, ona_fleet.calls, ona_fleet.sessions, ona_fleet.conversations TO ona_node;
GRANT SELECT (node_id, database_id, epoch, link, hash) ON ona_fleet.links TO ona_node;
GRANT SELECT (node_id, database_id, epoch, kind, row_id) ON ona_fleet.rows TO ona_node;
GRANT SELECT (node_id, database_id, session_id) ON ona_fleet.sessions TO ona_node;
GRANT SELECT, UPDATE ON ona_fleet.conversations TO ona_node;
GRANT SELECT (id, ring, groups), UPDATE (last_seen) ON ona_fleet.nodes TO ona_node;
GRANT SELECT ON ona_fleet.policies TO ona_node;
GRANT SELECT, INSERT, UPDATE ON ona_fleet.policy_state TO ona_node;
-- jobs: a worker sees the job that it holds
ALTER TABLE ona_fleet.jobs ENABLE ROW LEVEL SECURITY;
CREATE POLICY service ON ona_fleet.jobs TO ona_service, ona_admin, ona_publisher USING (true) WITH CHECK (true);
CREATE POLICY reader ON ona_fleet.jobs FOR SELECT TO ona_reader USING (true);
GRANT SELECT, INSERT, UPDATE ON ona_fleet.jobs, ona_fleet.approvals TO ona_service;
GRANT SELECT, INSERT ON ona_fleet.outcomes, ona_fleet.job_events TO ona_service;
GRANT DELETE ON ona_fleet.outcomes TO ona_service;

-- users
GRANT SELECT ON ALL TABLES IN SCHEMA ona_fleet TO ona_reader, ona_publisher, ona_admin;
REVOKE SELECT ON ona_fleet.tokens, ona_fleet.enrol_tokens, ona_fleet.nonces FROM ona_reader, ona_publisher;
GRANT INSERT ON ona_fleet.policies TO ona_publisher, ona_admin;
GRANT INSERT, UPDATE ON ona_fleet.enrol_tokens, ona_fleet.tokens, ona_fleet.publishers TO ona_admin;
GRANT UPDATE (name, person, team, groups, ring, worker, revoked_at) ON ona_fleet.nodes TO ona_admin;
GRANT UPDATE (acknowledged_by, acknowledged_at) ON ona_fleet.faults TO ona_admin;
GRANT EXECUTE ON FUNCTION ona_fleet.retain(integer, text), ona_fleet.erase_person(text, text, text) TO ona_admin;`

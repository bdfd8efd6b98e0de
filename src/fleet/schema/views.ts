/** For auditors: plain views, one a question. */
export const viewSql = `
CREATE VIEW ona_fleet.what_ran AS
  SELECT c.at, n.name AS node, n.person, n.team, c.conversation_id, c.session_id, c.tool_use_id, c.tool_name, c.target,
    r.is_error, r.at AS ended_at
  FROM ona_fleet.calls c JOIN ona_fleet.nodes n ON n.id = c.node_id
  JOIN ona_fleet.rows r ON r.node_id = c.node_id AND r.database_id = c.database_id AND r.epoch = c.epoch
    AND r.session_id = c.session_id AND (r.tool_use_id = c.tool_use_id AND r.type = 'tool_result' OR r.kind = 'otlp' AND r.row_id = c.row_id)
  WHERE NOT EXISTS (SELECT 1 FROM ona_fleet.rows d WHERE d.node_id = c.node_id AND d.database_id = c.database_id
    AND d.epoch = c.epoch AND d.session_id = c.session_id AND d.tool_use_id = c.tool_use_id AND d.decision = 'deny');
CREATE VIEW ona_fleet.who_approved AS
  SELECT r.at, n.name AS node, n.person, n.team, r.session_id, r.tool_use_id, r.tool_name,
    (SELECT c.target FROM ona_fleet.calls c WHERE c.node_id = r.node_id AND c.session_id = r.session_id
      AND c.tool_use_id = r.tool_use_id LIMIT 1) AS target, r.decision, r.decided_by
  FROM ona_fleet.rows r JOIN ona_fleet.nodes n ON n.id = r.node_id
  WHERE r.decision IS NOT NULL AND r.decision <> 'deny'
  UNION ALL
  SELECT a.decided_at, n.name, n.person, n.team, a.session_id, a.id, a.tool_name, a.input, a.decision, a.decided_by
  FROM ona_fleet.approvals a JOIN ona_fleet.nodes n ON n.id = a.node_id WHERE a.decision = 'approved';
CREATE VIEW ona_fleet.what_was_denied AS
  SELECT r.at, n.name AS node, n.person, n.team, r.session_id, r.tool_use_id, r.tool_name,
    (SELECT c.target FROM ona_fleet.calls c WHERE c.node_id = r.node_id AND c.session_id = r.session_id
      AND c.tool_use_id = r.tool_use_id LIMIT 1) AS target, r.decided_by
  FROM ona_fleet.rows r JOIN ona_fleet.nodes n ON n.id = r.node_id WHERE r.decision = 'deny';
CREATE VIEW ona_fleet.what_changed AS
  SELECT * FROM ona_fleet.what_ran
  WHERE tool_name IN ('Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'apply_patch', 'write_file', 'replace') AND is_error IS NOT TRUE;
CREATE VIEW ona_fleet.cost_by_team AS
  SELECT date_trunc('month', r.at) AS month, n.team, n.person, count(*) AS replies, sum(r.tokens) AS tokens, sum(r.cost_usd) AS cost_usd
  FROM ona_fleet.rows r JOIN ona_fleet.nodes n ON n.id = r.node_id WHERE r.tokens IS NOT NULL
  GROUP BY 1, 2, 3;
CREATE VIEW ona_fleet.gaps AS
  SELECT f.id, f.found_at, n.name AS node, n.person, n.team, f.kind, f.link, f.table_name, f.row_id, f.detail,
    f.acknowledged_by, f.acknowledged_at, f.node_id, f.database_id
  FROM ona_fleet.faults f JOIN ona_fleet.nodes n ON n.id = f.node_id;
CREATE VIEW ona_fleet.policy_status AS
  SELECT n.id AS node_id, n.name AS node, n.person, n.team, n.ring, n.groups, n.last_seen, wanted.version AS wanted_version,
    wanted.digest AS wanted_digest, s.version, s.digest, coalesce(s.state, 'never reported') AS state, s.detail, s.drift,
    (SELECT coalesce(sum(c.hooks), 0) FROM ona_fleet.conversations c WHERE c.node_id = n.id)::bigint AS hooks, s.proof, s.reported_at, s.digest IS NOT DISTINCT FROM wanted.digest AND coalesce(s.state, 'applied') = 'applied'
      AND coalesce(cardinality(s.drift), 0) = 0 AS ok
  FROM ona_fleet.nodes n LEFT JOIN ona_fleet.policy_state s ON s.node_id = n.id
  LEFT JOIN LATERAL (SELECT p.version, p.digest FROM ona_fleet.policies p
    WHERE (p.ring = 'all' OR p.ring = n.ring) AND (p.group_name IS NULL OR p.group_name = ANY (n.groups))
    ORDER BY p.version DESC LIMIT 1) wanted ON true
  WHERE n.revoked_at IS NULL;`

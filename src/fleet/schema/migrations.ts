/**
 * The tables of a fleet, in the schema `ona_fleet`. Each entry is applied once, in order: add at the end, never change one
 * that has shipped.
 */
import { accessSql } from './access.ts'
import { jobTables } from './job-tables.ts'
import { retentionSql } from './retention.ts'
import { viewSql } from './views.ts'

const nodes = `
CREATE TABLE ona_fleet.nodes (
  id          uuid PRIMARY KEY,
  name        text NOT NULL,
  person      text NOT NULL,
  team        text NOT NULL,
  groups      text[] NOT NULL,
  ring        text NOT NULL CHECK (ring IN ('canary', 'all')),
  worker      boolean NOT NULL,
  public_key  text NOT NULL,
  enrolled_at timestamptz NOT NULL DEFAULT now(),
  enrolled_by text NOT NULL,
  last_seen   timestamptz,
  revoked_at  timestamptz
);
-- one-time tokens: only their SHA-256 is stored
CREATE TABLE ona_fleet.enrol_tokens (
  hash       bytea PRIMARY KEY,
  person     text NOT NULL,
  team       text NOT NULL,
  groups     text[] NOT NULL,
  ring       text NOT NULL CHECK (ring IN ('canary', 'all')),
  worker     boolean NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  used_at    timestamptz,
  used_by    uuid
);
-- requests of the last minutes: a copy of one is refused, also by another process of the service and after a restart of it
CREATE TABLE ona_fleet.nonces (
  node_id uuid NOT NULL,
  nonce   text NOT NULL,
  at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (node_id, nonce)
);
CREATE INDEX nonces_at ON ona_fleet.nonces (at);
-- tokens of users and of telemetry: only their SHA-256 is stored
CREATE TABLE ona_fleet.tokens (
  hash       bytea PRIMARY KEY,
  actor      text NOT NULL,
  role       text NOT NULL CHECK (role IN ('reader', 'publisher', 'admin', 'telemetry')),
  via        text NOT NULL CHECK (via IN ('static', 'oidc')),
  node_id    uuid REFERENCES ona_fleet.nodes(id),
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  revoked_at timestamptz
);
-- who read, published, decided, enrolled and erased; nobody may change a row of it
CREATE TABLE ona_fleet.access_log (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at      timestamptz NOT NULL DEFAULT now(),
  actor   text NOT NULL,
  role    text NOT NULL,
  action  text NOT NULL,
  target  text NOT NULL DEFAULT '',
  detail  text NOT NULL DEFAULT '',
  address text NOT NULL DEFAULT ''
);
CREATE INDEX access_log_at ON ona_fleet.access_log (at);`

const rows = `
-- how far the chain of each database has arrived; a rewritten chain begins a new epoch
CREATE TABLE ona_fleet.streams (
  node_id     uuid NOT NULL REFERENCES ona_fleet.nodes(id),
  database_id uuid NOT NULL,
  epoch       integer NOT NULL DEFAULT 1,
  last_link   bigint NOT NULL DEFAULT 0,
  head        bytea NOT NULL DEFAULT '\\x0000000000000000000000000000000000000000000000000000000000000000',
  rows        bigint NOT NULL DEFAULT 0,
  started_at  timestamptz NOT NULL DEFAULT now(),
  updated_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (node_id, database_id)
);
CREATE TABLE ona_fleet.session_heads (
  node_id     uuid NOT NULL,
  database_id uuid NOT NULL,
  epoch       integer NOT NULL,
  session_id  text NOT NULL,
  hash        bytea NOT NULL,
  PRIMARY KEY (node_id, database_id, epoch, session_id)
);
-- what did not arrive as it was written: gaps, edits, removed rows, rewritten chains
CREATE TABLE ona_fleet.faults (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  node_id         uuid NOT NULL,
  database_id     uuid NOT NULL,
  epoch           integer NOT NULL,
  kind            text NOT NULL,
  link            bigint NOT NULL,
  table_name      text NOT NULL DEFAULT '',
  row_id          bigint NOT NULL DEFAULT 0,
  detail          text NOT NULL,
  found_at        timestamptz NOT NULL DEFAULT now(),
  acknowledged_by text,
  acknowledged_at timestamptz,
  UNIQUE (node_id, database_id, epoch, kind, link, table_name, row_id)
);
CREATE TABLE ona_fleet.conversations (
  node_id     uuid NOT NULL,
  database_id uuid NOT NULL,
  id          text NOT NULL,
  project_dir text NOT NULL,
  title       text NOT NULL DEFAULT '',
  phase       text NOT NULL,
  agent       text NOT NULL DEFAULT 'ona',
  created_at  timestamptz,
  last_active timestamptz NOT NULL,
  entries     bigint NOT NULL DEFAULT 0,
  prompts     bigint NOT NULL DEFAULT 0,
  calls       bigint NOT NULL DEFAULT 0,
  refused     bigint NOT NULL DEFAULT 0,
  hooks       bigint NOT NULL DEFAULT 0,
  tokens      bigint NOT NULL DEFAULT 0,
  cost_usd    double precision,
  PRIMARY KEY (node_id, database_id, id)
);
CREATE INDEX conversations_active ON ona_fleet.conversations (last_active DESC);
CREATE TABLE ona_fleet.sessions (
  node_id         uuid NOT NULL,
  database_id     uuid NOT NULL,
  session_id      text NOT NULL,
  conversation_id text NOT NULL,
  started_at      text NOT NULL,
  parent_id       text,
  agent_id        text,
  agent_type      text,
  imported_from   text,
  PRIMARY KEY (node_id, database_id, session_id)
);
CREATE INDEX sessions_conversation ON ona_fleet.sessions (node_id, database_id, conversation_id);
-- partitioned by the month of arrival: a node with a wrong clock reaches no other month
CREATE TABLE ona_fleet.links (
  node_id     uuid NOT NULL,
  database_id uuid NOT NULL,
  epoch       integer NOT NULL,
  link        bigint NOT NULL,
  session_id  text NOT NULL,
  rows        bytea NOT NULL,
  session_hash bytea NOT NULL,
  hash        bytea NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now()
) PARTITION BY RANGE (received_at);
CREATE TABLE ona_fleet.rows (
  node_id         uuid NOT NULL,
  database_id     uuid NOT NULL,
  epoch           integer NOT NULL,
  kind            text NOT NULL,
  row_id          bigint NOT NULL,
  link            bigint NOT NULL,
  session_id      text NOT NULL,
  conversation_id text NOT NULL,
  at              timestamptz,
  type            text NOT NULL,
  tool_name       text,
  tool_use_id     text,
  decision        text,
  decided_by      text,
  is_error        boolean,
  tokens          bigint,
  cost_usd        double precision,
  state           text NOT NULL CHECK (state IN ('exact', 'redacted', 'erased', 'omitted', 'changed')),
  content         text NOT NULL,
  received_at     timestamptz NOT NULL DEFAULT now()
) PARTITION BY RANGE (received_at);
-- every tool call, with what it was about: the file, the command, the address
CREATE TABLE ona_fleet.calls (
  node_id     uuid NOT NULL,
  database_id uuid NOT NULL,
  epoch       integer NOT NULL,
  session_id  text NOT NULL,
  conversation_id text NOT NULL,
  tool_use_id text NOT NULL,
  tool_name   text NOT NULL,
  target      text NOT NULL,
  at          timestamptz,
  row_id      bigint NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now()
) PARTITION BY RANGE (received_at);
CREATE FUNCTION ona_fleet.ensure_partitions(months integer DEFAULT 1) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  month timestamptz := date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC';
  starts timestamptz;
  suffix text;
BEGIN
  IF months < 0 OR months > 24 THEN RAISE EXCEPTION 'months must be 0 to 24'; END IF;
  PERFORM pg_advisory_xact_lock(hashtext('ona_fleet partitions'));
  FOR i IN 0..months LOOP
    starts := ((month AT TIME ZONE 'UTC') + make_interval(months => i)) AT TIME ZONE 'UTC';
    suffix := to_char(starts AT TIME ZONE 'UTC', 'YYYY_MM');
    CONTINUE WHEN to_regclass('ona_fleet.rows_' || suffix) IS NOT NULL;
    FOR t IN 1..3 LOOP
      EXECUTE format('CREATE TABLE ona_fleet.%I PARTITION OF ona_fleet.%I FOR VALUES FROM (%L) TO (%L)',
        (ARRAY['links', 'rows', 'calls'])[t] || '_' || suffix, (ARRAY['links', 'rows', 'calls'])[t],
        starts, ((starts AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC');
    END LOOP;
    -- a key of each partition, since one of the whole table would have to hold the time of arrival
    EXECUTE format('CREATE UNIQUE INDEX ON ona_fleet.%I (node_id, database_id, epoch, link)', 'links_' || suffix);
    EXECUTE format('CREATE UNIQUE INDEX ON ona_fleet.%I (node_id, database_id, epoch, kind, row_id)', 'rows_' || suffix);
    EXECUTE format('CREATE INDEX ON ona_fleet.%I (session_id, kind)', 'rows_' || suffix);
    EXECUTE format('CREATE INDEX ON ona_fleet.%I USING brin (received_at)', 'rows_' || suffix);
    EXECUTE format('CREATE INDEX ON ona_fleet.%I (at) WHERE decision IS NOT NULL', 'rows_' || suffix);
    EXECUTE format('CREATE INDEX ON ona_fleet.%I (session_id, tool_use_id)', 'calls_' || suffix);
  END LOOP;
END $$;
SELECT ona_fleet.ensure_partitions();`

const policies = `
CREATE TABLE ona_fleet.publishers (
  key_id     text PRIMARY KEY,
  public_key text NOT NULL,
  name       text NOT NULL,
  added_at   timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz
);
-- every bundle that was ever published; the payload is the text that was signed
CREATE TABLE ona_fleet.policies (
  version      bigint PRIMARY KEY,
  ring         text NOT NULL CHECK (ring IN ('canary', 'all')),
  group_name   text,
  digest       text NOT NULL,
  payload      text NOT NULL,
  signature    text NOT NULL,
  key_id       text NOT NULL REFERENCES ona_fleet.publishers(key_id),
  published_by text NOT NULL,
  published_at timestamptz NOT NULL DEFAULT now()
);
-- what each node says that it applies
CREATE TABLE ona_fleet.policy_state (
  node_id    uuid PRIMARY KEY REFERENCES ona_fleet.nodes(id),
  version    bigint NOT NULL,
  digest     text NOT NULL,
  state      text NOT NULL,
  detail     text NOT NULL DEFAULT '',
  drift      text[] NOT NULL DEFAULT '{}',
  proof      text NOT NULL DEFAULT '',
  reported_at timestamptz NOT NULL DEFAULT now()
);`

export const migrations: readonly string[] = [nodes, rows, policies, jobTables, retentionSql, viewSql, accessSql]

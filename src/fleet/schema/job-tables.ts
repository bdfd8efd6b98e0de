/** Jobs and what became of them. pg-boss delivers; these tables say what a job is, who holds it and how it ended. */
export const jobTables = `
CREATE TABLE ona_fleet.jobs (
  id              uuid PRIMARY KEY,
  idempotency_key text UNIQUE,
  prompt          text NOT NULL,
  repo            text NOT NULL,
  ref             text NOT NULL,
  policy          text,
  on_crash        text NOT NULL CHECK (on_crash IN ('restart', 'resume')),
  model           text,
  push            boolean NOT NULL,
  max_minutes     double precision NOT NULL,
  max_turns       integer,
  max_cost_usd    double precision,
  max_attempts    integer NOT NULL,
  queue           text NOT NULL,
  status          text NOT NULL CHECK (status IN ('queued', 'running', 'waiting', 'ended')),
  attempt         integer NOT NULL DEFAULT 0,
  node_id         uuid,
  boss_id         uuid,
  boss_queue      text,
  boss_retry      integer NOT NULL DEFAULT 0,
  submitted_by    text NOT NULL,
  submitted_at    timestamptz NOT NULL DEFAULT now(),
  started_at      timestamptz,
  cancel          boolean NOT NULL DEFAULT false
);
CREATE INDEX jobs_open ON ona_fleet.jobs (queue, status) WHERE status <> 'ended';
CREATE INDEX jobs_submitted ON ona_fleet.jobs (submitted_at DESC);
-- one row a job, however often it was delivered
CREATE TABLE ona_fleet.outcomes (
  job_id    uuid PRIMARY KEY REFERENCES ona_fleet.jobs(id),
  outcome   text NOT NULL CHECK (outcome IN ('done', 'failed', 'cancelled', 'dead')),
  reason    text NOT NULL,
  attempt   integer NOT NULL,
  node_id   uuid,
  branch    text,
  commit_id text,
  result    text NOT NULL DEFAULT '',
  turns     integer,
  cost_usd  double precision,
  ended_at  timestamptz NOT NULL DEFAULT now()
);
-- what happened to a job, for ona fleet log
CREATE TABLE ona_fleet.job_events (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job_id  uuid NOT NULL REFERENCES ona_fleet.jobs(id),
  at      timestamptz NOT NULL DEFAULT now(),
  attempt integer NOT NULL,
  node_id uuid,
  what    text NOT NULL,
  detail  text NOT NULL DEFAULT ''
);
CREATE INDEX job_events_job ON ona_fleet.job_events (job_id, id);
-- calls of jobs that wait for a decision
CREATE TABLE ona_fleet.approvals (
  job_id      uuid NOT NULL REFERENCES ona_fleet.jobs(id),
  id          text NOT NULL,
  node_id     uuid NOT NULL,
  session_id  text NOT NULL,
  tool_name   text NOT NULL,
  input       text NOT NULL,
  reason      text NOT NULL,
  asked_at    timestamptz NOT NULL DEFAULT now(),
  expires_at  timestamptz NOT NULL,
  decision    text CHECK (decision IN ('approved', 'denied')),
  decided_by  text,
  decided_at  timestamptz,
  note        text,
  PRIMARY KEY (job_id, id)
);`

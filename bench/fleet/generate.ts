/**
 * A fleet's record made inside PostgreSQL, for what reads one: nodes of several teams, conversations, calls, denials, costs and
 * jobs. 1,000,000 rows take less than a minute, where nodes that ship them would take several.
 */
import { randomUUID } from 'node:crypto'
import pg from 'pg'

export interface Wanted {
  readonly nodes: number
  readonly rows: number
  /** Stands in every name and text that a machine or a user chooses. */
  readonly mark?: string
}

/** Every call is a reply, a prompt or result, two events, a hook and a decision; a conversation has 50. */
const perCall = 6
const perConversation = 50

export async function generateRecord(url: string, { nodes, rows, mark = '' }: Wanted): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const calls = Math.floor(rows / perCall)
    await client.query('BEGIN')
    await client.query(
      `INSERT INTO ona_fleet.nodes(id, name, person, team, groups, ring, worker, public_key, enrolled_by, last_seen)
       SELECT ('00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'node-' || lpad(n::text, 4, '0') || $2, 'user' || n || '@example.com',
         (ARRAY['payments', 'search', 'platform', 'web', 'data'])[n % 5 + 1] || $2, '{}', CASE WHEN n % 10 = 0 THEN 'canary' ELSE 'all' END,
         n % 4 = 0, 'none', 'bench', now() - make_interval(mins => n)
       FROM generate_series(0, $1 - 1) n`,
      [nodes, mark],
    )
    await client.query('CREATE TEMP TABLE made (kind text, content jsonb, n bigint, at timestamptz) ON COMMIT DROP')
    await client.query(
      `CREATE TEMP TABLE calls ON COMMIT DROP AS
       SELECT n, n / $2 AS conversation, ('00000000-0000-4000-8000-' || lpad(to_hex((n / $2) % $3), 12, '0'))::uuid AS node,
         now() - make_interval(secs => ($1 - n) * 2592000.0 / $1) AS at, 'c' || (n / $2) AS cid, 's' || (n / $2) AS sid, 'call-' || n AS use,
         n % 7 = 3 AS denied, (ARRAY['npm test', 'git status', 'rg total src', 'npm publish', 'cat README.md'])[n % 5 + 1] || ' #' || n || $4 AS command
       FROM generate_series(0, $1 - 1) n`,
      [calls, perConversation, nodes, mark],
    )
    await client.query(
      `INSERT INTO ona_fleet.sessions(node_id, database_id, session_id, conversation_id, started_at)
       SELECT DISTINCT ON (cid) node, node, sid, cid, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') FROM calls ORDER BY cid, n`,
    )
    const time = `to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')`
    const add = (kind: string, id: string, facts: string, content: string) =>
      client.query(
        `INSERT INTO ona_fleet.rows(node_id, database_id, epoch, kind, row_id, link, session_id, conversation_id, at, state, type, tool_name,
           tool_use_id, decision, decided_by, is_error, tokens, cost_usd, content)
         SELECT node, node, 1, '${kind}', ${id}, n + 1, sid, cid, at, 'exact', ${facts}, ${content}::text FROM calls`,
      )
    const word = (n: string) => `'word' || (${n} % 1000)`
    await add(
      'transcript_entries',
      'n * 2 + 1',
      `CASE WHEN n % ${perConversation} = 0 THEN 'user' ELSE 'assistant' END, NULL, use, NULL, NULL, NULL::boolean, NULL::bigint, NULL::float`,
      `json_build_array(n * 2 + 1, sid, (n % ${perConversation}) * 2, NULL, CASE WHEN n % ${perConversation} = 0 THEN 'user' ELSE 'assistant' END,
         json_build_object('_t', 'x', 'content', json_build_array(CASE WHEN n % ${perConversation} = 0
           THEN json_build_object('type', 'text', 'text', 'Look at ' || ${word('n')} || ' ${mark.replaceAll("'", "''")} please')
           ELSE json_build_object('type', 'tool_use', 'id', use, 'name', 'Bash', 'input', json_build_object('command', command)) END))::text, use, ${time})`,
    )
    await add(
      'transcript_entries',
      'n * 2 + 2',
      `'tool_result', NULL, use, NULL, NULL, denied, NULL::bigint, NULL::float`,
      `json_build_array(n * 2 + 2, sid, (n % ${perConversation}) * 2 + 1, NULL, 'tool_result', json_build_object('_t', 'tool_result', 'tool_use_id', use,
         'content', 'the output of ' || command || ' names ' || ${word('n * 7')}, 'is_error', denied)::text, use, ${time})`,
    )
    await add(
      'events',
      'n * 2 + 1',
      `'model_reply', NULL, NULL, NULL, NULL, NULL::boolean, 1500, 0.01`,
      `json_build_array(n * 2 + 1, cid, sid, ${time}, 'model_reply', '{"model":"m","inputTokens":1200,"outputTokens":300,"costUsd":0.01}')`,
    )
    await add(
      'events',
      'n * 2 + 2',
      `'tool_start', 'Bash', use, NULL, NULL, NULL::boolean, NULL::bigint, NULL::float`,
      `json_build_array(n * 2 + 2, cid, sid, ${time}, 'tool_start', json_build_object('tool_use_id', use, 'tool_name', 'Bash')::text)`,
    )
    await add(
      'hook_invocations',
      'n + 1',
      `'PreToolUse', 'Bash', use, NULL, NULL, NULL::boolean, NULL::bigint, NULL::float`,
      `json_build_array(n + 1, sid, cid, 'PreToolUse', 0, '', 'guard.sh', use, 'Bash', '{}', 0, '', '', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), NULL, NULL)`,
    )
    await add(
      'tool_permission_log',
      'n + 1',
      `'permission', 'Bash', use, CASE WHEN denied THEN 'deny' ELSE 'allow' END, CASE WHEN denied THEN 'rule' ELSE 'person' END, NULL::boolean, NULL::bigint, NULL::float`,
      `json_build_array(n + 1, sid, use, 'Bash', CASE WHEN denied THEN 'deny' ELSE 'allow' END,
         CASE WHEN denied THEN '{"by":"rule","rule":"Bash(npm publish *)"}' ELSE '{"by":"person"}' END, ${time})`,
    )
    await client.query(
      `INSERT INTO ona_fleet.calls(node_id, database_id, epoch, session_id, conversation_id, tool_use_id, tool_name, target, at, row_id)
       SELECT node, node, 1, sid, cid, use, 'Bash', command, at, n * 2 + 1 FROM calls`,
    )
    await client.query(
      `INSERT INTO ona_fleet.conversations(node_id, database_id, id, project_dir, title, phase, created_at, last_active, entries, prompts, calls, refused, hooks, tokens, cost_usd)
       SELECT node, node, cid, '/repo' || conversation % 20, 'Look at ' || ${word('min(n)')} || $1, 'idle', min(at), max(at), count(*) * 2, 1, count(*),
         count(*) FILTER (WHERE denied), count(*), count(*) * 1500, count(*) * 0.01
       FROM calls GROUP BY node, cid, conversation`,
      [` ${mark}`],
    )
    await client.query(
      `INSERT INTO ona_fleet.streams(node_id, database_id, rows, last_link) SELECT node, node, count(*) * ${perCall}, max(n) + 1 FROM calls GROUP BY node`,
    )
    await addJobs(client, mark)
    await client.query('COMMIT')
    await client.query('ANALYZE')
  } finally {
    await client.end()
  }
}

const states = ['done', 'done', 'failed', 'dead', 'cancelled', 'running', 'waiting', 'queued'] as const

async function addJobs(client: pg.Client, mark: string): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    'SELECT id FROM ona_fleet.nodes WHERE worker ORDER BY name LIMIT 5',
  )
  for (let n = 0; n < 40; n++) {
    const [id, state] = [randomUUID(), states[n % states.length]!]
    const isOpen = n % states.length >= 5
    await client.query(
      `INSERT INTO ona_fleet.jobs(id, prompt, repo, ref, on_crash, push, max_minutes, max_attempts, queue, status, attempt, node_id, submitted_by, submitted_at)
       VALUES ($1, $2, $3, 'main', 'restart', false, 30, 3, 'q', $4, 1, $5, 'ada', now() - make_interval(mins => $6))`,
      [
        id,
        `fix flaky test ${n} ${mark}`,
        `https://git.example/app${n % 3}.git`,
        isOpen ? state : 'ended',
        rows[n % rows.length]?.id ?? null,
        n,
      ],
    )
    const event = (what: string, detail: string) =>
      client.query(
        'INSERT INTO ona_fleet.job_events(job_id, attempt, node_id, what, detail) VALUES ($1, 1, $2, $3, $4)',
        [...[id, rows[n % rows.length]?.id ?? null, what, detail]],
      )
    await event('started', '')
    if (isOpen) continue
    const reason = state === 'dead' ? `tried 3 times: its worker died ${mark}` : `${state} ${mark}`
    await client.query(
      'INSERT INTO ona_fleet.outcomes(job_id, outcome, reason, attempt, node_id) VALUES ($1, $2, $3, 1, $4)',
      [...[id, state, reason, rows[n % rows.length]?.id ?? null]],
    )
    await event(state, reason)
  }
}

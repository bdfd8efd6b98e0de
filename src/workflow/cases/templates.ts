/** One case for each surface that can be observed, for the generator to write by (spec 003 §8.5.2, §8.8). */

export interface Template {
  readonly surface: 'process output' | 'file state' | 'database state' | 'tool result' | 'hook record'
  readonly script: string
}

export const templates: readonly Template[] = [
  {
    surface: 'process output',
    script: `#!/usr/bin/env bash
# C1: greeting a name prints it
set -eu
actual=$(node "$PROJECT_DIR/bin/greet.mjs" Ada)
echo "greet Ada printed: $actual"
if [ "$actual" != 'Hello, Ada!' ]; then
  echo "expected: Hello, Ada!" >&2
  exit 1
fi
`,
  },
  {
    surface: 'file state',
    script: `#!/usr/bin/env bash
# C2: --out writes the greeting to a file and prints nothing
set -eu
printed=$(node "$PROJECT_DIR/bin/greet.mjs" Ada --out greeting.txt)
test -f greeting.txt
grep -qx 'Hello, Ada!' greeting.txt
[ "$printed" = '' ] || { echo "printed: $printed" >&2; exit 1; }
`,
  },
  {
    surface: 'database state',
    script: `#!/usr/bin/env bash
# C3: a conversation cannot skip the test phase
set -eu
sqlite3 "$AGENT_SDLC_DB" "INSERT INTO conversations(id, project_dir, phase) VALUES ('case-3', '/tmp', 'implement')"
if ona --transition verify --conversation case-3; then echo 'it was moved' >&2; exit 1; fi
phase=$(sqlite3 "$AGENT_SDLC_DB" "SELECT phase FROM conversations WHERE id = 'case-3'")
[ "$phase" = implement ] || { echo "phase: $phase" >&2; exit 1; }
`,
  },
  {
    surface: 'tool result',
    script: `#!/usr/bin/env bash
# C4: Read shows a file and counts its lines
set -eu
printf 'line1\\nline2\\nline3\\n' > input.txt
result=$(ona --eval "{\\"tool\\":\\"Read\\",\\"input\\":{\\"file_path\\":\\"$PWD/input.txt\\"}}")
echo "$result"
echo "$result" | grep -q '"is_error":false'
echo "$result" | grep -q 'line1'
echo "$result" | grep -q '3 lines'
`,
  },
  {
    surface: 'hook record',
    script: `#!/usr/bin/env bash
# C5: a PreToolUse hook that exits 2 denies the call and is on record
set -eu
sqlite3 "$AGENT_SDLC_DB" "INSERT OR REPLACE INTO settings_snapshot(scope, json, updated_at) VALUES ('effective',
  '{\\"hooks\\":[{\\"hook_event_name\\":\\"PreToolUse\\",\\"matcher\\":\\"Bash\\",\\"command\\":\\"exit 2\\"}]}', datetime('now'))"
ona --eval '{"tool":"Bash","input":{"command":"echo hello"}}' > result.json || true
grep -q '"is_error":true' result.json
row=$(sqlite3 "$AGENT_SDLC_DB" "SELECT exit_code FROM hook_invocations
  WHERE hook_event = 'PreToolUse' AND tool_name = 'Bash' ORDER BY id DESC LIMIT 1")
[ "$row" = 2 ] || { echo "exit_code: $row" >&2; exit 1; }
`,
  },
]

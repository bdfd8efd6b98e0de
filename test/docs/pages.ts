/** What each page takes for granted, and the commands that no test runs here, each with the reason. */
import type { PageFacts } from '../support/follow-page.ts'

const examples = 'ln -s "$CHECKOUT/examples" examples'
/** The rehearsal model stands in for the reader's account. */
const account = `mkdir -p ~/.ona; echo '{ "model": "rehearsal" }' > ~/.ona/settings.json`
/** A repository with one conversation on record. */
const project = `git init -q -b main .; echo '# Shop' > README.md; git add .; git commit -qm begin
${account}; ona -p 'read README.md' >/dev/null`
/** Two months of work with two other agents, all of it today. */
const histories = `mkdir -p ~/.claude ~/.codex; cp -r "$CHECKOUT"/test/fixtures/histories/claude/projects ~/.claude
cp -r "$CHECKOUT"/test/fixtures/histories/codex/sessions ~/.codex; find ~/.claude ~/.codex -type f -exec touch {} +`

/** A plan that waits for approval, in a repository that declares the command it is about. */
const planned = `git init -q -b main .
echo '{ "name": "greet", "version": "1.0.0", "bin": { "greet": "greet.mjs" } }' > package.json
git add .; git commit -qm begin; ${account}; ona -p 'call EnterPlanMode {}' >/dev/null
plan='# Greet\\n\\n## Success criteria\\n\\n- \`node greet.mjs Ada\` prints \\"Hello, Ada!\\"'
ona -p --continue "call ExitPlanMode {\\"plan\\": \\"$plan\\"}" >/dev/null`
/** What the rehearsal model understands as the work. */
const implement = `write "console.log('Hello, ' + process.argv[2] + '!')" to greet.mjs`
const signedOff = `${planned}; ona plan approve --as ada; git checkout -qb work
cat > prompt <<'EOF'\n${implement}\nEOF
ona -p --continue "$(cat prompt)" --permission-mode acceptEdits; rm prompt; git add .; git commit -qm greet
id=$(sqlite3 ~/.ona/agent.db 'SELECT id FROM conversations')
ona --transition test --conversation $id; ona --transition verify --conversation $id
ona --transition done --conversation $id --approve --as ada`

const conversation = 'sqlite3 ~/.ona/agent.db "SELECT id FROM conversations ORDER BY rowid LIMIT 1"'

const untilStopped = (test: string) => `runs until it is stopped; ${test} does`
const terminal = 'opens the terminal; test/tui does'
const checkout = 'a script of this repository'
const longRun = 'runs for minutes, in a checkout'
const network = 'needs the network'
const machineWide = 'writes to /etc; test/acceptance and test/roles do it under a folder'

export const facts: Readonly<Record<string, PageFacts>> = {
  'docs/ACCEPTANCE_MATRIX.md': { notRun: { 'npm run build': 'is the end of npm test' } },
  'README.md': {
    given: account,
    notRun: {
      'npm i -g ona': 'needs the registry; scripts/check-package.ts installs the package as it is packed',
      'npm ci': 'installs this repository; CI does',
      'ona demo': 'test/workflow.test.ts does, and compares what is printed',
    },
  },
  'docs/agent.md': { given: account },
  'docs/approvals.md': {
    given: account,
    names: {
      '3f2a91bc': 'ona approvals list --json | sed \'s/.*"id":"\\([0-9a-f]*\\)".*/\\1/\'',
      SESSION: 'sqlite3 ~/.ona/agent.db "SELECT session_id FROM ona_approvals"',
    },
  },
  'docs/architecture.md': { notRun: { 'node scripts/test.ts': checkout } },
  'docs/brains.md': {
    given: `git init -q .; mkdir .claude .opencode
echo '{ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "date" }] }] } }' > .claude/settings.json
sed 's/guardian/mechanic/' "$CHECKOUT/examples/roles/smallest/ona.roles.yaml" > ona.roles.yaml`,
  },
  'docs/ci.md': { notRun: { podman: network } },
  'docs/commands.md': {},
  'docs/credentials.md': { given: `printf 'sk-ant-api03-abcdefghijklmnopqrn123' > key.txt` },
  'docs/database.md': { given: examples },
  'docs/dispatcher.md': { given: 'git init -q .; mkdir .github' },
  'docs/enforce.md': {
    given: 'mkdir payload; ona enforce apply --root payload --rules "$CHECKOUT/examples/policy/policy.yaml"',
    notRun: {
      'sudo ona enforce apply': machineWide,
      'sudo ona enforce remove': machineWide,
      'ona enforce status': 'exits 1 where no policy is applied; test/roles/enforce.test.ts reads it under a folder',
      'ona prove': 'starts other agents; npm run test:prove does',
    },
  },
  'docs/evidence.md': {
    given: `${signedOff}; mkdir ~/elsewhere`,
    numbers: [/[\d,]+ rows in [\d,]+ links/g, /link \d+/g],
    notRun: {
      'ona attest --sigstore': 'needs the network; src/audit/evidence/sigstore.test.ts has servers of its own',
      'ona attest verify attestation.json --identity': 'follows the line above',
    },
  },
  'docs/fleet-sizing.md': {
    notRun: { 'node bench': longRun, 'ONA_CHAOS=full': longRun, 'ONA_FLEET_ROWS=': longRun },
  },
  'docs/fleet.md': {
    notRun: {
      'ona fleet': 'needs PostgreSQL; test/fleet runs every one of them',
      'sudo ona fleet': 'needs PostgreSQL; test/fleet does it under a folder',
      'PGPASSWORD=': 'needs PostgreSQL',
      psql: 'needs PostgreSQL',
      'ona inspect --from': 'needs PostgreSQL; test/fleet/pages.test.ts does',
      'ona hooks replay --from': 'needs PostgreSQL; test/fleet does',
    },
  },
  'docs/headless.md': { given: account },
  'docs/histories.md': {
    given: histories,
    numbers: [
      /\d+ new sessions.*hooks/g,
      /^\s*[\d,]+ (calls|the same|newly denied)$/gm,
      /^(Claude Code|Codex) .* [KM]B/gm,
    ],
  },
  'docs/inspect.md': { notRun: { 'ona inspect': untilStopped('test/inspect') } },
  'docs/mcp.md': {
    notRun: { 'ONA_MCP_TOKEN=': untilStopped('test/mcp.test.ts') },
  },
  'docs/migrate.md': {
    given: `mkdir -p ~/.codex/rules
cat > ~/.codex/config.toml <<'EOF'
approval_policy = "never"
model = "gpt-6-sol"
[mcp_servers.docs]
command = "docs"
[mcp_servers.web]
command = "web"
[[hooks.PreToolUse]]
matcher = "^Bash$"
[[hooks.PreToolUse.hooks]]
type = "command"
command = "true"
EOF
cat > ~/.codex/rules/default.rules <<'EOF'
prefix_rule(pattern = ["git", "push"], decision = "prompt")
prefix_rule(pattern = ["rm", "-rf"], decision = "forbidden")
EOF`,
  },
  'docs/performance.md': { notRun: { 'npm run bench': longRun } },
  'docs/plugins.md': {
    given: examples,
    notRun: {
      'ona plugin marketplace add anthropics': network,
      'ona plugin add code-review': network,
      'ona plugin add https:': network,
    },
  },
  'docs/policies.md': { given: `${histories}; git init -q .; ona audit import --all >/dev/null` },
  'docs/prove.md': { notRun: { 'ona prove': 'starts other agents; npm run test:prove does' } },
  'docs/providers.md': {
    given: account,
    notRun: { 'ona --model opus': 'asks a model of Anthropic' },
  },
  'docs/record.md': {
    given: `${project}; sqlite3 ~/.ona/agent.db "UPDATE conversations SET last_active = '2026-01-01 00:00:00'"`,
    names: { CONVERSATION: conversation, ID: conversation },
  },
  'docs/red-team.md': { notRun: { 'node scripts/test.ts': checkout } },
  'docs/rehearsal.md': {
    given: `${examples}; printf 'steps: [{ prompt: hi }, { say: hello }]' > script.yaml`,
    notRun: {
      'ona rehearse --serve': untilStopped('test/rehearsal.test.ts'),
      'ANTHROPIC_BASE_URL=': 'starts Claude Code; npm run test:live does',
    },
  },
  'docs/replay.md': {
    given: `${examples}; ${account}
ona -p 'run rm -rf build then run rm old.log' --allowed-tools Bash >/dev/null
ona -p 'run touch done' --allowed-tools Bash >/dev/null
mkdir .ona; echo '{}' > .ona/settings.json`,
  },
  'docs/roles.md': {
    given: 'git init -q .; mkdir .claude',
    notRun: { rhachet: 'needs roles of a package; test/roles runs them' },
  },
  'docs/sandbox.md': {
    given: `mkdir private; echo secret > private/x; echo '{ "scripts": { "test": "true" } }' > package.json`,
  },
  'docs/settings.md': { given: 'ona --init-db >/dev/null' },
  'docs/telemetry.md': {
    notRun: { 'OTEL_EXPORTER_OTLP_ENDPOINT=': 'needs a collector; test/audit/otel.test.ts has one' },
  },
  'docs/terminal.md': { given: account },
  'docs/testing.md': {
    notRun: {
      'npm test': checkout,
      'node scripts/test.ts': checkout,
      'ONA_TEST_FULL=1': longRun,
      'npm run test:mutation': longRun,
    },
  },
  'docs/threat-model.md': { notRun: { 'npm run test:faults': longRun } },
  'docs/tools.md': { given: 'printf "1\\n2\\n3\\n4\\n" > README.md' },
  'docs/windows.md': {
    notRun: {
      wsl: 'Windows',
      'npm i -g ona': 'needs the registry; scripts/check-package.ts installs the package as it is packed',
      ona: terminal,
    },
  },
  'docs/workflow.md': {
    given: planned,
    names: {
      ID: conversation,
      'implement the plan': `printf '%s' '${implement.replaceAll('"', '\\"').replaceAll("'", `'\\''`)}'`,
    },
    notRun: {
      'ona demo': 'test/workflow.test.ts does, and compares what is printed',
    },
  },
}

group roles 'Roles as they are published (spec 000)' <<'X'
mkdir -p .git .claude node_modules/rhachet-roles-garage/{briefs,inits} node_modules/.bin
echo '{ "devDependencies": { "rhachet-roles-garage": "1" } }' >package.json
echo '{ "name": "rhachet-roles-garage", "version": "1.0.0", "main": "index.cjs" }' >node_modules/rhachet-roles-garage/package.json
echo 'Keep it clean.' >node_modules/rhachet-roles-garage/briefs/clean.md
printf '#!/bin/sh\ncase "$(cat)" in *forbidden*) echo "not in this garage" >&2; exit 2 ;; esac\n' >node_modules/rhachet-roles-garage/inits/check.sh
chmod +x node_modules/rhachet-roles-garage/inits/check.sh
ln -s "$ROOT/bin/ona.mjs" node_modules/.bin/rhachet
cat >node_modules/rhachet-roles-garage/index.cjs <<'END'
class Role { static build(it) { return Object.assign(new Role(), it) } }
const uri = (path) => ({ uri: __dirname + '/' + path })
const rhachet = './node_modules/.bin/rhachet'
exports.getRoleRegistry = () => ({ slug: 'garage', roles: [Role.build({
  slug: 'mechanic', briefs: { dirs: uri('briefs') }, inits: { dirs: [uri('inits')] }, skills: { dirs: [] },
  hooks: { onBrain: {
    onBoot: [{ command: rhachet + ' roles boot --repo garage --role mechanic', timeout: 'PT9S', filter: { what: 'PostCompact' } }],
    onTool: [{ command: rhachet + ' run --repo garage --role mechanic --init check', timeout: 'PT9S', filter: { what: 'Bash' } }, { command: 'x', timeout: 'soon' }],
    onTalk: [{ command: 'echo hello', timeout: 'PT9S' }],
    onTeleport: [{ command: 'x', timeout: 'PT9S' }],
  } } })] })
END
echo '{}' >.claude/settings.json
X

row ROLES-1 000 'each hook is judged by itself: onTalk and boot filters are written, an unknown event and a bad hook are left out with a message' 'SessionStart of compact, UserPromptSubmit and PreToolUse; exit 1 for the bad hook' <<'X'
said=$(exits 1 ona init --roles mechanic --hooks --trust)
has "$said" 'onTeleport: unknown event; its hooks are left out'; has "$said" '"soon" is not an ISO 8601 duration'
same compact "$(json .hooks.SessionStart.0.matcher <.claude/settings.json)"
has "$(json .hooks.UserPromptSubmit.0 <.claude/settings.json)" 'echo hello'; has "$(json .hooks.PreToolUse <.claude/settings.json)" '--init check'
sed -i "s/, { command: 'x', timeout: 'soon' }//" node_modules/rhachet-roles-garage/index.cjs; ona init --hooks
X

row ROLES-2 000 'rhachet run and rhachet roles boot answer for a linked role; no mistake of ours there exits with 2' 'the exit code of the init; the brief; otherwise 1' <<'X'
has "$(echo '{"command":"forbidden"}' | exits 2 node_modules/.bin/rhachet run --repo garage --role mechanic --init check)" 'not in this garage'
has "$(node_modules/.bin/rhachet roles boot --role mechanic)" 'Keep it clean'
exits 1 node_modules/.bin/rhachet run --init nobody; exits 1 node_modules/.bin/rhachet roles nobody; exits 1 node_modules/.bin/rhachet nobody; exits 1 node_modules/.bin/rhachet init --nobody
node_modules/.bin/rhachet roles boot --role nobody --if-present
X

row ROLES-3 000 'hooks that rhachet wrote (key author) are adopted and not doubled' 'one hook, with our mark' <<'X'
before=$(cat .claude/settings.json)
echo '{"hooks":{"UserPromptSubmit":[{"matcher":"*","hooks":[{"type":"command","command":"echo hello","timeout":9,"author":"repo=garage/role=mechanic"}]}]}}' >.claude/settings.json
ona init --hooks
same 1 "$(grep -c 'echo hello' .claude/settings.json)"; lacks "$(cat .claude/settings.json)" '"author"'
X

row ROLES-4 000 'ona init --check exits 1 on drift, 0 without; from a folder below too' '0, 1, 0' <<'X'
mkdir -p sub; (cd sub && ona init --check)
echo '{}' >.claude/settings.json; exits 1 ona init --check; same '{}' "$(cat .claude/settings.json)"
ona init --hooks; ona init --check
X

row ROLES-5 000 'a source that cannot be read keeps the hooks with exit 1; unlinking removes them' 'three hooks stay; none after --roles -mechanic' <<'X'
cp node_modules/rhachet-roles-garage/index.cjs good.cjs; echo 'throw new Error("flat tyre")' >node_modules/rhachet-roles-garage/index.cjs
said=$(exits 1 ona init --hooks); has "$said" 'flat tyre'; has "$said" '3 hooks of roles that could not be loaded'
has "$(cat .claude/settings.json)" '--init check'
ona init --roles -mechanic --hooks || true
lacks "$(cat .claude/settings.json)" 'garage'
cp good.cjs node_modules/rhachet-roles-garage/index.cjs
X

row ROLES-6 000 'an agent that only the home folder shows is suggested, not written to' '.gemini is not made' <<'X'
mkdir -p ~/.gemini; echo '{}' >~/.gemini/settings.json
has "$(ona init --roles mechanic --hooks)" 'gemini is on this machine.*ona init --hooks gemini'
[ ! -e .gemini ]; has "$(ona hooks brains)" '^gemini +on this machine .*ona init --hooks gemini$'
X

row ROLES-7 000 'a filter that can never match is reported and not written: bash, Bahs, Bash(git *), |, mcp__github' 'five lines, no such matcher' <<'X'
printf 'roles:\n  - slug: typo\n    hooks:\n      onBrain:\n        onTool:\n' >ona.roles.yaml
for what in bash Bahs 'Bash(git *)' '|' mcp__github; do printf '          - { command: "x %s", timeout: PT5S, filter: { what: "%s" } }\n' "$what" "$what" >>ona.roles.yaml; done
same 5 "$(ona init --roles typo --hooks claudecode --dry-run | grep -c 'left out$')"
rm ona.roles.yaml
X

row ROLES-8 000 'a comment or a trailing comma in .claude/settings.json, which Claude Code would not read, is an error' 'exit 1, the file as it was' <<'X'
cp .claude/settings.json good.json
for text in '{ // mine
}' '{ "a": [1,] }'; do printf '%s' "$text" >.claude/settings.json; has "$(exits 1 ona init --hooks)" 'reads strict JSON'; same "$text" "$(cat .claude/settings.json)"; done
cp good.json .claude/settings.json
X

row ROLES-9 000 'a supplier package of the published shape serves its agent; one that throws is named and isolated; hooks brains compares through it' 'the hooks are where the package puts them' <<'X'
mkdir -p .codex node_modules/rhachet-brains-{good,bad}
for name in good bad; do echo "{ \"name\": \"rhachet-brains-$name\", \"version\": \"1.0.0\", \"main\": \"index.cjs\" }" >node_modules/rhachet-brains-$name/package.json; done
echo 'exports.getBrainHooks = () => { throw "boom" }' >node_modules/rhachet-brains-bad/index.cjs
cat >node_modules/rhachet-brains-good/index.cjs <<'END'
const fs = require('fs')
exports.getBrainHooks = ({ brain, repoPath }) => {
  if (brain !== 'codex') return null
  const file = repoPath + '/codex-hooks.json'
  const read = () => (fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : [])
  const write = (hooks) => fs.writeFileSync(file, JSON.stringify(hooks))
  const same = (a, b) => ['author', 'event', 'command'].every((key) => a[key] === b[key])
  const upsert = async ({ hook }) => { write([...read().filter((one) => !same(one, hook)), hook]); return hook }
  return { slug: brain, dao: { get: { one: async ({ by }) => read().find((one) => same(one, by.unique)) ?? null, all: async ({ by = {} } = {}) => read().filter((one) => Object.entries(by).every(([key, value]) => one[key] === value)) }, set: { upsert, findsert: upsert }, del: async ({ by }) => write(read().filter((one) => !same(one, by.unique))) } }
}
END
echo '{ "devDependencies": { "rhachet-roles-garage": "1", "rhachet-brains-good": "1", "rhachet-brains-bad": "1" } }' >package.json
has "$(ona init --hooks 2>&1)" 'rhachet-brains-bad fails when asked for "codex": boom; the package is ignored'
same 3 "$(json .length <codex-hooks.json)"; [ ! -e .codex/hooks.json ]
has "$(ona hooks brains 2>/dev/null || true)" '^codex +found by .codex; 3 installed, 3 as declared$'
X

row ROLES-10 000 'sync is linear: 2,000 hooks that another program put into one group are taken over, and a second sync writes nothing' 'the test passes' <<'X'
unit src/brains/plan.test.ts --test-name-pattern='two thousand'
X

row REGEX-1 5.1 'a matcher, or a pattern of the dispatcher, that could run for ever is rejected with the reason' 'exit 1; the tests pass' <<'X'
has "$(exits 1 ona -p hi --settings '{"hooks":[{"hook_event_name":"PreToolUse","matcher":"^(\\w+)+$","command":"true"}]}')" 'can take exponential time'
unit src/hooks/text/slow-regex.test.ts
unit src/dispatcher/modules/modules.test.ts --test-name-pattern='could run for ever'
X

row EXAM-8 8.5.2 'a case that reads the program past its comments, or asks only for its help, is found out' 'the tests pass' <<'X'
unit src/workflow/cases/prove.test.ts --test-name-pattern='found out'
unit src/workflow/cases/check-case.test.ts --test-name-pattern='help or the version'
X

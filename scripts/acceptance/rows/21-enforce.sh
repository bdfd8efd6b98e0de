group enforce 'Enforce, prove and plugins' <<'X'
printf '%s' '{"permissions":{"deny":["Bash(rm -rf *)","Read(**/.env)"],"ask":["Bash(git push *)"]}}' >policy.json
X

row ENFORCE-1 - 'one policy is compiled for every agent; the plan says native, hook or cannot for each rule' 'codex enforces a prefix natively, VS Code cannot' <<'X'
ona enforce plan --rules policy.json --root root --json >plan.json
same native "$(json .rules.0.hosts.codex.how <plan.json)"
same cannot "$(json .rules.0.hosts.vscode.how <plan.json)"
X

row ENFORCE-2 - 'apply, status and remove under a folder; a changed file is drift' 'exit 1 on drift, nothing left after remove' <<'X'
ona enforce apply --rules policy.json --root root >/dev/null; ona enforce status --root root >/dev/null
echo '{}' >root/etc/claude-code/managed-settings.d/50-ona.json; exits 1 ona enforce status --root root
ona enforce apply --rules policy.json --root root >/dev/null; ona enforce remove --root root >/dev/null
same '' "$(find root -type f)"
X

row ENFORCE-3 - 'byte-exact removal, odd files, the guard and our own rules agree' 'the unit tests of enforce pass' <<'X'
unit src/brains/enforce/enforce.test.ts
X

row ENFORCE-4 - 'status names drift of every kind, files that a user can write to, and settings of VS Code and Cursor; an apply that is killed is recovered' 'the tests of drift and of interrupted applies pass' <<'X'
unit test/roles/enforce-drift.test.ts src/brains/enforce/interrupted.test.ts
X

row ENFORCE-5 - 'a guard that fails in any way refuses, through the script of Claude Code and Codex and through the shim' 'the tests of both pass' <<'X'
unit src/hosts/shim/guard-script.test.ts src/hosts/shim/shim.test.ts
X

row PROVE-1 - 'a policy is seen to hold in an agent that runs; without it the proof fails' 'the test of prove passes' <<'X'
unit test/roles/prove.test.ts
X

row PLUGIN-1 - 'a role becomes an installable plugin of five agents' 'the test of plugins passes' <<'X'
unit test/plugin.test.ts
X

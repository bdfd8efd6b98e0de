group reading 'How the documents are read (spec 003 §0, §1, §9, §16)' <<'X'
ona --init-db
X

row F0-1 0.2 'forbidden: a smaller set of tools, providers or commands than asked for, in silence' 'what is left out stands in docs/FORKS.md with a reason and a test that exists' <<'X'
[ -s "$ROOT/docs/FORKS.md" ]
for path in $(grep -oE '(src|test|scripts|examples)/[A-Za-z0-9_./-]+\.(ts|sh|mjs|yaml)' "$ROOT/docs/FORKS.md" | sort -u); do [ -e "$ROOT/$path" ] || { echo "docs/FORKS.md names $path, which is not there"; exit 1; }; done
X

row F0-2 0.3 'forbidden: a normative path that answers "not implemented", a TODO or a stub that throws' 'no such text in the sources' <<'X'
lacks "$(grep -rnE '(//|/?\*).*\b(TODO|FIXME|XXX|HACK)\b|[Nn]ot (yet )?implemented|[Uu]nimplemented|coming soon' "$ROOT/src" "$ROOT/bin" --include=*.ts --include=*.mjs | grep -v '\.test\.ts:' || true)" .
X

row F0-3 0.3 'forbidden: documentation of what is not wired in the program' 'every command of ona --help answers its own --help with an example' <<'X'
printf '["%s","--help"]\n' demo init 'hooks","list' 'permissions","test' 'plan","list' verify 'mcp","list' 'dispatcher","install' rehearse 'audit","import' 'hooks","replay' inspect login logout status --init-db --eval --transition | commands >said
same '18 18' "$(grep -c '"code":0' said) $(grep -cE '"stdout":"([^"]|\\")*ona ' said)"
X

row F0-4 0.4 'forbidden: "similar to", "best effort" and "eventually" as a promise' 'no such words in docs/' <<'X'
lacks "$(grep -rniE 'best[- ]effort|\beventually\b|similar to (the )?reference' "$ROOT"/docs/*.md | grep -v ACCEPTANCE_MATRIX || true)" .
X

row F0-5 0.5 'DELIVERED is a command: partial credit does not exist' 'an unknown row is a failure with its id on stderr and exit code 1' <<'X'
has "$(exits 1 bash "$ROOT/scripts/sdlc-acceptance.sh" --only no-such-row)" 'FAIL no-such-row'
X

row F0-6 0.6 'forbidden: an operator who must edit the source or follow steps that are not written down' 'every step of docs/OPERATOR_COLD_START.md is one command or action, and edits no source' <<'X'
lacks "$(sed -n '/^[0-9]*\. /p' "$ROOT/docs/OPERATOR_COLD_START.md")" '(src/|dist/|vi |nano |sed -i)'
X

row H-3 0 'transactional SQLite only: no authoritative .jsonl' 'a session with tools and agents leaves no .jsonl anywhere' <<'X'
home; model lm
ona -p $'call Agent {"description":"x","prompt":"say hi","subagent_type":"general-purpose"}' --allowed-tools Agent >/dev/null
same '' "$(find "$HOME" . -name '*.jsonl')"
X

row H-5 0 'operator usability: log in, change the model in the session, use every provider and tool, with no file written by hand' 'the rows of §2 and §7 write settings by flag, command or SQL only' <<'X'
home; model openai
repl '/model o3' 'say x' /exit; [ ! -e ~/.ona/settings.json ]
X

row H-6 0 'CI runs this script on every change, and a failure stops it' '.ci/run calls npm test, which calls this script' <<'X'
has "$(cat "$ROOT/.ci/run")" '^(ONA_TEST_FULL=1 )?npm test'
has "$(json .scripts.test <"$ROOT/package.json")" '&& node scripts/test.ts --acceptance '
has "$(cat "$ROOT/scripts/test.ts")" 'sdlc-acceptance.sh'
X

row 9-1 9 'the implementation root holds schema.sql, docs and scripts; its layout is ours (a fork)' 'the files are there; the fork is in docs/FORKS.md' <<'X'
for path in schema.sql docs scripts src/store src/agent src/auth src/hooks src/permissions src/workflow; do [ -e "$ROOT/$path" ]; done
has "$(cat "$ROOT/docs/FORKS.md")" 'layout'
X

row 9-2 9 'the layers of the tree hold: the hook plane knows no agent' 'src/layers.test.ts passes' <<'X'
unit src/layers.test.ts
X

group checklist 'The acceptance checklist (spec 003 §10) and appendix F' <<'X'
ona --init-db
X

rollup 10.1 10 'single database; the tables of §4.3' 4.1-1 4.3-1 4.3-2
rollup 10.2 10 'no authoritative session .jsonl' H-3
rollup 10.3 10 'no authoritative plan directory scan' 4.6-1
rollup 10.4 10 'hooks sequential; ordinals and skip reasons logged' 5.2-1 5.3-1 5.6-1
rollup 10.5 10 'no valid async:true control path' 5.8-1
rollup 10.6 10 'stdin and stdout match §6, §11 and §12' 6-1 6-2 App.A-1 App.A-2 App.B-1 App.B-2 App.B-3 App.B-4
rollup 10.7 10 '§2 model enums; secrets from the environment only' 2.2-1 2.2-2 2.2-3 2.2-4 2.2-5 F2.8-1
rollup 10.8 10 '§2.7 A1–A7, O1, L1; §2.8 never persists secrets' A1 A2 A3 A4 A5 A6 A7 O1 L1 F2.8-1 F2.8-2 F2.8-3 F2.8-4
rollup 10.9 10 'union order of the events matches appendix A' 3-2
rollup 10.10 10 '§8 phase transitions and the planning gate' 8.2-1 8.2-2 8.2-3 8.3-1
rollup 10.11 10 '§8.5 epistemic isolation' B-isolation 8.5.1-1
rollup 10.12 10 '§8.5.2 observable-only assertions' B-observable
rollup 10.13 10 '§8.5.3 anti-mock' B-anti-mock
rollup 10.14 10 '§8.6.1 plan traceability' B-traceability
rollup 10.15 10 '§8.6.2 coverage gate' B-gate 8.6.2-1
rollup 10.16 10 '§8.7 verify as reporting' B-report 8.7-1
rollup 10.17 10 '§8.2 no bypass of the test phase' B-no-bypass
rollup 10.18 10 'verify-sdlc-hook-order.mjs passes' 3-2
rollup 10.19 10 '§5.11 spawn, newline, UTF-8, environment, 4 MiB cap' 5.11-1 5.11-2 5.11-4 5.11-5 5.11-6 5.11-7
rollup 10.20 10 '§5.12 and appendix E order' 5.12-1 5.12-2 5.12-3 5.12-4 5.12-5 5.12-6 5.12-7 App.E-1
rollup 10.21 10 '§7.1 outcomes and caps' 7.1-1 7.1-2 7.1-3 7.1-4 7.1-5 7.1-7
rollup 10.22 10 '§4.8 transaction groupings and the single writer' 4.8-1 4.8-2 4.8-3 4.8-4 4.8-5
rollup 10.23 10 '§0 no stub on any must; no silent subsetting' F0-1 F0-2 F0-3
rollup 10.24 10 '§2.9 the minimum commands work' C-help C-model C-login C-logout C-status C-config C-settings C-clear C-reset 2.9-2
rollup 10.25 10 '§2.10 every provider end to end' P-claude_code_subscription P-openai_compatible P-lm_studio_local
rollup 10.26 10 '§7.2 every built-in tool and MCP' 7.2-1 T-mcp

row F.1-1 F.1 'docs/ACCEPTANCE_MATRIX.md is what these rows say, covers the list of §F.2, and no cell defers' 'check-acceptance-matrix.ts exits 0' <<'X'
(cd "$ROOT" && node scripts/check-acceptance-matrix.ts)
X

row F.1-2 F.1 'the script ends at the first failure with the id of the row on stderr and a non-zero code' 'its own test, with rows that fail, passes' <<'X'
unit test/acceptance/acceptance.test.ts
X

row F.3-1 F.3 'docs/OPERATOR_COLD_START.md has at most 12 numbered steps' 'between 1 and 12' <<'X'
steps=$(grep -cE '^[0-9]+\. ' "$ROOT/docs/OPERATOR_COLD_START.md")
[ "$steps" -ge 1 ] && [ "$steps" -le 12 ]
X

row F.3-2 F.3 'its commands, run in a fresh clone, end with a model turn in transcript_entries' 'the test of the page passes' <<'X'
unit test/acceptance/cold-start.test.ts
X

row F.4-1 F.4 'no open spec-must: the closed list of what is not done is docs/FORKS.md, and every row there is closed' 'no row says open' <<'X'
lacks "$(cat "$ROOT/docs/FORKS.md")" '(^|\| *)(open|pending|undecided)( *\||$)'
X

rollup 10.27 10 'appendix F artefacts are there and pass' F.1-1 F.1-2 F.3-1 F.3-2 F.4-1 H-6

group package 'The package, faults and hostile repositories' <<'X'
ona --init-db
X

row PKG-1 18 'the published package holds what is needed and nothing else, has free licences and no install script, installs into an empty folder in at most 60 MB and runs there' 'check-package.ts exits 0' <<'X'
(cd "$ROOT" && node scripts/check-package.ts)
X

row PKG-2 18 'the fault campaign, the hostile repositories and the fuzzing of every door are in the tests, with a long form' 'the files are there; npm run test:faults names the long form' <<'X'
for path in test/faults/faults.test.ts test/hostile/hostile.test.ts test/fuzz/program.test.ts scripts/test-faults.ts SECURITY.md docs/threat-model.md; do [ -e "$ROOT/$path" ]; done
has "$(json .scripts <"$ROOT/package.json")" 'test:faults'
X

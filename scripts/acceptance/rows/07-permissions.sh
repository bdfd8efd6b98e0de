group permissions 'Permission rules (spec 003 §5.12, appendix E)' <<'X'
ona --init-db
X

# decided RULES TOOL INPUT: the decision of a call
decided() {
  mkdir -p ~/.ona
  echo "{\"permissions\":$1}" >~/.ona/settings.json
  ona permissions test --json --tool "$2" --input "$3" | json .decision
}

row 5.12-1 5.12 'without permissions, the mode is default, which asks' 'Bash prompts; in -p, where nobody is there, it is denied' <<'X'
home; model lm
ona -p 'call Bash {"command":"touch made"}' >/dev/null
[ ! -e made ]
has "$(result)" '"is_error":true'
X

row 5.12-2 5.12 'a deny match wins over ask and allow' deny <<'X'
same deny "$(decided '{"deny":["Bash(rm *)"],"ask":["Bash"],"allow":["Bash"]}' Bash '{"command":"rm x"}')"
X

row 5.12-3 5.12 'an ask match wins over allow' ask <<'X'
same ask "$(decided '{"ask":["Bash(git push *)"],"allow":["Bash"]}' Bash '{"command":"git push origin"}')"
X

row 5.12-4 5.12 'an allow match allows' allow <<'X'
same allow "$(decided '{"allow":["Bash(ls *)"],"defaultMode":"dontAsk"}' Bash '{"command":"ls -l"}')"
X

row 5.12-5 5.12 'bypassPermissions allows, dontAsk denies, default asks' 'allow deny ask' <<'X'
same 'allow deny ask' "$(for mode in bypassPermissions dontAsk default; do decided "{\"defaultMode\":\"$mode\"}" Bash '{"command":"touch x"}'; done | xargs)"
X


row 5.12-6 5.12 'acceptEdits allows Read, Write and Edit, else asks' 'allow allow allow ask' <<'X'
same 'allow allow allow ask' "$( (decided '{"defaultMode":"acceptEdits"}' Read '{"file_path":"a"}'; decided '{"defaultMode":"acceptEdits"}' Write '{"file_path":"a","content":""}'; decided '{"defaultMode":"acceptEdits"}' Edit '{"file_path":"a","old_string":"x","new_string":"y"}'; decided '{"defaultMode":"acceptEdits"}' Bash '{"command":"touch x"}') | xargs)"
X

row 5.12-7 5.12 'plan denies Write, Edit, Bash and NotebookEdit' 'deny four times; Glob follows default' <<'X'
same 'deny deny deny deny ask' "$( (decided '{"defaultMode":"plan"}' Write '{"file_path":"a","content":""}'; decided '{"defaultMode":"plan"}' Edit '{"file_path":"a","old_string":"x","new_string":"y"}'; decided '{"defaultMode":"plan"}' Bash '{"command":"touch x"}'; decided '{"defaultMode":"plan"}' NotebookEdit '{"notebook_path":"a.ipynb","new_source":""}'; decided '{"defaultMode":"plan"}' WebSearch '{"query":"abc"}') | xargs)"
X

row 5.12-8 5.12 'the rules are judged after the hooks and after the planning gate' 'in planning the gate speaks although a rule allows' <<'X'
home; ona --init-db >/dev/null; conversation c planning; settings '{"permissions":{"allow":["Bash"]}}'
has "$(tool Bash '{"command":"ls"}' --conversation c)" 'shut while the plan is being made'
X

row 5.12-9 5.12 'the rule of an MCP tool is matched by its name' deny <<'X'
same deny "$(decided '{"deny":["mcp__every__*"]}' mcp__every__echo '{"message":"x"}')"
X

row 5.12-10 5.12 'every ask leaves its decision in tool_permission_log' 'a row for a question that nobody answered' <<'X'
home; model lm
ona -p 'call Bash {"command":"touch made"}' >/dev/null
has "$(sql "SELECT tool_name || ' ' || decision FROM tool_permission_log")" '^Bash deny'
X

row App.E-1 15 'an allow rule that cannot be read is left out with a warning and the others hold; a deny rule that cannot be read refuses to start' 'warned, and the other rule denies; exit 1' <<'X'
home; ona --init-db >/dev/null
has "$(ona --eval '{"tool":"Glob","input":{"pattern":"*"}}' 2>&1 || true)" 'No files'
mkdir -p ~/.ona; echo '{"permissions":{"allow":["Bash("],"deny":["Glob"]}}' >~/.ona/settings.json
said=$(ona --eval '{"tool":"Glob","input":{"pattern":"*"}}' 2>&1 || true)
has "$said" 'Bash\('; has "$said" 'deny rule'
echo '{"permissions":{"deny":["Bash(","Glob"]}}' >~/.ona/settings.json
exits 1 ona --eval '{"tool":"Read","input":{"file_path":"x"}}'
X

row App.E-2 15 'forbidden: defaultMode auto' 'refused in settings; by flag it has no effect, and a line says so' <<'X'
exits 1 ona -p hi --settings '{"permissions":{"defaultMode":"auto"}}'
has "$(ona -p hi --model rehearsal --permission-mode auto 2>&1)" 'auto is not supported; the mode is default'
X

row App.E-3 15 'disableBypassPermissionsMode takes bypassPermissions away' 'ask' <<'X'
same ask "$(decided '{"disableBypassPermissionsMode":"disable","defaultMode":"bypassPermissions"}' Bash '{"command":"touch x"}')"
X

row App.E-4 15 'additionalDirectories widen where edits are accepted' 'allow inside, ask outside' <<'X'
mkdir -p ../more
same 'allow ask' "$( (decided "{\"defaultMode\":\"acceptEdits\",\"additionalDirectories\":[\"$PWD/../more\"]}" Write "{\"file_path\":\"$PWD/../more/a\",\"content\":\"\"}"; decided '{"defaultMode":"acceptEdits"}' Write "{\"file_path\":\"$PWD/../more/a\",\"content\":\"\"}") | xargs)"
X

row App.E-5 15 'allowManagedPermissionRulesOnly outside managed settings is left out with a warning' 'warned; the rules hold' <<'X'
home; mkdir -p ~/.ona; echo '{"permissions":{"allowManagedPermissionRulesOnly":true,"deny":["Glob"]}}' >~/.ona/settings.json
said=$(ona --eval '{"tool":"Glob","input":{"pattern":"*"}}' 2>&1 || true)
has "$said" 'allowManagedPermissionRulesOnly'; has "$said" 'deny rule'
X

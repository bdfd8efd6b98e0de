/**
 * Hooks as people write them for Claude Code: one row a pattern, with what must come of it. The rows are run against ona and,
 * where it is installed, against the real Claude Code as the control.
 */
import type { Said } from '../../src/rehearsal/chat.ts'
import { bash, call } from './support.ts'

/** What can be looked at when the program has ended. */
export interface Seen {
  /** A file of the project, trimmed; undefined where there is none. */
  file(name: string): string | undefined
  /** Whether a text was put before the model, in any message. */
  heard(text: string): boolean
  /** How often the model was asked. */
  readonly asked: number
  /** The texts of tool results. */
  readonly results: readonly { readonly text: string; readonly isError: boolean }[]
}

export interface Pattern {
  readonly name: string
  /** The `hooks` key of a settings file. `$DIR` stands for the project's folder, `$CACHE` for that of the packages. */
  readonly hooks: Readonly<Record<string, readonly object[]>>
  readonly files?: Readonly<Record<string, string>>
  /** What the model answers, one after another; then "Done.". */
  readonly lines: readonly Said[]
  /** What a model that is asked by a hook answers. */
  readonly aside?: string
  /** Tools that need no prompt; by default those that the rows use. */
  readonly allow?: readonly string[]
  readonly flags?: readonly string[]
  readonly prompt?: string
  readonly env?: Readonly<Record<string, string>>
  /** Where the hooks are written; by default the user's settings. */
  readonly where?: 'user' | 'project' | 'local' | 'plugin'
  readonly outcome: (seen: Seen) => unknown
  readonly expect: unknown
}

const on = (command: string, matcher?: string, more: object = {}) => ({
  ...(matcher !== undefined && { matcher }),
  hooks: [{ type: 'command', command, ...more }],
})
const say = (answer: object) => `echo '${JSON.stringify(answer)}'`
const specific = (hookEventName: string, fields: object) => say({ hookSpecificOutput: { hookEventName, ...fields } })
const pre = (permissionDecision: string, more: object = {}) =>
  specific('PreToolUse', { permissionDecision, permissionDecisionReason: 'because of the rule', ...more })

const touch = bash('touch ran')
const write = (name: string, content: string): Said => call('Write', { file_path: `$DIR/${name}`, content })
const ran = ({ file }: Seen) => file('ran') !== undefined
const jqGuard = `cmd=$(jq -r '.tool_input.command // ""'); if echo "$cmd" | grep -q "touch ran"; then echo "no touching" >&2; exit 2; fi`
const pythonGuard = `import json, sys
data = json.load(sys.stdin)
if data["tool_name"] == "Bash" and "touch" in data["tool_input"]["command"]:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "python says no"}}))
`
const firstSaid = `jq -rs '[.[] | select(.type == "assistant") | .message.content[]? | select(.type == "text") | .text] | first' "$(jq -r .transcript_path)"`

export const patterns: readonly Pattern[] = [
  {
    name: 'bash and jq: exit 2 denies, stderr reaches the model',
    hooks: { PreToolUse: [on(jqGuard, 'Bash')] },
    lines: [touch],
    outcome: (seen) => [ran(seen), seen.heard('no touching')],
    expect: [false, true],
  },
  {
    name: 'bash and jq: another command passes the guard',
    hooks: { PreToolUse: [on(jqGuard, 'Bash')] },
    lines: [bash('touch other')],
    outcome: ({ file }) => file('other'),
    expect: '',
  },
  {
    name: 'a python script denies with JSON',
    hooks: { PreToolUse: [on('python3 "$CLAUDE_PROJECT_DIR/guard.py"', 'Bash')] },
    files: { 'guard.py': pythonGuard },
    lines: [touch],
    outcome: (seen) => [ran(seen), seen.heard('python says no')],
    expect: [false, true],
  },
  {
    name: 'a node script reads tool_name and tool_input',
    hooks: { PreToolUse: [on('node "$CLAUDE_PROJECT_DIR/guard.mjs"', 'Write')] },
    files: {
      'guard.mjs': `let text = ''
for await (const chunk of process.stdin) text += chunk
const { tool_name, tool_input } = JSON.parse(text)
if (tool_input.file_path.endsWith('.env')) { console.error(tool_name + ' of secrets'); process.exit(2) }
`,
    },
    lines: [write('.env', 'A=1')],
    outcome: ({ file, heard }) => [file('.env'), heard('Write of secrets')],
    expect: [undefined, true],
  },
  {
    name: 'JSON ask: nobody is there, so it does not run',
    hooks: { PreToolUse: [on(pre('ask'), 'Bash')] },
    lines: [touch],
    outcome: ran,
    expect: false,
  },
  {
    name: 'JSON allow: no prompt is needed',
    hooks: { PreToolUse: [on(pre('allow'), 'Bash')] },
    allow: [],
    lines: [touch],
    outcome: ran,
    expect: true,
  },
  {
    name: 'JSON allow does not undo a deny rule',
    hooks: { PreToolUse: [on(pre('allow'), 'Bash')] },
    flags: ['--disallowedTools=Bash(touch *)'],
    lines: [touch],
    outcome: ran,
    expect: false,
  },
  {
    name: 'the older decision "approve"',
    hooks: { PreToolUse: [on(say({ decision: 'approve', reason: 'fine' }), 'Bash')] },
    allow: [],
    lines: [touch],
    outcome: ran,
    expect: true,
  },
  {
    name: 'the older decision "block"',
    hooks: { PreToolUse: [on(say({ decision: 'block', reason: 'an old no' }), 'Bash')] },
    lines: [touch],
    outcome: (seen) => [ran(seen), seen.heard('an old no')],
    expect: [false, true],
  },
  {
    name: 'no opinion leaves the call to the rules',
    hooks: { PreToolUse: [on('exit 0', 'Bash')] },
    allow: [],
    lines: [touch],
    outcome: ran,
    expect: false,
  },
  {
    name: 'updatedInput changes the command',
    hooks: {
      PreToolUse: [on(pre('allow', { updatedInput: { command: 'echo changed > ran', description: 'x' } }), 'Bash')],
    },
    lines: [touch],
    outcome: ({ file }) => file('ran'),
    expect: 'changed',
  },
  {
    name: 'updatedInput by jq changes the content of a file',
    hooks: {
      PreToolUse: [
        on(
          `jq -c '{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "allow", updatedInput: (.tool_input | .content = "header\\n" + .content)}}'`,
          'Write',
        ),
      ],
    },
    lines: [write('a.txt', 'body')],
    outcome: ({ file }) => file('a.txt'),
    expect: 'header\nbody',
  },
  {
    name: 'PreToolUse additionalContext reaches the model',
    hooks: { PreToolUse: [on(specific('PreToolUse', { additionalContext: 'mind the gap' }), 'Bash')] },
    lines: [touch],
    outcome: (seen) => [ran(seen), seen.heard('mind the gap')],
    expect: [true, true],
  },
  {
    name: 'exit 1 does not block',
    hooks: { PreToolUse: [on('echo oops >&2; exit 1', 'Bash')] },
    lines: [touch],
    outcome: ran,
    expect: true,
  },
  {
    name: 'plain text on stdout is no answer',
    hooks: { PreToolUse: [on('echo looks fine', 'Bash')] },
    lines: [touch],
    outcome: ran,
    expect: true,
  },
  {
    name: 'a deny of one hook beats an allow of another',
    hooks: { PreToolUse: [on(pre('allow'), 'Bash'), on(pre('deny'), 'Bash')] },
    lines: [touch],
    outcome: (seen) => [ran(seen), seen.heard('because of the rule')],
    expect: [false, true],
  },
  {
    name: 'matcher: one plain name is exact',
    hooks: { PreToolUse: [on('touch "$CLAUDE_PROJECT_DIR/hooked"', 'Rea')] },
    files: { 'a.txt': 'x' },
    lines: [call('Read', { file_path: '$DIR/a.txt' })],
    outcome: ({ file }) => file('hooked'),
    expect: undefined,
  },
  {
    name: 'matcher: a list of names',
    hooks: { PreToolUse: [on('jq -r .tool_name >> "$CLAUDE_PROJECT_DIR/hooked"', 'Write|Read')] },
    lines: [write('a.txt', 'x'), bash('echo hi')],
    outcome: ({ file }) => file('hooked'),
    expect: 'Write',
  },
  {
    name: 'matcher: a regular expression',
    hooks: { PreToolUse: [on('jq -r .tool_name >> "$CLAUDE_PROJECT_DIR/hooked"', '^(Wri|Ba).*')] },
    lines: [write('a.txt', 'x'), bash('echo hi')],
    outcome: ({ file }) => file('hooked'),
    expect: 'Write\nBash',
  },
  ...['*', '', undefined].map(
    (matcher): Pattern => ({
      name: `matcher: ${matcher === undefined ? 'none' : JSON.stringify(matcher)} matches every tool`,
      hooks: { PreToolUse: [on('jq -r .tool_name >> "$CLAUDE_PROJECT_DIR/hooked"', matcher)] },
      lines: [write('a.txt', 'x'), bash('echo hi')],
      outcome: ({ file }) => file('hooked'),
      expect: 'Write\nBash',
    }),
  ),
  {
    name: 'matcher: mcp__.* and the name of an MCP tool',
    hooks: {
      PreToolUse: [
        on('jq -r .tool_name >> "$CLAUDE_PROJECT_DIR/hooked"', 'mcp__.*'),
        on('jq -r .tool_input.text >> "$CLAUDE_PROJECT_DIR/input"', 'mcp__t__say'),
      ],
    },
    flags: ['--mcp-config=$DIR/mcp.json'],
    lines: [call('mcp__t__say', { text: 'hey' })],
    outcome: ({ file }) => [file('hooked'), file('input')],
    expect: ['mcp__t__say', 'hey'],
  },
  {
    name: 'matcher: Task names the tool that starts a sub-agent',
    hooks: { PreToolUse: [on('echo no agents >&2; exit 2', 'Task')] },
    lines: [call('Agent', { description: 'do it now', prompt: 'say hello', subagent_type: 'general-purpose' })],
    outcome: ({ heard, results }) => [heard('no agents'), results[0]?.isError],
    expect: [true, true],
  },
  {
    name: 'if: only the commands that match',
    hooks: { PreToolUse: [on('echo no push >&2; exit 2', 'Bash', { if: 'Bash(git push *)' })] },
    lines: [touch, bash('git push origin')],
    outcome: (seen) => [ran(seen), seen.heard('no push')],
    expect: [true, true],
  },
  {
    name: 'exec form: command and args, without a shell',
    hooks: { PreToolUse: [on('node', 'Bash', { args: ['${CLAUDE_PROJECT_DIR}/guard.mjs', 'a b'] })] },
    files: { 'guard.mjs': 'console.error("got " + process.argv[2]); process.exit(2)' },
    lines: [touch],
    outcome: (seen) => [ran(seen), seen.heard('got a b')],
    expect: [false, true],
  },
  {
    name: 'a formatter after Write, by tool_response.filePath',
    hooks: { PostToolUse: [on(`f=$(jq -r '.tool_response.filePath'); sed -i 's/a/b/' "$f"`, 'Write|Edit')] },
    lines: [write('a.txt', 'aaa')],
    outcome: ({ file }) => file('a.txt'),
    expect: 'baa',
  },
  {
    name: 'a formatter after Edit, by tool_input.file_path',
    hooks: {
      PostToolUse: [on(`jq -r '.tool_input.file_path' | xargs -I{} sed -i 's/2/3/' {}`, 'Edit|MultiEdit|Write')],
    },
    files: { 'a.txt': 'one\n' },
    lines: [
      call('Read', { file_path: '$DIR/a.txt' }),
      call('Edit', { file_path: '$DIR/a.txt', old_string: 'one', new_string: '2' }),
    ],
    outcome: ({ file }) => file('a.txt'),
    expect: '3',
  },
  {
    name: 'a linter: exit 2 after Write reaches the model',
    hooks: { PostToolUse: [on('echo "lint: missing newline" >&2; exit 2', 'Write')] },
    lines: [write('a.txt', 'x')],
    outcome: ({ file, heard }) => [file('a.txt'), heard('lint: missing newline')],
    expect: ['x', true],
  },
  {
    name: 'PostToolUse decision "block": the reason reaches the model',
    hooks: { PostToolUse: [on(say({ decision: 'block', reason: 'tests fail now' }), 'Write')] },
    lines: [write('a.txt', 'x')],
    outcome: ({ file, heard }) => [file('a.txt'), heard('tests fail now')],
    expect: ['x', true],
  },
  {
    name: 'PostToolUse additionalContext reaches the model',
    hooks: { PostToolUse: [on(specific('PostToolUse', { additionalContext: 'remember the docs' }), 'Write')] },
    lines: [write('a.txt', 'x')],
    outcome: ({ heard }) => heard('remember the docs'),
    expect: true,
  },
  {
    name: 'tool_response of Bash: stdout, interrupted',
    hooks: {
      PostToolUse: [
        on(`jq -r '.tool_response | .stdout, .interrupted, .isImage' > "$CLAUDE_PROJECT_DIR/hooked"`, 'Bash'),
      ],
    },
    lines: [bash('echo hi')],
    outcome: ({ file }) => file('hooked'),
    expect: 'hi\nfalse\nfalse',
  },
  {
    name: 'tool_response of Read: file.content and file.filePath',
    hooks: {
      PostToolUse: [
        on(
          `jq -r '.tool_response | .type, (.file.filePath | split("/") | last), (.file.content | rtrimstr("\\n"))' > "$CLAUDE_PROJECT_DIR/hooked"`,
          'Read',
        ),
      ],
    },
    files: { 'a.txt': 'one\n' },
    lines: [call('Read', { file_path: '$DIR/a.txt' })],
    outcome: ({ file }) => file('hooked'),
    expect: 'text\na.txt\none',
  },
  {
    name: 'tool_response of Edit: oldString, originalFile, structuredPatch',
    hooks: {
      PostToolUse: [
        on(
          `jq -c '.tool_response | [.oldString, .newString, .originalFile, .structuredPatch[0].lines]' > "$CLAUDE_PROJECT_DIR/hooked"`,
          'Edit',
        ),
      ],
    },
    files: { 'a.txt': 'one\n' },
    lines: [
      call('Read', { file_path: '$DIR/a.txt' }),
      call('Edit', { file_path: '$DIR/a.txt', old_string: 'one', new_string: 'two' }),
    ],
    outcome: ({ file }) => file('hooked'),
    expect: '["one","two","one\\n",["-one","+two"]]',
  },
  {
    name: 'tool_response of Write: type, content',
    hooks: {
      PostToolUse: [
        on(`jq -c '.tool_response | [.type, .content, .originalFile]' >> "$CLAUDE_PROJECT_DIR/hooked"`, 'Write'),
      ],
    },
    lines: [write('a.txt', 'x'), write('a.txt', 'y')],
    outcome: ({ file }) => file('hooked'),
    expect: '["create","x",null]\n["update","y","x"]',
  },
  {
    name: 'tool_response of an MCP tool: its content blocks',
    hooks: { PostToolUse: [on(`jq -c .tool_response > "$CLAUDE_PROJECT_DIR/hooked"`, 'mcp__t__say')] },
    flags: ['--mcp-config=$DIR/mcp.json'],
    lines: [call('mcp__t__say', { text: 'hey' })],
    outcome: ({ file }) => file('hooked'),
    expect: '[{"type":"text","text":"said hey"}]',
  },
  {
    name: 'updatedToolOutput replaces the output of Bash',
    hooks: {
      PostToolUse: [
        on(
          specific('PostToolUse', {
            updatedToolOutput: { stdout: 'censored', stderr: '', interrupted: false, isImage: false },
          }),
          'Bash',
        ),
      ],
    },
    lines: [bash('echo the-secret-word')],
    outcome: ({ results }) => [results[0]?.text.includes('censored'), results[0]?.text.includes('the-secret-word')],
    expect: [true, false],
  },
  {
    name: 'updatedMCPToolOutput replaces the output of an MCP tool',
    hooks: { PostToolUse: [on(specific('PostToolUse', { updatedMCPToolOutput: 'censored' }), 'mcp__.*')] },
    flags: ['--mcp-config=$DIR/mcp.json'],
    lines: [call('mcp__t__say', { text: 'the-secret-word' })],
    outcome: ({ results }) => [results[0]?.text.includes('censored'), results[0]?.text.includes('the-secret-word')],
    expect: [true, false],
  },
  {
    name: 'PostToolUseFailure reads the error of a command',
    hooks: {
      PostToolUseFailure: [
        on(`jq -r '.tool_name, (.error | split("\\n") | .[0]), .is_interrupt' > "$CLAUDE_PROJECT_DIR/hooked"`, 'Bash'),
      ],
    },
    lines: [bash('exit 3')],
    outcome: ({ file }) => file('hooked'),
    expect: 'Bash\nExit code 3\nfalse',
  },
  {
    name: 'PostToolUse is not raised for a command that failed',
    hooks: { PostToolUse: [on('touch "$CLAUDE_PROJECT_DIR/hooked"', 'Bash')] },
    lines: [bash('exit 3')],
    outcome: ({ file }) => file('hooked'),
    expect: undefined,
  },
  {
    name: 'UserPromptSubmit: plain text becomes context',
    hooks: { UserPromptSubmit: [on('echo "the branch is main"')] },
    lines: [],
    outcome: ({ heard }) => heard('the branch is main'),
    expect: true,
  },
  {
    name: 'UserPromptSubmit: additionalContext',
    hooks: { UserPromptSubmit: [on(specific('UserPromptSubmit', { additionalContext: 'today is Friday' }))] },
    lines: [],
    outcome: ({ heard }) => heard('today is Friday'),
    expect: true,
  },
  {
    name: 'UserPromptSubmit: exit 2 keeps the prompt from the model',
    hooks: { UserPromptSubmit: [on('jq -r .prompt > "$CLAUDE_PROJECT_DIR/hooked"; echo blocked >&2; exit 2')] },
    lines: [],
    outcome: ({ file, asked }) => [file('hooked'), asked],
    expect: ['go please', 0],
  },
  {
    name: 'UserPromptSubmit: decision "block"',
    hooks: { UserPromptSubmit: [on(say({ decision: 'block', reason: 'not today' }))] },
    lines: [],
    outcome: ({ asked }) => asked,
    expect: 0,
  },
  {
    name: 'UserPromptSubmit is not raised for a sub-agent',
    hooks: { UserPromptSubmit: [on('jq -r .prompt | head -1 >> "$CLAUDE_PROJECT_DIR/hooked"')] },
    lines: [
      call('Agent', {
        description: 'do it now',
        prompt: 'say hello',
        subagent_type: 'general-purpose',
        run_in_background: false,
      }),
    ],
    outcome: ({ file }) => file('hooked')?.includes('say hello'),
    expect: false,
  },
  {
    name: 'SessionStart: plain text becomes context',
    hooks: { SessionStart: [on('echo "recent commits: none"')] },
    lines: [],
    outcome: ({ heard }) => heard('recent commits: none'),
    expect: true,
  },
  {
    name: 'SessionStart: additionalContext, by source',
    hooks: {
      SessionStart: [
        on(specific('SessionStart', { additionalContext: 'a fresh start' }), 'startup'),
        on(specific('SessionStart', { additionalContext: 'an old story' }), 'resume'),
      ],
    },
    lines: [],
    outcome: ({ heard }) => [heard('a fresh start'), heard('an old story')],
    expect: [true, false],
  },
  {
    name: 'CLAUDE_ENV_FILE: later Bash commands have the variables',
    hooks: {
      SessionStart: [
        on(
          `echo 'export FROM_HOOK="a b"' >> "$CLAUDE_ENV_FILE"; echo 'export PATH="$PATH:/opt/x"' >> "$CLAUDE_ENV_FILE"`,
        ),
      ],
    },
    lines: [bash('echo "$FROM_HOOK" > ran; echo "$PATH" | grep -c /opt/x >> ran')],
    outcome: ({ file }) => file('ran'),
    expect: 'a b\n1',
  },
  {
    name: 'the environment: CLAUDECODE, CLAUDE_PROJECT_DIR, the working directory',
    hooks: {
      PreToolUse: [
        on('[ "$PWD" = "$CLAUDE_PROJECT_DIR" ] && echo "$CLAUDECODE" > "$CLAUDE_PROJECT_DIR/hooked"', 'Bash'),
      ],
    },
    lines: [bash('echo hi')],
    outcome: ({ file }) => file('hooked'),
    expect: '1',
  },
  {
    name: 'the header: session_id names the transcript, hook_event_name, cwd, permission_mode',
    hooks: {
      PreToolUse: [
        on(
          `jq -r '[(.transcript_path | endswith(.session_id + ".jsonl")?) // (.session_id as $id | .transcript_path | endswith($id + ".jsonl")), .hook_event_name, .permission_mode, (.tool_use_id | type)] | @csv' > "$CLAUDE_PROJECT_DIR/hooked"`,
          'Bash',
        ),
      ],
    },
    lines: [bash('echo hi')],
    outcome: ({ file }) => file('hooked'),
    expect: 'true,"PreToolUse","default","string"',
  },
  {
    name: 'Stop blocks once, by stop_hook_active',
    hooks: {
      Stop: [
        on(`[ "$(jq -r .stop_hook_active)" = true ] || echo '{"decision":"block","reason":"run the tests first"}'`),
      ],
    },
    lines: [],
    outcome: ({ asked, heard }) => [asked, heard('run the tests first')],
    expect: [2, true],
  },
  {
    name: 'Stop: exit 2, stderr reaches the model',
    hooks: {
      Stop: [
        on(
          'if [ -e "$CLAUDE_PROJECT_DIR/once" ]; then exit 0; fi; touch "$CLAUDE_PROJECT_DIR/once"; echo "not done yet" >&2; exit 2',
        ),
      ],
    },
    lines: [],
    outcome: ({ asked, heard }) => [asked, heard('not done yet')],
    expect: [2, true],
  },
  {
    name: 'Stop reads last_assistant_message',
    hooks: { Stop: [on(`jq -r .last_assistant_message > "$CLAUDE_PROJECT_DIR/hooked"`)] },
    lines: [{ text: 'All is well.' }],
    outcome: ({ file }) => file('hooked'),
    expect: 'All is well.',
  },
  {
    name: 'Stop reads what the assistant said before its last words in the transcript',
    hooks: { Stop: [on(`${firstSaid} > "$CLAUDE_PROJECT_DIR/hooked"`)] },
    lines: [{ text: 'On my way.', ...touch }, { text: 'All is well.' }],
    outcome: ({ file }) => file('hooked'),
    expect: 'On my way.',
  },
  {
    name: 'PreToolUse reads the user’s prompt in the transcript',
    hooks: {
      PreToolUse: [
        on(
          `jq -rs '[.[] | select(.type == "user" and (.message.content | type) == "string") | .message.content] | first' "$(jq -r .transcript_path)" > "$CLAUDE_PROJECT_DIR/hooked"`,
          'Bash',
        ),
      ],
    },
    lines: [bash('echo hi')],
    outcome: ({ file }) => file('hooked'),
    expect: 'go please',
  },
  {
    name: 'Stop finds the tools that were used in the transcript',
    hooks: {
      Stop: [
        on(
          `jq -rs '[.[] | select(.type == "assistant") | .message.content[] | select(.type == "tool_use") | .name] | join(",")' "$(jq -r .transcript_path)" > "$CLAUDE_PROJECT_DIR/hooked"`,
        ),
      ],
    },
    lines: [bash('echo hi'), write('a.txt', 'x')],
    outcome: ({ file }) => file('hooked'),
    expect: 'Bash,Write',
  },
  {
    name: 'Stop finds the results of tools in the transcript',
    hooks: {
      Stop: [
        on(
          `jq -rs '[.[] | select(.type == "user") | .message.content | select(type == "array") | .[] | select(.type == "tool_result") | .is_error // false] | map(tostring) | join(",")' "$(jq -r .transcript_path)" > "$CLAUDE_PROJECT_DIR/hooked"`,
        ),
      ],
    },
    lines: [bash('echo hi'), bash('exit 3')],
    outcome: ({ file }) => file('hooked'),
    expect: 'false,true',
  },
  {
    name: 'SubagentStop reads the transcript of the sub-agent',
    hooks: {
      SubagentStop: [
        on(
          `jq -rs '[.[] | select(.type == "assistant") | .message.content[]? | select(.type == "text") | .text] | last' "$(jq -r .agent_transcript_path)" > "$CLAUDE_PROJECT_DIR/hooked"`,
        ),
      ],
    },
    lines: [
      call('Agent', {
        description: 'do it now',
        prompt: 'say hello',
        subagent_type: 'general-purpose',
        run_in_background: false,
      }),
      { text: 'Hello from the sub-agent.' },
    ],
    outcome: ({ file }) => file('hooked'),
    expect: 'Hello from the sub-agent.',
  },
  {
    name: 'continue: false ends the turn after a tool',
    hooks: { PostToolUse: [on(say({ continue: false, stopReason: 'that is enough' }), 'Bash')] },
    lines: [touch, bash('touch second')],
    outcome: (seen) => [ran(seen), seen.file('second'), seen.asked],
    expect: [true, undefined, 1],
  },
  {
    name: 'continue: false before a tool ends the turn',
    hooks: { PreToolUse: [on(say({ continue: false, stopReason: 'that is enough' }), 'Bash')] },
    lines: [touch, bash('touch second')],
    outcome: ({ file, asked }) => [file('second'), asked],
    expect: [undefined, 1],
  },
  {
    name: 'PermissionRequest: allow',
    hooks: { PermissionRequest: [on(specific('PermissionRequest', { decision: { behavior: 'allow' } }), 'Bash')] },
    allow: [],
    lines: [touch],
    outcome: ran,
    expect: true,
  },
  {
    name: 'PermissionRequest: deny, with a message for the model',
    hooks: {
      PermissionRequest: [
        on(specific('PermissionRequest', { decision: { behavior: 'deny', message: 'ask Ada' } }), 'Bash'),
      ],
    },
    allow: [],
    lines: [touch],
    outcome: (seen) => [ran(seen), seen.heard('ask Ada')],
    expect: [false, true],
  },
  {
    name: 'SessionEnd runs with its reason',
    hooks: { SessionEnd: [on(`jq -r .reason > "$CLAUDE_PROJECT_DIR/hooked"`)] },
    lines: [],
    outcome: ({ file }) => file('hooked'),
    expect: 'other',
  },
  {
    name: 'async: the call does not wait for the hook',
    hooks: { PreToolUse: [on('sleep 0.2; echo "too late" >&2; exit 2', 'Bash', { async: true })] },
    lines: [touch],
    outcome: ran,
    expect: true,
  },
  {
    name: 'a prompt hook denies',
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'prompt', prompt: 'Is this safe? $ARGUMENTS' }] }] },
    aside: '{"ok": false, "reason": "the judge says no"}',
    lines: [touch],
    outcome: ran,
    expect: false,
  },
  {
    name: 'hooks in the project’s settings',
    hooks: { PreToolUse: [on('"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh', 'Bash')] },
    files: { '.claude/hooks/guard.sh': '#!/bin/bash\necho "project rule" >&2\nexit 2\n' },
    where: 'project',
    lines: [touch],
    outcome: (seen) => [ran(seen), seen.heard('project rule')],
    expect: [false, true],
  },
  {
    name: 'hooks in the project’s local settings',
    hooks: { PreToolUse: [on('echo "local rule" >&2; exit 2', 'Bash')] },
    where: 'local',
    lines: [touch],
    outcome: (seen) => [ran(seen), seen.heard('local rule')],
    expect: [false, true],
  },
  {
    name: 'a plugin’s hooks, by CLAUDE_PLUGIN_ROOT',
    hooks: { PreToolUse: [on('${CLAUDE_PLUGIN_ROOT}/scripts/guard.sh', 'Bash')] },
    files: { 'plugin/scripts/guard.sh': '#!/bin/bash\necho "rule of $(basename "$CLAUDE_PLUGIN_ROOT")" >&2\nexit 2\n' },
    where: 'plugin',
    flags: ['--plugin-dir=$DIR/plugin'],
    lines: [touch],
    outcome: (seen) => [ran(seen), seen.heard('rule of plugin')],
    expect: [false, true],
  },
]

/** Published hook packages, as their own instructions install them into Claude Code. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Pattern } from './hook-patterns.ts'
import { testPattern } from './run-pattern.ts'
import { bash, cache, call } from './support.ts'

const safetyNet = 'node $CACHE/node_modules/cc-safety-net/dist/bin/cc-safety-net.js hook --claude-code'
const tddGuard = 'node $CACHE/node_modules/tdd-guard/dist/cli/tdd-guard.js'
const command = (text: string) => [{ type: 'command', command: text }]
const ofTddGuard = {
  PreToolUse: [{ matcher: 'Write|Edit|MultiEdit|TodoWrite', hooks: command(tddGuard) }],
  UserPromptSubmit: [{ hooks: command(tddGuard) }],
  SessionStart: [{ matcher: 'startup|resume|clear', hooks: command(tddGuard) }],
}
/** The judge of tdd-guard is a model: here the scripted one. */
const judged = { VALIDATION_CLIENT: 'api', TDD_GUARD_ANTHROPIC_API_KEY: 'test-key-1234' }
const implementation = call('Write', { file_path: '$DIR/src/add.ts', content: 'export const add = () => 3\n' })

const rows: readonly (Pattern & { readonly needs: string })[] = [
  {
    needs: 'cc-safety-net',
    name: 'cc-safety-net blocks git reset --hard',
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: command(safetyNet) }] },
    lines: [bash('git init -q . && touch ran && git reset --hard')],
    outcome: ({ file, heard }) => [file('ran'), heard('git reset --hard destroys')],
    expect: [undefined, true],
  },
  {
    needs: 'cc-safety-net',
    name: 'cc-safety-net blocks a deletion inside bash -c',
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: command(safetyNet) }] },
    lines: [bash("bash -c 'touch ran; git checkout -- .'")],
    outcome: ({ file, heard }) => [file('ran'), heard('BLOCKED by CC Safety Net')],
    expect: [undefined, true],
  },
  {
    needs: 'cc-safety-net',
    name: 'cc-safety-net lets harmless commands pass',
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: command(safetyNet) }] },
    lines: [bash('touch ran')],
    outcome: ({ file }) => file('ran'),
    expect: '',
  },
  {
    needs: 'tdd-guard',
    name: 'tdd-guard blocks an implementation without a test',
    hooks: ofTddGuard,
    env: judged,
    aside: '{"decision": "block", "reason": "Premature implementation: write a failing test first"}',
    lines: [implementation],
    outcome: ({ file, heard }) => [file('src/add.ts'), heard('Premature implementation')],
    expect: [undefined, true],
  },
  {
    needs: 'tdd-guard',
    name: 'tdd-guard lets a write pass that its judge accepts',
    hooks: ofTddGuard,
    env: judged,
    aside: '{"decision": null, "reason": ""}',
    lines: [implementation],
    outcome: ({ file }) => file('src/add.ts'),
    expect: 'export const add = () => 3',
  },
  {
    needs: 'tdd-guard',
    name: 'tdd-guard keeps its state between hooks: the prompt "tdd-guard off" is taken by the hook',
    hooks: ofTddGuard,
    env: judged,
    prompt: 'tdd-guard off',
    lines: [],
    outcome: ({ file, asked }) => [
      /"guardEnabled": ?false/.test(file('.claude/tdd-guard/data/config.json') ?? ''),
      asked,
    ],
    expect: [true, 0],
  },
  {
    needs: '@mizunashi_mana/claude-code-hook-sdk',
    name: 'a guard written with claude-code-hook-sdk',
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: command('node "$CLAUDE_PROJECT_DIR/hook.mjs"') }] },
    files: {
      'hook.mjs': `import { runHook } from '$CACHE/node_modules/@mizunashi_mana/claude-code-hook-sdk/dist/src/index.js'
void runHook({
  preToolUseHandler: async (input) => ({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: input.tool_input.command.includes('touch') ? 'deny' : 'allow',
      permissionDecisionReason: 'the sdk says no',
    },
  }),
})
`,
    },
    lines: [bash('touch ran')],
    outcome: ({ file, heard }) => [file('ran'), heard('the sdk says no')],
    expect: [undefined, true],
  },
]

for (const { needs, ...row } of rows)
  testPattern(row, existsSync(join(cache, 'node_modules', needs)) ? false : `${needs} is not in the registry`)

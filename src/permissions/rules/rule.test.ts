import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Behavior, readRule, ruleText } from './rule.ts'
import { matchesRule } from './rule-applies.ts'
import { rulesOf } from './rules.ts'

const why = (rule: unknown, behavior: Behavior = 'allow'): string => {
  const reading = readRule(rule, behavior)
  return reading.ok ? (reading.warning ?? 'good') : reading.why
}

test('rules that can be read', () => {
  const good = [
    ...[
      'Bash',
      'Bash(*)',
      'Bash(npm run:*)',
      'Bash(npm run *)',
      'Bash(a (b) c)',
      'Bash(echo \\(\\))',
      'Read(*)',
      'Read(.env)',
    ],
    ...[
      'Edit(/src/**)',
      'WebFetch(domain:example.com)',
      'WebFetch(domain:*.x.com)',
      'WebSearch(claude ai)',
      'Agent(Explore)',
    ],
    ...[
      'Task(Explore)',
      'Skill(*)',
      'Skill(a *)',
      'mcp__srv',
      'mcp__srv__*',
      'mcp__srv__get_*',
      'mcp__my-srv__x',
      'my_tool',
    ],
  ]
  for (const rule of good) assert.equal(why(rule), 'good', rule)
  for (const rule of ['*', 'mcp__*', 'B*', 'Grep(path:x)']) assert.equal(why(rule, 'deny'), 'good', rule)
})

test('rules that cannot be read say why', () => {
  const bad: [unknown, RegExp, Behavior?][] = [
    ['', /empty/],
    ['  ', /empty/],
    [7, /string/],
    [null, /string/],
    ['Bash()', /Empty parentheses. Either specify a pattern or use just "Bash" without parentheses./],
    ['Edit( )', /Empty parentheses/],
    ['WebFetch(domain:x', /"\(" without/],
    ['Bash)', /"\)" without/],
    ['Bash(rm -rf /)*', /must end at the closing/],
    ['Bash(x\\)', /must end at the closing/],
    ['Read[x]', /not a tool name/],
    ['Bash without parentheses', /not a tool name/],
    ['bash(ls)', /Tool names must start with uppercase. Use "Bash"/],
    ['git', /Tool names must start with uppercase/],
    ['mcp__srv__tool(x)', /no parentheses/],
    ['mcp__', /Name the server/],
    ['mcp__*', /Wildcard tool name "mcp__\*" is not supported in allow rules/],
    ['*', /Wildcard tool name/],
    ['B*', /Wildcard tool name/],
    ['Bash(npm:* run)', /The :\* pattern must be at the end/],
    ['Bash(:*)', /Prefix cannot be empty before :\*/],
    ['Read(src:*)', /only for Bash prefix rules/],
    ['Edit(file_path:**/x)', /only for Bash prefix rules/],
    ['Read(!x)', /negated/],
    ['WebFetch(https://x/y)', /WebFetch permissions use domain format, not URLs/],
    ['WebFetch(foo)', /domain/],
    ['WebFetch(domain:)', /host name/],
    ['WebSearch(a*)', /does not support wildcards/],
    ['WebSearch(.*)', /does not support wildcards/],
    ['Bash(command:rm *)', /the command itself/, 'deny'],
    ['TodoWrite(x)', /takes no pattern/, 'deny'],
    ['Grep(path:x)', /deny and ask rules only/],
  ]
  for (const [rule, reason, behavior] of bad) assert.match(why(rule, behavior), reason, String(rule))
})

test('a path rule that could never match is refused, not kept', () => {
  for (const text of ['Read(~root/.ssh/**)', 'Edit($HOME/x)', 'Read(${HOME}/.ssh/**)']) {
    const read = readRule(text, 'deny')
    assert.match(read.ok ? '' : read.why, /is not filled in; write ~\/ or a whole path, as in \/\/home\/ada\/x/)
  }
  assert.equal(readRule('Read(~/.ssh/**)', 'deny').ok, true)
  assert.equal(readRule('Read(src/$id.ts)', 'deny').ok, true)
})

test('rules that are never consulted or name no tool are kept with a warning', () => {
  assert.match(why('Write(docs/**)'), /not matched by file permission checks; use Edit\(docs/)
  assert.match(why('NotebookEdit(p)'), /use Edit/)
  assert.match(why('Glob(p)'), /use Read/)
  assert.match(why('InvalidTool', 'deny'), /no tool named InvalidTool/)
})

test('a bad rule is dropped, quoted and explained; the others stay', () => {
  const { allow, deny, warnings } = rulesOf({ allow: ['Bash(ls)', 'Bash()'], deny: ['rm'], defaultMode: 'plan' })
  assert.deepEqual([allow.map((rule) => rule.text), deny], [['Bash(ls)'], []])
  assert.deepEqual(warnings, [
    'Invalid permission rule "rm" in deny was skipped: Tool names must start with uppercase. Use "Rm"',
    'Invalid permission rule "Bash()" in allow was skipped: Empty parentheses. Either specify a pattern or use just "Bash" without parentheses.',
  ])
})

test('rules are read once a settings object', () => {
  const settings = { allow: ['Bash'] }
  assert.equal(rulesOf(settings), rulesOf(settings))
})

test('no text makes the reader throw, and what a rule value says is what its text says', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'Bash(*):\\ a!/[]-~') })), (text) => {
      for (const behavior of ['allow', 'deny', 'ask'] as const) readRule(text, behavior)
    }),
  )
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (content) => {
      const reading = readRule(ruleText({ toolName: 'Agent', ruleContent: content }), 'deny')
      if (content.trim() === '' || content === '*') return
      assert.deepEqual(reading.ok && reading.rule.specifier, { kind: 'name', patterns: [content] })
    }),
  )
})

test("a hook's condition on files sees what a command line would read or write, and applies where it cannot tell", async () => {
  const question = (command: string) =>
    ({ ...asked, tool: 'Bash', input: { command } }) as Parameters<typeof matchesRule>[1]
  const found: Record<string, boolean> = {}
  const lines = [
    'echo x > src/a.ts',
    'cp /tmp/x src/a.ts',
    'sed -i s/a/b/ src/a.ts',
    'cd src && tee a.ts',
    'cat src/a.ts',
    'echo x > docs/a.md',
    'tee "$WHERE"',
  ]
  for (const line of lines) found[line] = await matchesRule('Edit(src/**)', question(line))
  assert.deepEqual(found, {
    'echo x > src/a.ts': true,
    'cp /tmp/x src/a.ts': true,
    'sed -i s/a/b/ src/a.ts': true,
    'cd src && tee a.ts': true,
    'cat src/a.ts': false,
    'echo x > docs/a.md': false,
    'tee "$WHERE"': true,
  })
  assert.equal(await matchesRule('Read(src/**)', question('cat src/a.ts')), true)
  assert.equal(await matchesRule('Edit(', question('ls')), true)
  // doubts that no rule has: the line runs its own file, or opens a connection
  for (const line of ['echo x > a.sh; sh a.sh', 'cat < /dev/tcp/127.0.0.1/1'])
    assert.equal(await matchesRule('Bash(npm publish)', question(line)), false, line)
})

const asked = { settings: {}, mode: 'default', hook: 'none', cwd: '/p', projectDir: '/p', home: '/home/u' } as const

test('every built-in tool is known by its name, and every older name is taken for ours', () => {
  const tools =
    'Read Write Edit NotebookEdit Bash Glob Grep WebFetch WebSearch AskUserQuestion TodoWrite TaskOutput Agent Skill EnterPlanMode ExitPlanMode ListMcpResources ReadMcpResource ToolSearch Brief TaskStop'
  for (const tool of tools.split(' '))
    assert.deepEqual(readRule(tool, 'deny'), { ok: true, rule: { text: tool, tool, specifier: { kind: 'any' } } })
  const older = {
    ...{ Task: 'Agent', MultiEdit: 'Edit', LS: 'Glob', KillShell: 'TaskStop', KillBash: 'TaskStop' },
    ...{ BashOutput: 'TaskOutput', ListMcpResourcesTool: 'ListMcpResources', ReadMcpResourceTool: 'ReadMcpResource' },
    SendUserMessage: 'Brief',
  }
  for (const [text, tool] of Object.entries(older))
    assert.deepEqual(readRule(text, 'allow'), { ok: true, rule: { text, tool, specifier: { kind: 'any' } } })
  assert.deepEqual(readRule('Lunch', 'deny'), {
    ...{ ok: true, rule: { text: 'Lunch', tool: 'Lunch', specifier: { kind: 'any' } } },
    warning: 'there is no tool named Lunch',
  })
})

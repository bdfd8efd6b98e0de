/** What a rule as written means: its tool, its patterns, and what is said of one that cannot be used. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Behavior, plainHost, readRule, ruleProblem, ruleText } from './rule.ts'

/** `TOOL KIND …`, or why not. */
function told(text: unknown, behavior: Behavior): string {
  const reading = readRule(text, behavior)
  if (!reading.ok) return `no: ${reading.why}`
  const { tool, specifier } = reading.rule
  const { kind, ...rest } = specifier
  const shown = 'pattern' in rest && typeof rest.pattern === 'object' ? { anchor: rest.pattern.anchor } : rest
  const more = Object.keys(shown).length > 0 ? ` ${JSON.stringify(shown)}` : ''
  assert.equal(reading.rule.text, text)
  return `${tool} ${kind}${more}${reading.warning === undefined ? '' : ` (${reading.warning})`}`
}

const hold = (behavior: Behavior, rows: readonly (readonly [rule: unknown, is: string])[]) =>
  assert.deepEqual(
    rows.map(([rule]) => [rule, told(rule, behavior)]),
    rows,
  )

const ends = 'no: Rules take the form Tool or Tool(content) and must end at the closing ")".'
const onlyBash =
  'no: The ":*" syntax is only for Bash prefix rules. Use glob patterns like "*" or "**" for file matching. Examples: Read(src/**), Edit(docs/*.md)'
const atTheEnd =
  'no: The :* pattern must be at the end. Move :* to the end for prefix matching, or use * for wildcard matching. Examples: Bash(npm run:*), Bash(npm run *)'
const noUrls =
  'no: WebFetch permissions use domain format, not URLs. Use "domain:hostname" format. Examples: WebFetch(domain:example.com), WebFetch(domain:github.com)'

test('allow rules', () => {
  hold('allow', [
    [7, 'no: A rule is a string such as "Bash(npm test *)".'],
    [' ', 'no: The rule is empty.'],
    ['Bash', 'Bash any'],
    ['Bash(*)', 'Bash any'],
    ['Read(*)', 'Read any'],
    ['Bash)', 'no: There is a ")" without its "(".'],
    ['Bash(a', 'no: There is a "(" without its ")".'],
    ['Bash(a)b', ends],
    ['Bash(a\\)', ends],
    ['Bash(a\\\\)', 'Bash command {"patterns":["a\\\\"],"exact":true}'],
    ['Bash(a\\(b\\))', 'Bash command {"patterns":["a(b)"],"exact":true}'],
    ['Bash( )', 'no: Empty parentheses. Either specify a pattern or use just "Bash" without parentheses.'],
    ['Bash(npm test)', 'Bash command {"patterns":["npm test"],"exact":true}'],
    ['Bash( npm  test )', 'Bash command {"patterns":["npm  test"],"exact":true}'],
    ['Bash(npm test:*)', 'Bash command {"patterns":["npm test","npm test *"],"exact":false}'],
    ['Bash(npm test *)', 'Bash command {"patterns":["npm test","npm test *"],"exact":false}'],
    ['Bash(npm * test *)', 'Bash command {"patterns":["npm * test *"],"exact":false}'],
    ['Bash(npm*)', 'Bash command {"patterns":["npm*"],"exact":false}'],
    ['Bash(:*)', 'no: Prefix cannot be empty before :*. Specify a command prefix before :*'],
    ['Bash(a:* b)', atTheEnd],
    ['Bash(a:* b:*)', atTheEnd],
    ['Bash( * )', 'Bash command {"patterns":["*"],"exact":false}'],
    ['Bash(a\\\\b)', 'Bash command {"patterns":["a\\\\b"],"exact":true}'],
    ['Bash(command: rm)', 'no: Bash rules hold the command itself, as in Bash(rm *).'],
    ['Bash(xcommand:rm)', 'Bash command {"patterns":["xcommand:rm"],"exact":true}'],
    ['Bash(builtin:read-only)', 'Bash builtin'],
    ['Read(builtin:working-directories)', 'Read builtin'],
    ['Read(builtin:other)', 'Read path {"anchor":"cwd"}'],
    ['Read(//etc/**)', 'Read path {"anchor":"root"}'],
    ['Read(~/x)', 'Read path {"anchor":"home"}'],
    ['Edit(/src)', 'Edit path {"anchor":"project"}'],
    ['Edit(./src)', 'Edit path {"anchor":"cwd"}'],
    ['MultiEdit(src)', 'Edit path {"anchor":"cwd"}'],
    ['Read(a:*)', onlyBash],
    ['Read(a:*/b)', onlyBash],
    ['Read(file_path:a)', onlyBash],
    ['Read(xfile_path:a)', 'Read path {"anchor":"cwd"}'],
    ['Read(~ada/x)', 'no: "~ada" is not filled in; write ~/ or a whole path, as in //home/ada/x.'],
    ['Read($HOME/x)', 'no: "$HOME" is not filled in; write ~/ or a whole path, as in //home/ada/x.'],
    ['Read(${X}/x)', 'no: "${X}" is not filled in; write ~/ or a whole path, as in //home/ada/x.'],
    ['Read(a~b)', 'Read path {"anchor":"cwd"}'],
    ['Read($)', 'Read path {"anchor":"cwd"}'],
    ['Read(!a)', 'no: A path rule cannot be negated; put the exception in another list.'],
    ['Read(a!)', 'Read path {"anchor":"cwd"}'],
    ['Write(a)', 'Write inert (Write(a) is not matched by file permission checks; use Edit(a))'],
    ['NotebookEdit(a)', 'NotebookEdit inert (NotebookEdit(a) is not matched by file permission checks; use Edit(a))'],
    ['Glob(a)', 'Glob inert (Glob(a) is not matched by file permission checks; use Read(a))'],
    ['WebFetch(domain:Example.COM.)', 'WebFetch domain {"host":"example.com"}'],
    ['WebFetch(domain: a.b )', 'WebFetch domain {"host":"a.b"}'],
    ['WebFetch(domain:)', 'no: "" is not a host name.'],
    ['WebFetch(domain:a/b)', 'no: "a/b" is not a host name.'],
    ['WebFetch(domain:a b)', 'no: "a b" is not a host name.'],
    ['WebFetch(domain:a@b)', 'no: "a@b" is not a host name.'],
    ['WebFetch(domain:a?b)', 'no: "a?b" is not a host name.'],
    ['WebFetch(domain:a#b)', 'no: "a#b" is not a host name.'],
    ['WebFetch(https://a)', noUrls],
    ['WebFetch(xdomain:a)', noUrls],
    ['WebSearch(a b)', 'WebSearch query {"text":"a b"}'],
    ['WebSearch(a?)', 'no: WebSearch does not support wildcards. Use exact search terms without * or ?.'],
    ['WebSearch(a*)', 'no: WebSearch does not support wildcards. Use exact search terms without * or ?.'],
    ['Agent(Explore)', 'Agent name {"patterns":["Explore"]}'],
    ['Task(a *)', 'Agent name {"patterns":["a *"]}'],
    ['Skill(a *)', 'Skill name {"patterns":["a","a *"]}'],
    ['Skill(a:*)', 'Skill name {"patterns":["a","a *"]}'],
    ['Grep(path:x)', 'no: Grep(parameter:value) works in deny and ask rules only.'],
    ['Grep(x)', 'no: Grep takes no pattern; write just "Grep", or Grep(parameter:value).'],
    ['Grep(:x)', 'no: Grep takes no pattern; write just "Grep", or Grep(parameter:value).'],
    ['bash', 'no: Tool names must start with uppercase. Use "Bash"'],
    ['my_tool', 'my_tool any'],
    ['Nope', 'Nope any (there is no tool named Nope)'],
    ['Ba!sh', 'no: "Ba!sh" is not a tool name.'],
    ['!Bash', 'no: "!Bash" is not a tool name.'],
    ['Bash!', 'no: "Bash!" is not a tool name.'],
    ['Ba*!', 'no: "Ba*!" is not a tool name.'],
    ['!Ba*', 'no: "!Ba*" is not a tool name.'],
    ['B*', 'no: Wildcard tool name "B*" is not supported in allow rules; name the tools or the MCP server.'],
    ['mcp__*', 'no: Wildcard tool name "mcp__*" is not supported in allow rules; name the tools or the MCP server.'],
    ['mcp__a*', 'no: Wildcard tool name "mcp__a*" is not supported in allow rules; name the tools or the MCP server.'],
    [
      'xmcp__a__*',
      'no: Wildcard tool name "xmcp__a__*" is not supported in allow rules; name the tools or the MCP server.',
    ],
    [
      'mcp__a*b__c',
      'no: Wildcard tool name "mcp__a*b__c" is not supported in allow rules; name the tools or the MCP server.',
    ],
    ['mcp__a__*', 'mcp__a__* any'],
    ['mcp__a__get_*', 'mcp__a__get_* any'],
    ['mcp__', 'no: Name the server, as in mcp__server.'],
    ['mcp__Srv__Tool', 'mcp__srv__Tool any'],
    ['mcp__Srv', 'mcp__srv any'],
    [
      'mcp__a__b(c)',
      'no: MCP rules take no parentheses: name the tool, as in mcp__server__tool, or the server, as in mcp__server.',
    ],
  ])
})

test('deny and ask rules', () => {
  hold('deny', [
    ['B*', 'B* any'],
    ['*', '* any'],
    [
      'mcp__a__b(c:d)',
      'no: MCP rules take no parentheses: name the tool, as in mcp__server__tool, or the server, as in mcp__server.',
    ],
    ['Grep(path:x:y)', 'Grep parameter {"name":"path","pattern":"x:y"}'],
    ['Grep(a:)', 'Grep parameter {"name":"a","pattern":""}'],
    ['Bash(rm  "a b")', 'Bash command {"patterns":["rm  \\"a b\\"","rm a b"],"exact":true}'],
    ["Bash(rm\t'a':*)", 'Bash command {"patterns":["rm\\t\'a\'","rm\\t\'a\' *","rm a","rm a *"],"exact":false}'],
    ['Bash(rm a)', 'Bash command {"patterns":["rm a"],"exact":true}'],
    ['Bash("")', 'Bash command {"patterns":["\\"\\""],"exact":true}'],
    ['Bash(builtin:read-only)', 'Bash command {"patterns":["builtin:read-only"],"exact":true}'],
  ])
  hold('ask', [['Bash(rm  a)', 'Bash command {"patterns":["rm  a","rm a"],"exact":true}']])
})

test('the problem of a rule, and a rule as text', () => {
  assert.deepEqual([ruleProblem('Bash', 'allow'), ruleProblem('', 'deny')], [undefined, 'The rule is empty.'])
  assert.deepEqual(
    [ruleText({ toolName: 'Bash' }), ruleText({ toolName: 'Bash', ruleContent: 'a (b) \\c' })],
    ['Bash', 'Bash(a \\(b\\) \\\\c)'],
  )
})

test('a host as rules hold it', () => {
  const rows = { '[::1]': '::1', 'A.b.': 'a.b', 'exämple.com': 'xn--exmple-cua.com', 'a[b]c': 'a[b]c', 'é é': 'é é' }
  assert.deepEqual(Object.fromEntries(Object.keys(rows).map((host) => [host, plainHost(host)])), rows)
})

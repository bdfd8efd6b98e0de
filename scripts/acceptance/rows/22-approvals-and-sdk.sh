group approvals 'Approvals, agents in code and the exam' <<'X'
home
X

row APPROVAL-1 5.7 'an ask that nobody answers in -p is a pending row; after the decision the run resumes at that call, once' 'the tests of approvals pass' <<'X'
unit test/agent/agent-approvals.test.ts
X

row APPROVAL-2 5.7 'an editor that goes away while it is asked leaves an approval, and the session resumes at that call' 'the test passes' <<'X'
unit test/headless/acp.test.ts --test-name-pattern='goes away while it is asked'
X

row SDK-1 002 'guards and tools are typed by the tool, agents are tools, events name their agent and handoffs, a run without a credential rejects' 'the tests pass' <<'X'
unit src/sdk/guard.test.ts
X

row FILES-1 4.1 'what is written on request goes into a pipe or a device and never replaces it' 'the tests pass' <<'X'
unit src/files/device-write.test.ts
X

row EXAM-1 8.5.2 'a case that cannot fail is refused, however it hides that' 'the test passes' <<'X'
unit test/workflow.test.ts --test-name-pattern='cannot fail is refused'
X

row DEMO-1 8.6.1 'ona demo shows a failing gate with its output, on the bundled Node and on the one of the system' 'the tests pass' <<'X'
unit test/workflow.test.ts --test-name-pattern='demo'
X

row EXAM-2 8.5.2 'cases and --help run in a copy of the project, never in the live one, under the deny rules' 'the tests pass' <<'X'
unit test/workflow.test.ts --test-name-pattern='run in a copy|deny rule forbids'
X

row EXAM-3 8.2 'after a turn in the implement phase the terminal says that /test comes next' 'the test passes' <<'X'
unit test/workflow.test.ts --test-name-pattern='comes next'
X

row MCP-1 7 'an MCP server that cannot start or dies is named on stderr, in an event and in the error of a call; mcp list shows servers of the snapshot; updatedMCPToolOutput holds for MCP tools only' 'the tests pass' <<'X'
unit test/headless/mcp-failures.test.ts
X

row MCP-2 7 'the tools of a known server are in the first request and its call waits for it; a changed tool is reported and prompts once more until it is accepted' 'the tests pass' <<'X'
unit test/headless/mcp-known.test.ts
X

row STEPS-1 004 'every control at every step, from a function and from a command; a veto by exit 2; images by URL; a hook-supplied reply once' 'the tests pass' <<'X'
unit test/hooks/step-controls.test.ts
X

row DISPATCH-1 001 'BLOCKED on a violation and on the budget cap; the capability is computed again at Stop and PostToolUse; an empty manifest says so; an 80 KB prompt fits the budget' 'the tests pass' <<'X'
unit test/dispatcher/dispatcher.test.ts --test-name-pattern='blocks the work|graph database again|without modules|80 KB'
X

row DISPATCH-2 001 'what an installation commits is readable code; a shim that times out ends its children' 'the tests pass' <<'X'
unit test/dispatcher/cli.test.ts --test-name-pattern='readable'
unit src/hosts/shim/shim.test.ts --test-name-pattern='ends with it'
X

group approvals 'Approvals, agents in code and the exam' <<'X'
home
X

row APPROVAL-1 5.7 'an ask that nobody answers in -p is a pending row; after the decision the run resumes at that call, once' 'the tests of approvals pass' <<'X'
unit test/agent-approvals.test.ts
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

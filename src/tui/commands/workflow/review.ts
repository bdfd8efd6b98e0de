import type { Ui } from '../../session/command-context.ts'

const prompt = (
  what: string,
) => `Review ${what || 'the changes on this branch (git diff against the merge base with the main branch, and what is not committed yet)'}.

Read the changed code and enough round it to judge it. Look for: what is wrong or will break, cases that are not handled, what contradicts the conventions of this repository, tests that are missing for what changed or that would pass without the change. Try to prove each finding from the code, and leave out what you cannot prove and what is only taste.

Answer with the findings, the gravest first: file and line, what is wrong, when it happens, and what to do. If there is nothing of weight, say so. Change nothing.`

export async function run(args: string, ui: Ui): Promise<void> {
  await ui.submit(prompt(args))
}

import type { Ui } from '../../session/command-context.ts'

const prompt = `Look at this repository and write ONA.md in its root, or improve it if it is there: what a coding agent needs to know to work here and could not see at a glance.

Hold it under 80 lines. Put in: what the project is, in two sentences; the exact commands to build, check, run all tests and run one test; how the code is laid out, and the parts that are not obvious; the conventions that the code follows and that a newcomer would break; what must never be done here. If there is a CLAUDE.md, AGENTS.md, .cursorrules or .github/copilot-instructions.md, take over what still holds. Check every command against package.json, the Makefile or CI before you write it down. Leave out advice that would fit any project.`

export async function run(_args: string, ui: Ui): Promise<void> {
  await ui.submit(prompt)
}

/** The generator's context: built here and nowhere else, from a closed list of inputs, and put on record. */
import { join } from 'node:path'
import { addEvent } from '../store/audit.ts'
import type { Db } from '../store/open.ts'
import { hashOf, type Plan } from '../store/plans.ts'
import { templates } from './cases/templates.ts'
import { type PublicContract, publicContract } from './contract.ts'
import { type Criterion, criteriaOf } from './criteria.ts'
import { type Implementation, implementationOf, textOf } from './implementation.ts'

export interface Exam {
  readonly plan: Plan
  readonly criteria: readonly Criterion[]
  readonly contract: PublicContract
  readonly implementation: Implementation
  /** All that the generator is given at first. */
  readonly prompt: string
}

export interface ExamRequest {
  readonly conversationId: string
  readonly sessionId: string
  readonly projectDir: string
  /** What a declared command prints with --help; undefined where it may not run or prints nothing. */
  help(file: string): Promise<string | undefined>
  readonly plan: Plan
  /** The criteria to write for. */
  readonly wanted: readonly string[]
}

/**
 * Builds the context from the approved plan, its criteria and the public contract. What the implement phase wrote is
 * kept out by path and by content, even where the plan quotes it. What went in is recorded by name and hash.
 */
export async function buildExam(
  db: Db,
  { conversationId, sessionId, projectDir, plan, wanted, help }: ExamRequest,
): Promise<Exam> {
  const implementation = implementationOf(db, conversationId, projectDir, plan)
  const contract = await publicContract(projectDir, implementation, help)
  const criteria = criteriaOf(plan.content).filter(({ id }) => wanted.includes(id))
  const planText = withoutImplementation(plan.content, implementation, projectDir)
  const prompt = render(planText, criteria, contract)
  const went = [
    { name: `plan ${plan.id}`, hash: hashOf(planText) },
    ...criteria.map(({ id, text }) => ({ name: `criterion ${id}`, hash: hashOf(text) })),
    ...contract.parts.map(({ name, text }) => ({ name, hash: hashOf(text) })),
  ]
  addEvent(db, {
    conversationId,
    sessionId,
    type: 'test_generation_context',
    detail: { inputs: went, left_out: contract.leftOut, implementation: [...implementation.files.keys()] },
  })
  return { plan, criteria, contract, implementation, prompt }
}

/** A plan may name files; it must not carry their text. */
function withoutImplementation(plan: string, { files }: Implementation, projectDir: string): string {
  let text = plan
  for (const path of files.keys()) {
    for (const line of (textOf(join(projectDir, path)) ?? '').split('\n')) {
      const piece = line.trim()
      if (piece.length >= 24 && text.includes(piece)) text = text.replaceAll(piece, '[left out: implementation]')
    }
  }
  return text
}

const render = (plan: string, criteria: readonly Criterion[], contract: PublicContract): string =>
  [
    'Write test cases for work that you have not seen and cannot see. You know the approved plan and what the project shows to the outside; nothing else exists for you.',
    '',
    '# The approved plan',
    plan.trim(),
    '',
    '# Success criteria (trace each case to one of these ids)',
    ...criteria.map(({ id, text }) => `- ${id}: ${text}`),
    '',
    '# The public contract',
    ...contract.parts.flatMap(({ name, text }) => [`## ${name}`, '```', text.trim(), '```']),
    ...(contract.entryPoints.length > 0
      ? ['', `Entry points to run: ${contract.entryPoints.map((file) => `"$PROJECT_DIR/${file}"`).join(', ')}`]
      : []),
    '',
    '# How a case looks',
    'A bash script, saved with WriteTestCase, one for each criterion at least. It runs in an empty folder of its own ($CASE_DIR); $PROJECT_DIR is a copy of the project; $AGENT_SDLC_DB is a database of its own, with the settings and the conversation. It is tried on the project without the change as well, and must fail there. It exits 0 when the criterion holds, and otherwise says on stderr what was expected and what came. It asserts only what can be observed: output and exit code of a command, a file and its content, a row in the database, the result of a tool (ona --eval), a row of hook_invocations. No imports, no mocks, no looking at source files, no check that only shows that nothing crashed.',
    '',
    ...templates.flatMap(({ surface, script }) => [`A case on ${surface}:`, '```bash', script.trimEnd(), '```']),
    '',
    'Save a case for every criterion, then say that you are done.',
  ].join('\n')

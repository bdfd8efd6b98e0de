/** Test generation: a fresh session that knows the exam and nothing else, with two tools and no way to the project. */

import { record, string } from '../../hooks/shape.ts'
import { textBlock } from '../../hooks/step/blocks.ts'
import { createSession } from '../../store/conversations.ts'
import { newId } from '../../store/open.ts'
import type { Plan } from '../../store/plans.ts'
import { failed, said } from '../../tools/output.ts'
import { defineTool, type Tool } from '../../tools/tool.ts'
import { type Case, casesOf, dropCase, saveCase } from '../../workflow/cases/cases.ts'
import { caseProblems } from '../../workflow/cases/check-case.ts'
import { flawInWords, saveProof } from '../../workflow/cases/proofs.ts'
import { changeOf, flawOf, passesEmptied } from '../../workflow/cases/prove.ts'
import { restoreCopy } from '../../workflow/cases/run-cases.ts'
import { buildExam, type Exam } from '../../workflow/exam.ts'
import { Session } from '../session/session.ts'
import type { Toolbox } from '../toolbox.ts'
import { runTurn } from '../turn.ts'
import { blindHooks, helpOf, refusedCase, scriptPlace } from './script-place.ts'

export interface Generated {
  readonly cases: number
  /** Criteria that still have no case. */
  readonly open: readonly string[]
  /** Why they have none: what broke off the writing, or the writer's own last words. */
  readonly why?: string
}

/** How often the generator is reminded of what is still missing. */
const mostRounds = 3

/** Has cases written for these criteria of the plan. */
export async function generateCases(parent: Session, plan: Plan, criteria: readonly string[]): Promise<Generated> {
  const { db, conversationId, projectDir, runtime } = parent
  const id = newId(db)
  const owner = { sessionId: parent.id, agentId: id, agentType: 'test-generator' }
  const sessionId = createSession(db, conversationId, undefined, owner).sessionId
  const help = (file: string) => helpOf(parent, file)
  const exam = await buildExam(db, { conversationId, sessionId, projectDir, plan, wanted: criteria, help })
  const written = new Map<string, Case>()
  const open = () => criteria.filter((each) => ![...written.values()].some(({ criterion }) => criterion === each))
  const session: Session = new Session({
    runtime,
    services: parent.services,
    id: sessionId,
    conversationId,
    cwd: projectDir,
    projectDir,
    mode: 'bypassPermissions',
    model: parent.model,
    permissions: {},
    messages: [],
    agent: { id, type: 'test-generator', about: 'writing tests from the plan' },
    tools: examTools(parent, exam, { written, asker: () => session }),
    systemPrompt: examiner,
    isolated: true,
    sealed: true,
    ...(runtime.testSandbox && { hookWrap: blindHooks(parent, exam.implementation) }),
  })
  const stop = () => session.interrupt()
  parent.signal.addEventListener('abort', stop, { once: true })
  let prompt = exam.prompt
  let why: string | undefined
  for (let round = 0; round < mostRounds; round++) {
    const end = await runTurn(session, [textBlock(prompt)])
    if (end.stop !== 'end_turn') {
      why = end.why ?? end.stop
      break
    }
    const flaws = await dropFlawed(parent, exam, written)
    if (open().length === 0) break
    why = [...flaws, end.text.trim().slice(0, 600)].join('\n')
    prompt = [
      ...flaws,
      `There is no accepted case yet for: ${open().join(', ')}. Write one for each with WriteTestCase.`,
    ].join('\n')
  }
  parent.signal.removeEventListener('abort', stop)
  return { cases: written.size, open: open(), ...(why && { why }) }
}

/**
 * Drops cases that cannot fail, or look at the text of the program. Between the rounds, and told by criterion: whoever could try
 * one script after another on the code would learn it bit by bit.
 */
async function dropFlawed(parent: Session, exam: Exam, written: Map<string, Case>): Promise<string[]> {
  const change = changeOf(exam.implementation, parent.projectDir)
  const place = scriptPlace(parent)
  const flaws: string[] = []
  for (const [name, each] of written) {
    const flaw = await flawOf(each.content, change, place)
    if (flaw === undefined) {
      const { id: caseId, hash } = each
      saveProof(parent.db, { caseId, hash, codeHash: change.hash, flaw, mutants: [], killed: [] })
      continue
    }
    dropCase(parent.db, each.id)
    written.delete(name)
    flaws.push(`A case of ${each.criterion} is dropped: it ${flawInWords[flaw]}.`)
  }
  return [...new Set(flaws)]
}

const examiner =
  'You write acceptance tests from a plan, for work that others did. You have not seen their code and cannot. Be strict and concrete: each case must fail when its criterion does not hold.'

interface Writing {
  readonly written: Map<string, Case>
  /** The session that writes: hooks judge its cases without sight of the code. */
  asker(): Session
}

function examTools(parent: Session, exam: Exam, { written, asker }: Writing): Toolbox {
  const context = {
    projectDir: parent.projectDir,
    criteria: exam.criteria.map(({ id }) => id),
    texts: new Map(exam.criteria.map(({ id, text }) => [id, text])),
    implementation: [...exam.implementation.files.keys()],
    entryPoints: exam.contract.entryPoints,
  }
  const change = changeOf(exam.implementation, parent.projectDir)
  const place = scriptPlace(parent)
  const write = defineTool({
    name: 'WriteTestCase',
    prompt:
      'Saves one test case: a bash script that exits 0 when its criterion holds. A case that may not stand is refused with the reasons; mend it and save it again.',
    input: record({
      name: string('short, in lower-case with hyphens: greets-by-name'),
      criterion: string('the id of the criterion it traces to, such as C1'),
      script: string('the whole bash script'),
    }),
    safety: 'mutating',
    summary: ({ name, criterion }) => `${criterion} ${name}`,
    async run({ name, criterion, script }) {
      if (!/^[a-z0-9][a-z0-9-]{0,60}$/.test(name)) return failed('name must be lower-case letters, digits and hyphens')
      const problems = caseProblems({ criterion, content: script }, context)
      const refused = problems.length === 0 ? await refusedCase(parent, { name, content: script }, asker()) : undefined
      if (refused !== undefined) problems.push(`it may not run here: ${refused.forWriter}`)
      if (problems.length === 0 && (await passesEmptied(script, change, place)))
        problems.push(`it ${flawInWords['passes without the change']}: check what the change adds`)
      if (problems.length > 0)
        return failed(`The case ${name} is refused:\n${problems.map((each) => `- ${each}`).join('\n')}`)
      const other = casesOf(parent.db, exam.plan.id).find((each) => each.name === name && each.criterion !== criterion)
      if (other) return failed(`The name ${name} is taken by a case of ${other.criterion}; give this one another.`)
      const saved = saveCase(parent.db, exam.plan.id, { name, criterion, content: script })
      restoreCopy(saved, exam.plan, parent.projectDir)
      written.set(name, saved)
      return said(`Saved ${name} for ${criterion}.`)
    },
  })
  const ask = defineTool({
    name: 'PublicContract',
    prompt: 'Shows a part of the project’s public contract again, by its name; without a name, the list of parts.',
    input: record({ part: { ...string('the name of a part'), optional: true } }),
    safety: 'read_only',
    summary: ({ part }) => String(part ?? 'list'),
    async run({ part }) {
      const { parts } = exam.contract
      const found = parts.find(({ name }) => name === part)
      return said(found ? found.text : parts.map(({ name }) => name).join('\n') || '(the project publishes nothing)')
    },
  })
  const tools = new Map<string, Tool>([write, ask].map((tool) => [tool.name, tool]))
  const definitions = [...tools.values()].map(({ name, prompt, input }) => ({
    name,
    description: prompt,
    inputSchema: input.schema(),
  }))
  return {
    get: (name) => tools.get(name),
    names: () => [...tools.keys()],
    definitions: () => definitions,
    deferred: () => [],
    reveal: () => {},
  }
}

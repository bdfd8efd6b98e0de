import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testSession } from '../../../test/support/agent-session.ts'
import { exitPlanMode } from './plan-mode.ts'

const plan = '# Plan\n\nDo it.\n\n## Success criteria\n\n- it is done'
const commands = ['npm test', 'git add *', '*', '(', 'rm -rf \u200b/', 'a) Bash(b']

/** A user who approves the plan and answers the question about its commands like this. */
async function approvedWith(answer: string | undefined) {
  const asked: string[] = []
  const here = testSession({
    phase: 'planning',
    permissions: { allow: ['Read'] },
    user: {
      approvePlan: async (text) => ({ approve: true, plan: text, acceptEdits: false }),
      async questions([first]) {
        asked.push(first!.question)
        return answer === undefined ? undefined : { [first!.question]: answer }
      },
    },
  })
  const { content } = await exitPlanMode(here.session, plan, commands)
  const { allow } = here.session.permissions
  here.end()
  return { content, asked, allow }
}

test('the commands of an approved plan are offered as they would stand in a rule, and allowed for the session', async () => {
  const { content, asked, allow } = await approvedWith('Allow them')
  assert.match(content, /^The operator approved the plan/)
  assert.deepEqual(asked, [
    'The plan needs these commands: Bash(npm test), Bash(git add *). Allow them for this session?',
  ])
  assert.deepEqual(allow, ['Read', 'Bash(npm test)', 'Bash(git add *)'])
})

test('without a yes to them, the rules stay as they are', async () => {
  for (const answer of ['Ask each time', undefined]) assert.deepEqual((await approvedWith(answer)).allow, ['Read'])
})

test('where only managed rules count, neither a plan nor a skill brings any', async () => {
  const here = testSession({ permissions: { allow: ['Read'], allowManagedPermissionRulesOnly: true } })
  here.session.granted.push('Bash')
  assert.deepEqual(here.session.rules.allow, ['Read'])
  here.end()
})

test('a command in the background does not run on while a plan waits for approval', async () => {
  const here = testSession({ phase: 'planning' })
  const task = here.session.tasks.start({
    kind: 'bash',
    about: 'sleep',
    run: (signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve({ exitCode: null }), { once: true })),
  })
  await exitPlanMode(here.session, plan)
  const [state] = here.session.tasks.list()
  assert.deepEqual([state!.id, state!.status], [task, 'killed'])
  here.end()
})

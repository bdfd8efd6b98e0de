/** What a round leaves: its answer, its notes and a row for every handler, each compared whole. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ask } from '../answers.ts'
import { defineHook, defineStepHook, type StandardArgs } from '../define.ts'
import { createPlane, type PlaneOptions } from '../dispatch.ts'
import type { EventName } from '../events.ts'
import type { Handler, Wrap } from '../handler.ts'
import { type Answer, type Invocation, quiet, type Raised, type Scope } from '../plane.ts'
import { readHooks } from '../settings.ts'
import type { StepName, Steps } from '../steps.ts'

type Row = Omit<Invocation, 'startedAt' | 'completedAt' | 'inputJson'>

interface Left {
  /** What differs from the answer of nobody. */
  readonly answer: Partial<Answer>
  /** What differs from a handler that said nothing; times are checked on the way. */
  readonly rows: readonly Partial<Row>[]
  /** The step after a round that raises an event too. */
  readonly step?: unknown
}

const silent: Row = {
  event: 'PreToolUse',
  ordinal: 0,
  matcher: '',
  command: '',
  toolUseId: null,
  toolName: null,
  exitCode: null,
  stdout: null,
  stderr: null,
  skippedReason: null,
}

const differing = <T extends object>(value: T, from: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(value).filter(([key, each]) => JSON.stringify(each) !== JSON.stringify(from[key as keyof T])),
  ) as Partial<T>

const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

function stage(handlers: readonly Handler[], options: PlaneOptions = {}, more: Partial<Scope> = {}) {
  const rows: Partial<Row>[] = []
  const scope: Scope = {
    ...{ sessionId: 's', conversationId: 'c', dbPath: '/db', cwd: '/' },
    record({ startedAt, completedAt, inputJson, ...row }) {
      assert.match(startedAt, iso)
      if (row.skippedReason === null)
        assert.ok(completedAt !== null && completedAt >= startedAt && iso.test(completedAt))
      else assert.equal(completedAt, null)
      assert.equal(typeof JSON.parse(inputJson), 'object')
      assert.deepEqual(
        Object.entries(row).filter(([, value]) => value === undefined),
        [],
      )
      assert.deepEqual(Object.keys(row).sort(), Object.keys(silent).sort())
      rows.push(differing(row, silent))
    },
    ...more,
  }
  const plane = createPlane(handlers, options)
  const left = (answer: Answer): Left => ({ answer: differing(answer, quiet), rows: rows.splice(0) })
  return {
    raise: async (name: EventName, fields: object) => left(await plane.raise(name, fields as never, scope)),
    ask: async <S extends StepName>(name: S, step: Steps[S]) => left(await plane.ask(name, step, scope)),
    both: async <S extends StepName>(name: S, step: Steps[S], event: Raised) => ({
      ...left(await plane.ask(name, step, scope, event)),
      step,
    }),
    call: () => plane.raise('PreToolUse', toolCall, scope).then(left),
  }
}

const toolCall = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 't1' }
const boom = function guard(): never {
  throw new Error('boom')
}
const settings = (...hooks: object[]): Handler[] => {
  const { handlers, problems } = readHooks({ hooks }, { source: { kind: 'settings' } })
  assert.deepEqual(problems, [])
  return handlers
}
const sh = (command: string, more: object = {}) => ({ hook_event_name: 'PreToolUse', command, shell: 'sh', ...more })
const toolStep = (): Steps['before_tool_apply'] => ({ toolName: 'Bash', safety: 'mutating', args: {}, result: null })
const preToolUse = (): Raised => ({ name: 'PreToolUse', fields: { ...toolCall, tool_input: {} } })
const never = () => new Promise<never>(() => {})
/** Interrupts the turn once it runs, and never answers. */
const interrupted = (handlerOf: (run: () => Promise<never>) => Handler) => {
  const turn = new AbortController()
  const handler = handlerOf(function stuck() {
    turn.abort()
    return never()
  })
  return stage([handler, defineHook('PreToolUse', boom)], {}, { signal: turn.signal })
}
const toolDone = (): Steps['after_tool_apply'] => ({
  ...{ toolName: 'Bash', isError: false, output: { kind: 'text', text: 'ok' }, additionalContext: [] },
})
const postToolUse = (): Raised => ({ name: 'PostToolUse', fields: { ...toolCall, tool_response: 'ok' } })
const asking = (): Steps['before_permission'] => ({ tool: 'Bash', decision: 'ask', resolved: null })
const permission = (behavior: 'allow' | 'deny') =>
  defineHook('PermissionRequest', function answer() {
    return { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior } } }
  })
/** A sandbox that runs something else, by which it is known. */
const saying =
  (name: string): Wrap =>
  async (_, { env }) => ({ words: ['/bin/sh', '-c', `echo "${name}" >&2; exit 2`], env })
class Refusal {
  readonly decision = 'block'
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}
const turnEnd = (): Steps['before_turn_end'] => ({
  ...{ stopReason: 'end_turn', continuesSoFar: 0, voluntary: true, feedback: [] },
})

/** Each with what the fixture says that it leaves. */
const scenes: Readonly<Record<string, () => Promise<Left>>> = {
  'a hook that says nothing': () => stage(settings(sh('true'))).call(),
  'exit 2': () => stage(settings(sh('echo no >&2; exit 2', { matcher: 'Bash' }), sh('true'))).call(),
  'exit 1': () => stage(settings(sh('echo hm >&2; exit 1'))).call(),
  'exit 1 of a guard': () => stage(settings(sh('echo hm >&2; exit 1', { onFailure: 'refuse' }))).call(),
  'exit 1 where hooks refuse on failure': () => stage(settings(sh('exit 3')), { hookFailure: 'refuse' }).call(),
  'exit 1 of one that proceeds where hooks refuse on failure': () =>
    stage(settings(sh('exit 3', { onFailure: 'proceed' })), { hookFailure: 'refuse' }).call(),
  'exit 1 of one that proceeds where refusing is forced': () =>
    stage(settings(sh('exit 3', { onFailure: 'proceed' })), { hookFailure: 'forced' }).call(),
  text: () => stage(settings(sh('echo hello'))).call(),
  'text of a guard': () => stage(settings(sh('echo hello', { onFailure: 'refuse' }))).call(),
  'text before JSON': () => stage(settings(sh(`printf 'x\\n{}'`))).call(),
  'an answer with unknown keys alone, of a guard': () =>
    stage(settings(sh(`printf '{"allow":true}'`, { onFailure: 'refuse' }))).call(),
  'a decision at the wrong place, of a guard': () =>
    stage(settings(sh(`printf '{"permissionDecision":"deny","reason":"x"}'`, { onFailure: 'refuse' }))).call(),
  'unknown keys in the specific part, of a guard': () =>
    stage(
      settings(sh(`printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","x":1}}'`, { onFailure: 'refuse' })),
    ).call(),
  'a function that throws': () => stage([defineHook('PreToolUse', boom)]).call(),
  'a function that throws, of a guard': () => stage([defineHook('PreToolUse', boom, { onFailure: 'refuse' })]).call(),
  'a function that answers with text': () => stage([defineHook('PreToolUse', (() => 'no') as never)]).call(),
  'a function that answers with a list': () => stage([defineHook('PreToolUse', (() => []) as never)]).call(),
  'a function that answers with a map': () => stage([defineHook('PreToolUse', (() => new Map()) as never)]).call(),
  'a function that answers with a loop': () =>
    stage([
      defineHook('PreToolUse', (() => {
        const a: Record<string, unknown> = { decision: 'block', reason: 'r' }
        a['self'] = a
        return a
      }) as never),
    ]).call(),
  approve: () =>
    stage([
      defineHook('PreToolUse', function ok() {
        return { decision: 'approve', reason: 'fine', systemMessage: 'hi', suppressOutput: true }
      }),
    ]).call(),
  ask: () =>
    stage([
      defineHook('PreToolUse', function sure() {
        return {
          hookSpecificOutput: {
            hookEventName: 'PreToolUse',
            permissionDecision: 'ask',
            permissionDecisionReason: 'sure?',
          },
        }
      }),
    ]).call(),
  'a change of the input': () =>
    stage([
      defineHook('PreToolUse', function change() {
        return {
          hookSpecificOutput: {
            hookEventName: 'PreToolUse',
            updatedInput: { command: 'pwd' },
            additionalContext: 'changed',
          },
        }
      }),
    ]).call(),
  'the end of the turn': () =>
    stage([
      defineHook('PreToolUse', function end() {
        return { continue: false, stopReason: 'enough' }
      }),
    ]).call(),
  'the end of the turn, for another reason': () =>
    stage([
      defineHook('PreToolUse', function end() {
        return { continue: false, reason: 'why' }
      }),
    ]).call(),
  'the end of the turn, without a reason': () =>
    stage([
      defineHook('PreToolUse', function end() {
        return { continue: false }
      }),
    ]).call(),
  'hooks that are disabled': () => stage(settings(sh('exit 2')), { env: { SDLC_DISABLE_ALL_HOOKS: '1' } }).call(),
  'hooks that are disabled for a reason': () => stage(settings(sh('exit 2')), { disabled: 'bare' }).call(),
  'hooks that are withheld': () =>
    stage(
      readHooks({ hooks: [sh('exit 2')] }, { source: { kind: 'settings' }, withheld: 'untrusted_folder' }).handlers,
    ).call(),
  'a turn that is interrupted already': () => stage(settings(sh('true')), {}, { signal: AbortSignal.abort() }).call(),
  'a turn that is interrupted already, where nothing is guarded': () =>
    stage([defineHook('PostToolUse', boom)], {}, { signal: AbortSignal.abort() }).raise('PostToolUse', {
      ...toolCall,
      tool_response: 'x',
    }),
  'a model that is not there': () =>
    stage(settings({ hook_event_name: 'PreToolUse', type: 'prompt', prompt: 'safe?' })).call(),
  'a model that says no without a reason': () =>
    stage(settings({ hook_event_name: 'PreToolUse', type: 'prompt', prompt: 'safe?' }), {
      askModel: async () => '{"ok":false}',
    }).call(),
  'a model that says anything': () =>
    stage(settings({ hook_event_name: 'PreToolUse', type: 'prompt', prompt: 'safe?' }), {
      askModel: async () => '{"ok":1}',
    }).call(),
  'a model that answers as a hook': () =>
    stage(settings({ hook_event_name: 'PreToolUse', type: 'prompt', prompt: 'safe?' }), {
      askModel: async () => '{"decision":"block","reason":"no"}',
    }).call(),
  'a header that HTTP forbids': () =>
    stage(
      settings({
        hook_event_name: 'PreToolUse',
        type: 'http',
        url: 'http://127.0.0.1:1/x?key=1',
        headers: { 'a b': 'c' },
      }),
    ).call(),
  'a header that HTTP forbids, of a guard': () =>
    stage(
      settings({
        hook_event_name: 'PreToolUse',
        type: 'http',
        url: 'http://127.0.0.1:1/x?key=1',
        headers: { a: 'b\nc' },
        onFailure: 'refuse',
      }),
    ).call(),
  'a block after the tool': () =>
    stage(
      settings(
        sh('echo look >&2; exit 2', { hook_event_name: 'PostToolUse' }),
        sh('true', { hook_event_name: 'PostToolUse' }),
      ),
    ).raise('PostToolUse', { ...toolCall, tool_response: 'x' }),
  'a failure after the tool': () =>
    stage(settings(sh('exit 1', { hook_event_name: 'PostToolUse' }))).raise('PostToolUse', {
      ...toolCall,
      tool_response: 'x',
    }),
  'a new output': () =>
    stage([
      defineHook('PostToolUse', function out() {
        return { hookSpecificOutput: { hookEventName: 'PostToolUse', updatedMCPToolOutput: { a: 1 } } }
      }),
    ]).raise('PostToolUse', { ...toolCall, tool_response: 'x' }),
  'a prompt that is refused': () =>
    stage(settings(sh('echo no >&2; exit 2', { hook_event_name: 'UserPromptSubmit' }))).raise('UserPromptSubmit', {
      prompt: 'hi',
    }),
  'text for a prompt': () =>
    stage(settings(sh('echo today is Monday', { hook_event_name: 'UserPromptSubmit' }))).raise('UserPromptSubmit', {
      prompt: 'hi',
    }),
  'a turn that goes on': () =>
    stage(settings(sh('echo tests >&2; exit 2', { hook_event_name: 'Stop' }))).raise('Stop', {
      stop_hook_active: false,
    }),
  'a compaction that is skipped': () =>
    stage(settings(sh('echo later >&2; exit 2', { hook_event_name: 'PreCompact' }))).raise('PreCompact', {
      trigger: 'auto',
      custom_instructions: null,
    }),
  'a message for the user': () =>
    stage(settings(sh('echo seen >&2; exit 2', { hook_event_name: 'Notification' }))).raise('Notification', {
      message: 'm',
      notification_type: 'idle',
    }),
  'a session that starts': () =>
    stage([
      defineHook('SessionStart', function start() {
        return {
          hookSpecificOutput: {
            hookEventName: 'SessionStart',
            additionalContext: 'a',
            initialUserMessage: 'go',
            watchPaths: ['/a'],
          },
        }
      }),
    ]).raise('SessionStart', { source: 'startup' }),
  'permission that is given': () =>
    stage([
      defineHook('PermissionRequest', function give() {
        return {
          hookSpecificOutput: {
            hookEventName: 'PermissionRequest',
            decision: {
              behavior: 'allow',
              updatedInput: { command: 'pwd' },
              updatedPermissions: [{ type: 'setMode', mode: 'plan', destination: 'session' }],
            },
          },
        }
      }),
    ]).raise('PermissionRequest', { tool_name: 'Bash', tool_input: {} }),
  'permission that is refused': () =>
    stage([
      defineHook('PermissionRequest', function no() {
        return {
          hookSpecificOutput: {
            hookEventName: 'PermissionRequest',
            decision: { behavior: 'deny', message: 'not now', interrupt: true },
          },
        }
      }),
    ]).raise('PermissionRequest', { tool_name: 'Bash', tool_input: {} }),
  'a refusal that may be tried again': () =>
    stage([
      defineHook('PermissionDenied', function again() {
        return { hookSpecificOutput: { hookEventName: 'PermissionDenied', retry: true } }
      }),
    ]).raise('PermissionDenied', { ...toolCall, reason: 'r' }),
  'a form that is answered': () =>
    stage([
      defineHook('Elicitation', function fill() {
        return { hookSpecificOutput: { hookEventName: 'Elicitation', action: 'accept', content: { a: 1 } } }
      }),
    ]).raise('Elicitation', { mcp_server_name: 'm', message: 'x' }),
  'a form that is declined': () =>
    stage([
      defineHook('Elicitation', function fill() {
        return { hookSpecificOutput: { hookEventName: 'Elicitation', action: 'decline' } }
      }),
    ]).raise('Elicitation', { mcp_server_name: 'm', message: 'x' }),
  'a worktree': () =>
    stage(settings(sh('echo making; echo /tmp/tree', { hook_event_name: 'WorktreeCreate' }))).raise('WorktreeCreate', {
      name: 'n',
    }),
  'paths to watch': () =>
    stage([
      defineHook('CwdChanged', function watch() {
        return { hookSpecificOutput: { hookEventName: 'CwdChanged', watchPaths: ['/a', '/b'] } }
      }),
    ]).raise('CwdChanged', { old_cwd: '/', new_cwd: '/a' }),
  'a step that fails where it guards': () =>
    stage([defineStepHook('before_tool_apply', boom)]).ask('before_tool_apply', toolStep()),
  'a step that fails and proceeds where it guards': () =>
    stage([defineStepHook('before_tool_apply', boom, { onError: 'proceed' })]).ask('before_tool_apply', toolStep()),
  'a step that fails where nothing is guarded': () =>
    stage([defineStepHook('before_turn_end', boom)]).ask('before_turn_end', turnEnd()),
  'a step that fails and blocks where nothing is guarded': () =>
    stage([defineStepHook('before_turn_end', boom, { onError: 'block' })]).ask('before_turn_end', turnEnd()),
  'a veto at a gate': () =>
    stage(
      settings(
        sh('echo stop >&2; exit 2', { hook_event_name: 'before_tool_apply' }),
        sh('true', { hook_event_name: 'before_tool_apply' }),
      ),
    ).ask('before_tool_apply', toolStep()),
  'a veto at the end of a turn': () =>
    stage(settings(sh('echo more >&2; exit 2', { hook_event_name: 'before_turn_end' }))).ask(
      'before_turn_end',
      turnEnd(),
    ),
  'a control out of place': () =>
    stage([
      defineStepHook('before_tool_apply', function odd() {
        return { kind: 'continue' }
      }),
    ]).ask('before_tool_apply', toolStep()),
  'a bad verdict that refuses': () =>
    stage([defineStepHook('before_tool_apply', (() => ({ control: 'break', args: 7, result: 7 })) as never)]).ask(
      'before_tool_apply',
      toolStep(),
    ),
  'a step that is written badly': () =>
    stage([
      defineStepHook('before_tool_apply', function bad({ step }) {
        ;(step as { result: unknown }).result = 7
        return undefined
      }),
    ]).ask('before_tool_apply', toolStep()),
  'a function that takes too long before a tool': () =>
    stage([
      defineHook(
        'PreToolUse',
        function slow() {
          return never()
        },
        { timeoutMs: 5 },
      ),
    ]).call(),
  'a function that takes too long after the tool': () =>
    stage([
      defineHook(
        'PostToolUse',
        function slow() {
          return never()
        },
        { timeoutMs: 5 },
      ),
    ]).raise('PostToolUse', {
      ...toolCall,
      tool_response: 'x',
    }),
  'a hook that is interrupted': () => interrupted((run) => defineHook('PreToolUse', run)).call(),
  'a step that is interrupted': () =>
    interrupted((run) => defineStepHook('before_tool_apply', run)).ask('before_tool_apply', toolStep()),
  'a bad answer, and what it printed on stderr': () =>
    stage(settings(sh(`echo hm >&2; printf '{"continue":7}'`))).call(),
  'a function that throws and proceeds where refusing is forced': () =>
    stage([defineHook('PreToolUse', boom, { onFailure: 'proceed' })], { hookFailure: 'forced' }).call(),
  'a step that fails and proceeds where refusing is forced': () =>
    stage([defineStepHook('before_tool_apply', boom, { onFailure: 'proceed' })], { hookFailure: 'forced' }).ask(
      'before_tool_apply',
      toolStep(),
    ),
  'a step that fails where hooks refuse on failure and nothing is guarded': () =>
    stage([defineStepHook('before_compact', boom)], { hookFailure: 'refuse' }).ask('before_compact', {
      tokenEstimate: 9,
      threshold: 8,
    }),
  'a turn that goes on for two reasons': () =>
    stage([
      defineHook('Stop', function first() {
        return { decision: 'block', reason: 'tests' }
      }),
      defineHook('Stop', function second() {
        return { decision: 'block', reason: 'docs\nlint' }
      }),
    ]).raise('Stop', { stop_hook_active: false }),
  'a break with words, where the step has no place for them': () =>
    stage([
      defineStepHook('before_tool_apply', (() => ({ control: 'break', additional_context: ['why', 'so '] })) as never),
      defineStepHook('before_tool_apply', boom),
    ]).ask('before_tool_apply', toolStep()),
  'a break without words': () =>
    stage([
      defineStepHook('before_tool_apply', function end() {
        return { kind: 'break', reason: 'refusal' }
      }),
    ]).ask('before_tool_apply', toolStep()),
  'a break with words, where the step takes them': () =>
    stage([
      defineStepHook('after_tool_apply', function end() {
        return { control: 'break', stop_reason: 'cancelled', additional_context: ['why'] }
      }),
    ]).both('after_tool_apply', toolDone(), postToolUse()),
  'feedback for the turn': () =>
    stage([
      defineStepHook('before_turn_end', function more() {
        return { control: 'continue', additional_context: ['more'] }
      }),
    ]).both('before_turn_end', turnEnd(), { name: 'Stop', fields: { stop_hook_active: false } }),
  'a step that answers with a loop that refuses': () =>
    stage([
      defineStepHook('before_turn_end', function loop() {
        const a: Record<string, unknown> = { control: 'continue' }
        a['self'] = a
        return a as never
      }),
    ]).ask('before_turn_end', turnEnd()),
  'a bad verdict of one that proceeds on failure': () =>
    stage([
      defineStepHook('before_tool_apply', (() => ({ result: 7 })) as never, { onError: 'proceed', name: 'bad' }),
    ]).ask('before_tool_apply', toolStep()),
  'a wrong type that is ignored': () =>
    stage([defineStepHook('before_generate', (() => ({ model: 7, control: 'break' })) as never, { name: 'odd' })]).ask(
      'before_generate',
      { model: 'm', messageCount: 1, attempt: 1, assistantText: null },
    ),
  'a prompt that a step has changed': () =>
    stage([
      defineStepHook('before_ingest', function shorten({ step }) {
        step.input = [{ type: 'text', text: 'hi' }]
        return undefined
      }),
      defineHook('UserPromptSubmit', function see({ prompt }) {
        return { systemMessage: prompt }
      }),
    ]).both(
      'before_ingest',
      { source: 'user', input: [{ type: 'text', text: 'hello' }] },
      { name: 'UserPromptSubmit', fields: { prompt: 'hello' } },
    ),
  'an input that a step and an event have changed': () =>
    stage([
      defineStepHook('before_tool_apply', function first({ step }) {
        step.args = { command: 'one' }
        return undefined
      }),
      defineHook('PreToolUse', function second({ tool_input }) {
        const { command } = tool_input as { command: string }
        const updatedInput = { command: `${command} two` }
        return { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput } }
      }),
    ]).both('before_tool_apply', toolStep(), preToolUse()),
  'words of an event for the model, where its step takes them': () =>
    stage([
      defineHook('PostToolUse', function say() {
        return { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'look' } }
      }),
    ]).both('after_tool_apply', toolDone(), postToolUse()),
  'permission that an event gives, at its step': () =>
    stage([permission('allow')]).both('before_permission', asking(), {
      name: 'PermissionRequest',
      fields: { tool_name: 'Bash', tool_input: {} },
    }),
  'permission that an event refuses, at its step': () =>
    stage([permission('deny')]).both('before_permission', asking(), {
      name: 'PermissionRequest',
      fields: { tool_name: 'Bash', tool_input: {} },
    }),
  'a hook that asks for a sandbox where there is none': () => stage(settings(sh('exit 2', { sandbox: true }))).call(),
  'a hook in the sandbox of the plane': () =>
    stage(settings(sh('exit 2', { sandbox: true })), {
      wrap: async (_, { env }) => ({ words: ['/bin/sh', '-c', 'echo inside >&2; exit 2'], env }),
    }).call(),
  'a hook that asks for none, in the sandbox of the session': () =>
    stage(settings(sh('exit 0')), {}, { wrap: async () => Promise.reject(new Error('it is gone')) }).call(),
  'a persistent hook, in the sandbox of the session': () =>
    stage(
      settings(sh('exit 0', { persistent: true })),
      {},
      { wrap: async () => Promise.reject(new Error('it is gone')) },
    ).call(),
  'a persistent hook in a shell that is not there': () =>
    stage(settings(sh('exit 0', { persistent: true, shell: 'powershell' })), { env: {} }).call(),
  'a function that answers with what is nested too deep': () =>
    stage([
      defineHook('PreToolUse', function deep() {
        let reason: unknown = 'r'
        for (let level = 0; level < 600; level++) reason = [reason]
        return { decision: 'block', reason } as never
      }),
    ]).call(),
  'a function that answers with an object of its own kind': () =>
    stage([defineHook('PreToolUse', (() => new (class Answer {})()) as never, { name: 'odd' })]).call(),
  'a function that answers with an empty object': () => stage([defineHook('PreToolUse', () => ({}))]).call(),
  'a function that answers with an empty object without a prototype': () =>
    stage([defineHook('PreToolUse', () => Object.create(null))]).call(),
  'a model at a step: a verdict, words, nothing': async () => {
    const replies = ['{"control":"continue"}', 'looks fine', ' ']
    const hook = settings({ hook_event_name: 'before_turn_end', type: 'prompt', system: 'Judge.', model: 'small' })
    const left: Left[] = []
    for (const reply of replies)
      left.push(await stage(hook, { askModel: async () => reply }).ask('before_turn_end', turnEnd()))
    return { answer: {}, rows: [], step: left }
  },
  'what a model is asked': async () => {
    const asked: unknown[] = []
    const askModel = async ({ signal, ...question }: { signal: AbortSignal }) => {
      asked.push({ ...question, isAborted: signal.aborted })
      return ''
    }
    const hook = settings({
      ...{ hook_event_name: 'before_turn_end', type: 'prompt', system: 'Judge.', model: 'small' },
      render: { template: '{{stop_reason}} {{voluntary}}' },
    })
    const left = await stage(hook, { askModel }).ask('before_turn_end', turnEnd())
    return { ...left, step: asked }
  },
  'what a function is given': async () => {
    const given: unknown[] = []
    const keep = ({ context: { signal, ...context }, agent, timestamp, ...own }: StandardArgs) => {
      given.push({ ...own, context, agent, timestamp, isAborted: signal.aborted })
    }
    const handlers = [
      defineHook('PreToolUse', function event(args) {
        keep(args)
        return undefined
      }),
      defineStepHook('before_tool_apply', function step(args) {
        keep(args)
        return undefined
      }),
    ]
    const at = new Date(0)
    const where = { projectDir: '/w', permissionMode: 'plan', toolUseId: 't9', agentId: 'a', agentType: 'explore', at }
    const left = await stage(handlers, {}, where).both('before_tool_apply', toolStep(), preToolUse())
    return { ...left, step: given }
  },
  'rules: one that matches the call, one that does not, and one where there is no call': () =>
    stage(
      [
        defineHook('PreToolUse', function yes() {}, { if: 'Bash(ls)' }),
        defineHook('PreToolUse', function no() {}, { if: 'Bash(git *)' }),
        defineStepHook('before_ingest', function none() {}, { if: 'Bash(ls)' }),
      ],
      { matchesRule: (rule, tool, input) => rule === `${tool}(${input['command']})` },
    ).call(),
  'a hook that asks for a sandbox, where the session has one of its own': () =>
    stage(
      settings(sh('exit 0', { sandbox: true })),
      { wrap: saying("the plane's") },
      { wrap: saying("the session's") },
    ).call(),
  'two hooks that ask': () =>
    stage([
      defineHook('PreToolUse', function first() {
        return ask('sure?')
      }),
      defineHook('PreToolUse', function second() {
        return ask('really?')
      }),
    ]).call(),
  'a hook that asks, and a guard of the step that fails after it': () =>
    stage([
      defineHook('PreToolUse', function first() {
        return ask('sure?')
      }),
      defineStepHook('before_tool_apply', boom),
    ]).both('before_tool_apply', toolStep(), preToolUse()),
  'a function that answers with an object of its own kind, which has fields': () =>
    stage([
      defineHook('PreToolUse', function answers() {
        return new Refusal('no')
      }),
    ]).call(),
}

const expected = JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures/rows.json'), 'utf8'))
test('each scene has its fixture', () => assert.deepEqual(Object.keys(scenes), Object.keys(expected)))
for (const [name, scene] of Object.entries(scenes))
  test(`the answer, the notes and the rows: ${name}`, async () =>
    assert.deepEqual(JSON.parse(JSON.stringify(await scene())), expected[name]))

test('once: asked again only where it failed, and once for each session', async () => {
  const asked: string[] = []
  const plane = createPlane([
    defineHook(
      'Notification',
      ({ context, message }) => {
        asked.push(`${context.sessionId} ${message}`)
        if (message === 'fail') throw new Error('not yet')
        return undefined
      },
      { once: true },
    ),
  ])
  const scopeOf = (sessionId: string) => ({ sessionId, conversationId: 'c', dbPath: '', cwd: '/', record() {} })
  const tell = (sessionId: string, message: string) =>
    plane.raise('Notification', { message, notification_type: 'x' }, scopeOf(sessionId))
  for (const [session, message] of ['a fail', 'a one', 'a two', 'b three', 'b four'].map((each) => each.split(' ')))
    await tell(session!, message!)
  assert.deepEqual(asked, ['a fail', 'a one', 'b three'])
  const steps: string[] = []
  const stepped = createPlane([
    defineStepHook(
      'before_tool_apply',
      ({ step }) => {
        steps.push(step.toolName)
        if (step.toolName === 'Fail') throw new Error('not yet')
        return undefined
      },
      { once: true },
    ),
  ])
  for (const toolName of ['Fail', 'One', 'Two'])
    await stepped.ask('before_tool_apply', { ...toolStep(), toolName }, scopeOf('a'))
  assert.deepEqual(steps, ['Fail', 'One'])
})

test('of a function whose answer and whose writing are both wrong, both warnings are recorded', async () => {
  const { ask } = stage([
    defineStepHook('before_generate', function both({ step }) {
      ;(step as { assistantText: unknown }).assistantText = 7
      return { model: 7 } as never
    }),
  ])
  const step = { model: 'm', messageCount: 1, attempt: 0, assistantText: null }
  const warning = 'model has the wrong type; ignored; step.assistantText has the wrong type; ignored'
  const hook = { event: 'before_generate', command: 'function:both' }
  assert.deepEqual(await ask('before_generate', step), {
    answer: { notes: [{ hook: hook.command, event: hook.event, effect: 'warned', reason: warning }] },
    rows: [{ ...hook, stdout: '{"model":7}', stderr: `[SDLC_HOOK] ${warning}` }],
  })
  assert.deepEqual([step.model, step.assistantText], ['m', null])
})

test('what a function wrote into a step is dropped with a verdict that cannot be used', async () => {
  const said: Record<string, unknown> = {
    ...{ fine: undefined, 'an unknown control': { control: 'sideways' }, 'a bad field': { result: 7 } },
    'a bad refusal': { control: 'veto', result: 7 },
    'a bad field, and a control out of place': { control: 'continue', result: 7 },
  }
  const scope = { sessionId: 's', conversationId: 'c', dbPath: '', cwd: '/', record() {} }
  const left: Record<string, unknown> = {}
  for (const [name, verdict] of Object.entries(said)) {
    const write = ({ step }: { step: Steps['before_tool_apply'] }) => {
      step.args = { written: true }
      return verdict as never
    }
    const state = toolStep()
    const plane = createPlane([defineStepHook('before_tool_apply', write, { onError: 'proceed' })])
    const { control } = await plane.ask('before_tool_apply', state, scope)
    left[name] = [control.kind, state.args]
  }
  assert.deepEqual(left, {
    fine: ['proceed', { written: true }],
    'an unknown control': ['proceed', {}],
    'a bad field': ['proceed', {}],
    'a bad refusal': ['break', {}],
    'a bad field, and a control out of place': ['proceed', {}],
  })
})

test('a row has the time at which its handler was asked, and the time at which it had answered', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 0 })
  const times: unknown[] = []
  const scope: Scope = {
    ...{ sessionId: 's', conversationId: 'c', dbPath: '', cwd: '/' },
    record: ({ startedAt, completedAt }) => times.push([startedAt, completedAt]),
  }
  const plane = createPlane([
    defineStepHook('before_tool_apply', () => {
      t.mock.timers.tick(5)
    }),
    defineHook('PreToolUse', () => {
      t.mock.timers.tick(7)
      return { decision: 'block' }
    }),
    defineHook('PreToolUse', () => undefined),
  ])
  await plane.ask('before_tool_apply', toolStep(), scope, preToolUse())
  const at = (ms: number) => `1970-01-01T00:00:00.0${String(ms).padStart(2, '0')}Z`
  assert.deepEqual(times, [
    [at(0), at(5)],
    [at(5), at(12)],
    [at(12), null],
  ])
})

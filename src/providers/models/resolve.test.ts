import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ResolveInput, resolveModel, settle } from './resolve.ts'

const chosen = (input: Partial<ResolveInput>) => {
  const resolved = resolveModel({ settings: {}, env: {}, anthropic: undefined, ...input })
  if (!resolved.ok) return resolved.problem
  const { provider, modelId, wireModel, why } = resolved.choice
  return [provider, modelId, wireModel, why]
}
const openai = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }
const key = 'ANTHROPIC_API_KEY is set'

test('each documented id has its wire name', () => {
  const config = (provider: string, model_id: string) =>
    chosen({ settings: { model_config: { provider, model_id } }, env: { ...openai, LM_STUDIO_MODEL: 'qwen' } })[2]
  assert.deepEqual(
    [
      config('claude_code_subscription', 'claude_opus_4'),
      config('claude_code_subscription', 'claude_sonnet_4'),
      config('claude_code_subscription', 'claude_3_5_haiku'),
      config('openai_compatible', 'gpt_4o'),
      config('openai_compatible', 'gpt_4o_mini'),
      config('openai_compatible', 'o3'),
      config('openai_compatible', 'o3_mini'),
      config('lm_studio_local', 'lm_studio_server_routed'),
    ],
    [
      'claude-opus-4-20250514',
      'claude-sonnet-4-20250514',
      'claude-3-5-haiku-20241022',
      'gpt-4o',
      'gpt-4o-mini',
      'o3',
      'o3-mini',
      'qwen',
    ],
  )
})

test('with nothing chosen, it is whatever there are credentials for', () => {
  const lm = { LM_STUDIO_MODEL: 'qwen', LM_STUDIO_BASE_URL: 'http://127.0.0.1:1/v1' }
  assert.deepEqual(chosen({ env: { ...openai, ...lm }, anthropic: key }), [
    'claude_code_subscription',
    'claude_sonnet_4',
    'claude-sonnet-4-20250514',
    key,
  ])
  assert.deepEqual(chosen({ env: { ...openai, ...lm } }), [
    'openai_compatible',
    'gpt_4o',
    'gpt-4o',
    'OPENAI_API_KEY and OPENAI_BASE_URL are set',
  ])
  assert.deepEqual(chosen({ env: { OPENAI_API_KEY: 'k', ...lm } }), [
    'lm_studio_local',
    'lm_studio_server_routed',
    'qwen',
    'LM_STUDIO_MODEL is set',
  ])
  assert.deepEqual(chosen({ env: { LM_STUDIO_BASE_URL: 'http://127.0.0.1:1/v1' } }), [
    'lm_studio_local',
    'lm_studio_server_routed',
    undefined,
    'LM_STUDIO_BASE_URL is set',
  ])
})

test('the flag is above the stored choice, which is above ANTHROPIC_MODEL, which is above the setting model', () => {
  const settings = { model_config: { provider: 'openai_compatible', model_id: 'o3' }, model: 'haiku' }
  const env = { ...openai, ANTHROPIC_MODEL: 'opus' }
  assert.equal(chosen({ settings, env, flag: 'sonnet' })[1], 'claude_sonnet_4')
  assert.equal(chosen({ settings, env })[1], 'o3')
  assert.equal(chosen({ settings: { model: 'haiku' }, env })[1], 'claude_opus_4')
  assert.equal(chosen({ settings: { model: 'haiku' }, env: openai })[1], 'claude_3_5_haiku')
  assert.equal(chosen({ settings: { model: 'default' }, env: openai, flag: 'default' })[1], 'gpt_4o')
})

test('an id, an alias and a wire name are all names of a model', () => {
  for (const flag of ['opus', 'claude_opus_4', 'claude-opus-4-20250514', 'claude_code_subscription/claude_opus_4'])
    assert.equal(chosen({ flag })[1], 'claude_opus_4', flag)
  const env = { ANTHROPIC_DEFAULT_OPUS_MODEL: 'claude-opus-9' }
  assert.deepEqual(chosen({ flag: 'opus', env }).slice(1, 3), ['claude_opus_4', 'claude-opus-9'])
})

test('a wrong model_id is refused before anything is sent, with the right ones named', () => {
  const config = (model_config: unknown) => chosen({ settings: { model_config }, env: openai })
  assert.equal(
    config({ provider: 'openai_compatible', model_id: 'claude_opus_4' }),
    'model_config.model_id "claude_opus_4" is no model of openai_compatible; it has gpt_4o, gpt_4o_mini, o3, o3_mini',
  )
  assert.equal(
    config({ provider: 'lm_studio_local', model_id: 'toString' }),
    'model_config.model_id "toString" is no model of lm_studio_local; it has lm_studio_server_routed',
  )
  assert.match(config({ provider: 'openai_compatible' }) as string, /model_id is missing; it has gpt_4o/)
  assert.match(
    config({ provider: 'bedrock', model_id: 'x' }) as string,
    /provider must be one of claude_code_subscription,/,
  )
  assert.match(
    config({ provider: 'openai_compatible', model_id: 'o3', api_key: 'sk-x' }) as string,
    /model_config\.api_key is an unknown key; only provider and model_id/,
  )
  assert.match(config('opus') as string, /must be an object/)
})

test('what a provider needs of the environment is asked for before anything is sent', () => {
  const config = (provider: string, model_id: string, env = {}) =>
    chosen({ settings: { model_config: { provider, model_id } }, env })
  assert.match(config('openai_compatible', 'o3') as string, /needs OPENAI_BASE_URL/)
  assert.match(config('lm_studio_local', 'lm_studio_server_routed') as string, /needs LM_STUDIO_MODEL/)
  const ftp = { ANTHROPIC_BASE_URL: 'ftp://x' }
  assert.match(
    config('claude_code_subscription', 'claude_opus_4', ftp) as string,
    /ANTHROPIC_BASE_URL must be an address/,
  )
})

test('a name that only the server knows waits for its list', () => {
  const resolved = resolveModel({ settings: {}, env: openai, flag: 'openai_compatible/llama', anthropic: key })
  assert.ok(resolved.ok && resolved.choice.unlisted)
  assert.equal(resolved.choice.wireModel, 'llama')
  const settled = settle(resolved.choice, ['llama', 'qwen'])
  assert.deepEqual(settled.ok && [settled.choice.wireModel, settled.choice.unlisted], ['llama', undefined])
  assert.deepEqual(settle(resolved.choice, ['qwen']), {
    ok: false,
    problem: 'openai_compatible: the server has no model "llama"; it lists qwen',
  })
  assert.equal(chosen({ flag: 'llama', env: openai })[2], 'llama')
})

test('where the environment names only the address, the first model that the server lists is taken', () => {
  const resolved = resolveModel({
    settings: {},
    env: { LM_STUDIO_BASE_URL: 'http://127.0.0.1:1/v1' },
    anthropic: undefined,
  })
  assert.ok(resolved.ok)
  const settled = settle(resolved.choice, ['qwen', 'llama'])
  assert.equal(settled.ok && settled.choice.wireModel, 'qwen')
  assert.match((settle(resolved.choice, []) as { problem: string }).problem, /lists no model; load one/)
})

test('without any credential it is an authentication failure, and on a terminal the rehearsal model', () => {
  const none = resolveModel({ settings: {}, env: {}, anthropic: undefined })
  assert.ok(!none.ok && none.authentication)
  assert.match(none.problem, /^no credentials were found: run ona login, or set ANTHROPIC_API_KEY/)
  const terminal = (env: NodeJS.ProcessEnv, more: Partial<ResolveInput> = {}) =>
    resolveModel({ settings: {}, env, anthropic: undefined, rehearsalByDefault: true, ...more })
  const why = (resolved: ReturnType<typeof terminal>) =>
    resolved.ok ? [resolved.choice.rehearsal, resolved.choice.why] : resolved
  assert.deepEqual(why(terminal({})), [true, 'no credentials were found'])
  assert.deepEqual(why(terminal({ OPENAI_API_KEY: 'k' })), [
    true,
    'no credentials were found (OPENAI_API_KEY needs OPENAI_BASE_URL)',
  ])
})

test('a configured provider without its credential is never replaced', () => {
  const cases: [NodeJS.ProcessEnv, readonly string[], RegExp][] = [
    [{ OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }, [], /^OPENAI_BASE_URL is set, but OPENAI_API_KEY is not/],
    [{ ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' }, [], /^ANTHROPIC_BASE_URL is set, but no Anthropic credential/],
    [{}, ['the login is not used with --bare'], /^no credential counts here: the login is not used with --bare/],
  ]
  for (const [env, unused, problem] of cases) {
    const resolved = resolveModel({ settings: {}, env, anthropic: undefined, unused, rehearsalByDefault: true })
    assert.ok(!resolved.ok && resolved.authentication)
    assert.match(resolved.problem, problem)
  }
})

test('any wire name of a provider is taken', () => {
  const wire = (flag: string, more: Partial<ResolveInput> = {}) => chosen({ flag, ...more }).slice(0, 3)
  const claude = 'claude_code_subscription'
  assert.deepEqual(wire('claude-opus-5-5', { anthropic: key }), [claude, 'claude_sonnet_4', 'claude-opus-5-5'])
  assert.deepEqual(wire(`${claude}/my-own-name`, { anthropic: key }), [claude, 'claude_sonnet_4', 'my-own-name'])
  assert.deepEqual(chosen({ env: { ANTHROPIC_MODEL: 'claude-fable-6' } }).slice(2), [
    'claude-fable-6',
    'ANTHROPIC_MODEL',
  ])
  const listed = [{ id: 'new-line-1' }]
  assert.deepEqual(wire('new-line-1', { anthropic: key, listed }), [claude, 'claude_sonnet_4', 'new-line-1'])
  assert.deepEqual(wire('gpt-6-sol', { anthropic: key, env: openai }), ['openai_compatible', 'gpt_4o', 'gpt-6-sol'])
  // what looks like Claude's goes to the provider that there are credentials for
  assert.deepEqual(wire('claude-opus-5-5', { env: openai }), ['openai_compatible', 'gpt_4o', 'claude-opus-5-5'])
  assert.match(
    chosen({ flag: 'nonsense', anthropic: key }) as string,
    /there is no model "nonsense"; known: claude_opus_4,/,
  )
  assert.match(chosen({ flag: `${claude}/a b` }) as string, /is no model name/)
})

test('opus, sonnet and haiku are the newest of the family that the server lists', () => {
  const listed = [
    { id: 'claude-opus-5-5', createdAt: '2026-08-01T00:00:00Z' },
    { id: 'claude-opus-6', createdAt: '2026-10-01T00:00:00Z', retired: true as const },
    { id: 'claude-opus-4-8', createdAt: '2026-05-01T00:00:00Z' },
    { id: 'claude-3-7-sonnet-20250219' },
    { id: 'claude-sonnet-4-5-20250929' },
  ]
  const wire = (flag: string, env = {}) => chosen({ flag, env, listed, anthropic: key })[2]
  assert.deepEqual(
    ['opus', 'sonnet', 'haiku', 'claude_code_subscription/opus', 'claude_opus_4'].map((flag) => wire(flag)),
    [
      'claude-opus-5-5',
      'claude-sonnet-4-5-20250929',
      'claude-3-5-haiku-20241022',
      'claude-opus-5-5',
      'claude-opus-4-20250514',
    ],
  )
  assert.equal(wire('opus', { ANTHROPIC_DEFAULT_OPUS_MODEL: 'claude-opus-9' }), 'claude-opus-9')
  assert.equal(chosen({ listed, anthropic: key })[2], 'claude-sonnet-4-5-20250929')
  assert.equal(
    chosen({ listed, settings: { availableModels: ['opus'] }, flag: 'opus', anthropic: key })[2],
    'claude-opus-5-5',
  )
})

test('[1m] asks for the long context of a Claude model', () => {
  const resolved = resolveModel({ settings: {}, env: {}, anthropic: key, flag: 'sonnet[1m]' })
  assert.ok(resolved.ok)
  assert.deepEqual([resolved.choice.wireModel, resolved.choice.longContext], ['claude-sonnet-4-20250514', true])
  assert.match(chosen({ flag: 'gpt-4o[1m]', env: openai }) as string, /only Claude models take \[1m\]/)
})

test('availableModels limits what can be chosen by name', () => {
  const settings = { availableModels: ['haiku', 'claude-sonnet-4-20250514', 'openai_compatible/llama'] }
  for (const flag of ['haiku', 'claude_3_5_haiku', 'sonnet'])
    assert.equal(typeof chosen({ settings, flag }), 'object', flag)
  assert.equal(typeof chosen({ settings, flag: 'openai_compatible/llama', env: openai }), 'object')
  assert.match(
    chosen({ settings, flag: 'opus' }) as string,
    /do not allow the model "opus"; availableModels has haiku,/,
  )
  assert.match(chosen({ settings, env: { ANTHROPIC_MODEL: 'opus' } }) as string, /do not allow/)
  assert.equal(typeof chosen({ settings: { ...settings, availableModels: [] }, anthropic: key }), 'object')
})

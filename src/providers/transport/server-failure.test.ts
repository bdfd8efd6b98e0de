import assert from 'node:assert/strict'
import { test } from 'node:test'
import { broken, refused } from './server-failure.ts'

/** Each as its server words it; LM Studio has had three. */
const tooLong: Record<string, [status: number, error: unknown]> = {
  Anthropic: [400, { type: 'invalid_request_error', message: 'prompt is too long: 206631 tokens > 200000 maximum' }],
  'Anthropic, with the limit of the reply': [
    400,
    {
      type: 'invalid_request_error',
      message:
        'input length and `max_tokens` exceed context limit: 143653 + 64000 > 200000, decrease input length or `max_tokens` and try again',
    },
  ],
  'Amazon Bedrock': [400, { message: 'Input is too long for requested model.' }],
  OpenAI: [400, { code: 'context_length_exceeded', message: 'Your input exceeds the context window of this model.' }],
  'vLLM, OpenRouter': [
    400,
    { message: "This model's maximum context length is 8192 tokens. However, you requested 9000" },
  ],
  xAI: [400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens."],
  Gemini: [400, { message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).' }],
  'llama.cpp': [
    500,
    { type: 'exceed_context_size_error', message: 'the request exceeds the available context size, try increasing it' },
  ],
  'llama.cpp, later': [
    400,
    { message: 'request (9009 tokens) exceeds the available context size (4096 tokens), try increasing it' },
  ],
  'LM Studio': [
    400,
    'Trying to keep the first 7846 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
  ],
  'LM Studio, later': [
    400,
    'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096).',
  ],
  'LM Studio, MLX': [400, 'Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)'],
}

test('a request that does not fit the window is known by what each server says, and not sent again as it is', () => {
  for (const [server, [status, error]] of Object.entries(tooLong))
    for (const { failure, again } of [refused(status, {}, JSON.stringify({ error }), 'h'), broken(error, 'h')])
      assert.deepEqual([server, failure.kind, failure.contextOverflow, again], [server, 'invalid-request', true, false])
})

test('the window that a server names is known', () => {
  const named = Object.entries(tooLong).map(([server, [, error]]) => [server, broken(error, 'h').failure.contextWindow])
  assert.deepEqual(Object.fromEntries(named), {
    Anthropic: 200_000,
    'Anthropic, with the limit of the reply': 200_000,
    'Amazon Bedrock': undefined,
    OpenAI: undefined,
    'vLLM, OpenRouter': 8192,
    xAI: 131_072,
    Gemini: 1_048_576,
    'llama.cpp': undefined,
    'llama.cpp, later': 4096,
    'LM Studio': 4096,
    'LM Studio, later': 4096,
    'LM Studio, MLX': 7424,
  })
  const windowOf = (tokens: number) =>
    broken({ message: `prompt is too long: 9 tokens > ${tokens} maximum` }, 'h').failure.contextWindow
  assert.deepEqual([windowOf(1024), windowOf(1023), windowOf(0)], [1024, undefined, undefined])
})

test('other failures that mention lengths and contexts are not taken for it', () => {
  for (const [status, message] of [
    [500, 'context deadline exceeded'],
    [400, 'max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens'],
    [400, 'tools.0.name: String should have at most 128 characters'],
    [429, 'This request would exceed your rate limit of 40,000 input tokens per minute'],
  ] as const)
    assert.equal(
      refused(status, {}, JSON.stringify({ error: { message } }), 'h').failure.contextOverflow,
      undefined,
      message,
    )
})

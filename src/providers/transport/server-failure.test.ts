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
  'LM Studio, while it answers': [500, { type: 'server_error', message: 'Context size has been exceeded.' }],
  'llama.cpp, in a field': [
    400,
    { type: 'exceed_context_size_error', message: 'the request does not fit', n_prompt_tokens: 9009, n_ctx: 4096 },
  ],
  'Anthropic, by bytes': [413, { type: 'request_too_large', message: 'Request exceeds the maximum size' }],
  'OpenAI, by the minute': [
    429,
    {
      type: 'tokens',
      code: 'rate_limit_exceeded',
      message:
        'Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 40311. The input or output tokens must be reduced in order to run successfully.',
    },
  ],
  'OpenAI, configured': [
    400,
    { message: 'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300123 tokens.' },
  ],
  'GitHub Copilot': [400, { message: 'prompt token count of 140000 exceeds the limit of 128000' }],
  Groq: [400, { message: 'Please reduce the length of the messages or completion.' }],
  Cerebras: [
    400,
    {
      message: 'Please reduce the length of the messages or completion. Current length is 9011 while limit is 8192',
    },
  ],
  Mistral: [
    400,
    {
      message:
        'Prompt contains 588239 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
    },
  ],
  Kimi: [400, { message: 'Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)' }],
  MiniMax: [400, { message: 'invalid params, context window exceeds limit (2013)' }],
  DashScope: [
    400,
    { message: '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]' },
  ],
  'z.ai': [400, { code: '1261', message: 'Prompt exceeds max length' }],
  'Together, SGLang': [
    400,
    { message: "The input (516368 tokens) is longer than the model's context length (131072 tokens)." },
  ],
  'SGLang, with the limit of the reply': [
    400,
    { message: "Requested token count exceeds the model's maximum context length of 131072 tokens." },
  ],
  'vLLM, earlier': [
    400,
    { message: 'The decoder prompt (length 9011) is longer than the maximum model length of 4096.' },
  ],
  'vLLM, later': [400, { message: "Input length (265330) exceeds model's maximum context length (262144)." }],
  'Text Generation Inference, with the limit of the reply': [
    422,
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 9011 `inputs` tokens and 100 `max_new_tokens`',
  ],
  'Text Generation Inference': [422, 'Input validation error: `inputs` must have less than 4096 tokens. Given: 9011'],
  Fireworks: [400, { message: 'The prompt is too long: 140011, model maximum context length: 131072' }],
  Ollama: [400, { message: 'prompt too long; exceeded max context length by 411 tokens' }],
  Poolside: [400, { message: 'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.' }],
  Cohere: [
    400,
    {
      message:
        'too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354. Try using a shorter prompt or a smaller max_tokens value.',
    },
  ],
  'Workers AI': [
    400,
    {
      message:
        'AiError: The estimated number of input and maximum output tokens (9011) exceeded this model context window limit (8192).',
    },
  ],
  watsonx: [
    400,
    { message: 'the number of input tokens 9011 cannot exceed the total tokens limit 4096 for this model' },
  ],
  'Amazon Nova': [
    400,
    { message: 'Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input.' },
  ],
  'OpenRouter, in the words of the provider': [
    400,
    {
      code: 400,
      message: 'Provider returned error',
      metadata: {
        raw: '{"error":{"message":"prompt is too long: 206631 tokens > 200000 maximum"}}',
        provider_name: 'A',
      },
    },
  ],
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
    'LM Studio, while it answers': undefined,
    'llama.cpp, in a field': 4096,
    'Anthropic, by bytes': undefined,
    'OpenAI, by the minute': 30_000,
    'OpenAI, configured': 272_000,
    'GitHub Copilot': 128_000,
    Groq: undefined,
    Cerebras: 8192,
    Mistral: 131_072,
    Kimi: 262_144,
    MiniMax: undefined,
    DashScope: 30_720,
    'z.ai': undefined,
    'Together, SGLang': 131_072,
    'SGLang, with the limit of the reply': 131_072,
    'vLLM, earlier': 4096,
    'vLLM, later': 262_144,
    'Text Generation Inference, with the limit of the reply': 4096,
    'Text Generation Inference': 4096,
    Fireworks: 131_072,
    Ollama: undefined,
    Poolside: 131_040,
    Cohere: 2048,
    'Workers AI': 8192,
    watsonx: 4096,
    'Amazon Nova': undefined,
    'OpenRouter, in the words of the provider': 200_000,
  })
  const windowOf = (tokens: number) =>
    broken({ message: `prompt is too long: 9 tokens > ${tokens} maximum` }, 'h').failure.contextWindow
  assert.deepEqual([windowOf(1024), windowOf(1023), windowOf(0)], [1024, undefined, undefined])
})

test('what is too large by its status alone, or comes in a list as from Gemini, is known, too', () => {
  const page = '<html><head><title>413 Request Entity Too Large</title></head><center>nginx</center></html>'
  const gemini = { code: 400, message: 'The input token count exceeds the maximum number of tokens allowed 1048576.' }
  const failures = [refused(413, {}, page, 'h'), refused(400, {}, JSON.stringify([{ error: gemini }]), 'h')]
  assert.deepEqual(
    failures.map(({ failure: { kind, contextOverflow, contextWindow }, again }) => [
      ...[kind, contextOverflow, contextWindow, again],
    ]),
    [
      ['invalid-request', true, undefined, false],
      ['invalid-request', true, 1_048_576, false],
    ],
  )
})

test('servers that have no message say it in a detail or in a list', () => {
  const said = (body: unknown) => {
    const { message, contextWindow } = refused(400, {}, JSON.stringify(body), 'h').failure
    return [message, contextWindow]
  }
  assert.deepEqual(
    [
      said({ detail: 'Requested tokens (9011) exceed context window of 4096' }),
      said({ detail: [{ loc: ['body', 'model'], msg: 'Field required', input: { messages: 'prompt is too long' } }] }),
      said({ success: false, errors: [{ code: 1, message: 'no such model' }] }),
      ...[{ error: null, detail: null }, { detail: [], errors: [null] }, {}, []].map(said),
    ],
    [
      ['h answered 400: Requested tokens (9011) exceed context window of 4096', 4096],
      ['h answered 400: Field required', undefined],
      ['h answered 400: no such model', undefined],
      ...Array(4).fill(['h answered 400', undefined]),
    ],
  )
})

test('other failures that mention lengths and contexts are not taken for it', () => {
  for (const [status, message] of [
    [500, 'context deadline exceeded'],
    [400, 'max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens'],
    [400, 'tools.0.name: String should have at most 128 characters'],
    [429, 'This request would exceed your rate limit of 40,000 input tokens per minute'],
    [429, 'Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 4000.'],
    [429, 'Too many tokens, please wait before trying again.'],
    [400, 'messages: at least one message is required; the limit of 100 images was exceeded'],
    [429, 'The number of tokens per minute exceeds the limit of 30000'],
    [400, 'the number of output tokens 9000 exceeds the limit of 8192'],
    [400, 'max_tokens 20000 exceeds the limit of 8192'],
    [400, 'the number of tools 129 exceeds the limit of 128'],
    [400, 'the size of image 1 exceeds the limit of 5242880'],
    [400, 'tools[0].function.description exceeds max length 1024'],
    [400, 'The maximum tokens you requested exceeds the model limit of 32768'],
  ] as const)
    assert.equal(
      refused(status, {}, JSON.stringify({ error: { message } }), 'h').failure.contextOverflow,
      undefined,
      message,
    )
})

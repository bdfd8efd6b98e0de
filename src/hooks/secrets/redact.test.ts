import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createRedactor, redact, secretIn } from './redact.ts'

test('what looks like a secret goes, and what stands around it stays', () => {
  const cases: [string, string][] = [
    ['{"api_key":"abc","n":1}', '{"api_key":"[redacted]","n":1}'],
    ['{"a":{"Authorization":"Bearer x.y"},"b":2}', '{"a":{"Authorization":"[redacted]"},"b":2}'],
    ['{"password":"a\\"b\\\\","c":"d"}', '{"password":"[redacted]","c":"d"}'],
    ['{"content":"{\\"token\\":\\"abc\\",\\"k\\":1}"}', '{"content":"{\\"token\\":\\"[redacted]\\",\\"k\\":1}"}'],
    ['curl -H "Authorization: Bearer abcdefghijkl.mno"', 'curl -H "Authorization: Bearer [redacted]"'],
    ['"header\\nAuthorization: Basic dXNlcjpwYXNzd29yZA=="', '"header\\nAuthorization: Basic [redacted]"'],
    ['export API_KEY=abc123def; ls', 'export API_KEY=[redacted]; ls'],
    ['password: hunter22', 'password: [redacted]'],
    ['sk-ant-api03-abcdefghijklmnop x', '[redacted] x'],
    ['ghp_abcdefghijklmnopqrstuvwxyz0123456789', '[redacted]'],
    ['AKIAIOSFODNN7EXAMPLE', '[redacted]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def', '[redacted]'],
    [
      '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----',
      '-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----',
    ],
    ['"-----BEGIN PRIVATE KEY-----\\nMIIE","b":1', '"-----BEGIN PRIVATE KEY-----[redacted]","b":1'],
  ]
  for (const [text, expected] of cases) assert.equal(redact(text), expected)
  const nested = (token: string) => JSON.stringify({ content: JSON.stringify({ token, k: 1 }) })
  for (const token of ['ab\\', 'a"b', '\\\\"', 'ab\\\\'])
    assert.equal(redact(nested(token)), nested('[redacted]'), token)
})

test('each well-known form from its shortest on, whatever the case; one character less is none', () => {
  const a = (count: number) => 'a'.repeat(count)
  const forms: [string, string][] = [
    ['sk-', a(16)],
    ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'].map((head): [string, string] => [head, a(20)]),
    ['glpat-', a(16)],
    ['AKIA', a(16)],
    ['ASIA', a(16)],
    ['AIza', a(30)],
    ...['xoxa-', 'xoxb-', 'xoxe-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-'].map((head): [string, string] => [head, a(10)]),
    ['npm_', a(30)],
    ['hf_', a(30)],
    ...['rk_live_', 'rk_test_', 'sk_live_', 'sk_test_'].map((head): [string, string] => [head, a(16)]),
    [`eyJ${a(8)}.eyJ`, a(8)],
  ]
  for (const [head, rest] of forms) {
    assert.equal(redact(`x ${head}${rest} y`), 'x [redacted] y', head)
    assert.equal(redact(`x ${head}${rest.slice(1)} y`), `x ${head}${rest.slice(1)} y`, head)
    assert.equal(redact(`x ${head.toUpperCase()}${rest} y`), 'x [redacted] y', head)
    assert.equal(secretIn(`x ${head}${rest} y`), `${head}${rest}`)
  }
  for (const scheme of ['Bearer ', 'basic\t', 'Bearer    ']) {
    assert.equal(redact(`x ${scheme}${a(12)}.`), `x ${scheme}[redacted]`)
    assert.equal(redact(`x ${scheme}${a(11)}`), `x ${scheme}${a(11)}`)
    assert.equal(secretIn(`x ${scheme}${a(12)}`), a(12))
  }
  assert.equal(secretIn('nothing of the kind: token=abc123def'), undefined)
  assert.equal(secretIn('-----BEGIN PRIVATE KEY-----'), '-----BEGIN PRIVATE KEY-----')
})

test('a value without quotes goes where it can be a secret', () => {
  const rows: [string, string][] = [
    ['TOKEN=abcdef', 'TOKEN=[redacted]'],
    ['TOKEN=abcde', 'TOKEN=abcde'],
    ['TOKEN=123456.7', 'TOKEN=123456.7'],
    ['TOKEN=$ABCDEF', 'TOKEN=$ABCDEF'],
    ['TOKEN=process.env.X', 'TOKEN=process.env.X'],
    ['TOKEN=bearer1', 'TOKEN=[redacted]'],
    ['authorization=bearer', 'authorization=bearer'],
    ['token: abcdef', 'token: abcdef'],
    ['token: abcdef1', 'token: [redacted]'],
    ['token:abcdef1', 'token:[redacted]'],
    ['token = abcdef1', 'token = abcdef1'],
    ['token= abcdef1', 'token= abcdef1'],
    ['"token":abcdef1', '"token":abcdef1'],
    ['TOKEN=abc,def123', 'TOKEN=abc,def123'],
    ['TOKEN=abcdef;TOKEN=ghijkl', 'TOKEN=[redacted];TOKEN=[redacted]'],
    ['TOKEN=[redacted]', 'TOKEN=[redacted]'],
    ["TOKEN='a b'x", "TOKEN='[redacted]'x"],
    ["TOKEN=''", "TOKEN=''"],
    ["TOKEN='never closed", "TOKEN='[redacted]"],
    ['x_api-keys: "a" b', 'x_api-keys: "[redacted]" b'],
    ['myCredentials = "a"', 'myCredentials = "[redacted]"'],
    ['tokenizer: "a"', 'tokenizer: "a"'],
    ['-----BEGIN PRIVATE KEY-----\nMIIE "b', '-----BEGIN PRIVATE KEY-----[redacted]"b'],
    ['-----BEGIN PRIVATE KEY-----\nMIIE', '-----BEGIN PRIVATE KEY-----[redacted]'],
  ]
  for (const [text, expected] of rows) assert.equal(redact(text), expected, text)
})

test('in JSON a value ends with its string, and text after it is looked at again', () => {
  const rows: [string, string][] = [
    ['{"token":"a\\"b","c":"TOKEN=abcdef"}', '{"token":"[redacted]","c":"TOKEN=[redacted]"}'],
    ['{"a":"TOKEN=\\"b c\\" d"}', '{"a":"TOKEN=\\"[redacted]\\" d"}'],
    ['{"a":"TOKEN=","b":"c"}', '{"a":"TOKEN=","b":"c"}'],
    [`{"a":"TOKEN='b","c":"d'"}`, `{"a":"TOKEN='[redacted]","c":"d'"}`],
    [
      '{"a":"-----BEGIN PRIVATE KEY-----x","b":"-----END"}',
      '{"a":"-----BEGIN PRIVATE KEY-----[redacted]","b":"-----END"}',
    ],
    [
      '{"a":"-----BEGIN PRIVATE KEY-----x-----END y","b":1}',
      '{"a":"-----BEGIN PRIVATE KEY-----[redacted]-----END y","b":1}',
    ],
  ]
  for (const [text, expected] of rows) assert.equal(redact(text, 'json'), expected, text)
})

test('ordinary text stays as it is', () => {
  const texts = [
    '{"max_tokens":4096,"usage":{"input_tokens":120}}',
    'const token = readToken(input)',
    'TOKEN=$GITHUB_TOKEN ./run',
    'interface Props { token: string; password: string }',
    'task-sk-list skeleton risk-averse',
    'the tokenizer splits "a: b"',
    'git commit -m "basic bearer of news"',
  ]
  for (const text of texts) assert.equal(redact(text), text)
})

test('a value that the process holds goes wherever it stands', () => {
  assert.equal(createRedactor(['my.own+secret'])('x my.own+secret y'), 'x [redacted] y')
  assert.equal(createRedactor(['short'])('short'), 'short')
  assert.equal(createRedactor(['a secret', 'a secret of mine'])('a secret of mine, a secret'), '[redacted], [redacted]')
  const odd = 'a\\^$.*+?()[]{}|/-b'
  assert.equal(createRedactor([odd])(`x ${odd} TOKEN=abcdef`), 'x [redacted] TOKEN=[redacted]')
  assert.deepEqual(
    ['seven77', 'eight888'].map((value) => createRedactor([value])(value)),
    ['seven77', '[redacted]'],
  )
})

test('JSON stays JSON, with the same keys', () => {
  const key = fc.constantFrom('token', 'api_key', 'a', 'Authorization', 'x_password', 'note')
  const value = fc.oneof(
    fc.string(),
    fc.string().map((text) => `password="${text}"`),
    fc.json().map((text) => `{"token":${text}}`),
    fc.constant('-----BEGIN PRIVATE KEY-----\n"\\'),
  )
  fc.assert(
    fc.property(fc.dictionary(key, fc.oneof(value, fc.dictionary(key, value))), (object) => {
      const parsed = JSON.parse(redact(JSON.stringify(object)))
      assert.deepEqual(Object.keys(parsed), Object.keys(object))
    }),
    { numRuns: 1_000 },
  )
})

test('redacting twice changes nothing more', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.constantFrom(
          'token',
          '"',
          ':',
          '=',
          '\\',
          ' ',
          'Bearer ',
          'abcdefghijklmnop',
          'sk-',
          '-----BEGIN PRIVATE KEY-----',
        ),
      ),
      (parts) => {
        const once = redact(parts.join(''))
        assert.equal(redact(once), once)
      },
    ),
    { numRuns: 1_000 },
  )
})

test('the time grows with the text and no faster', () => {
  /** The least of several: what else the machine does only adds to it. */
  const took = (text: string) =>
    Math.min(
      ...Array.from({ length: 3 }, () => {
        const { user } = process.cpuUsage()
        redact(text)
        return (process.cpuUsage().user - user) / 1000
      }),
    )
  for (const part of [
    'token="',
    'token',
    'a'.repeat(64),
    '\\"token\\":\\"',
    '\\',
    'sk-',
    'Bearer ',
    '-----BEGIN ',
    'eyJaaaaaaaaa.',
    'eyJ',
  ]) {
    const small = part.repeat(10_000)
    const [one, eight] = [took(small), took(small.repeat(8))]
    // CPU time is counted in ticks of some milliseconds
    assert.ok(eight < 30 * Math.max(one, 4), `${part}: ${one} ms, eight times as much ${eight} ms`)
  }
})

test('in JSON a value whose quote is never closed ends with its string: JSON stays JSON, and no other field is lost', () => {
  for (const open of ["TOKEN='", "password: '", 'TOKEN="', '-----BEGIN PRIVATE KEY-----\n', "x\\\\'TOKEN=\\\\'"]) {
    const value = {
      a: `${open}abcdef0123456789 "quoted"`,
      b: "it's",
      c: '-----END PRIVATE KEY-----',
      d: [`${open}zzzz`],
    }
    const kept = JSON.parse(redact(JSON.stringify(value), 'json'))
    assert.deepEqual(
      { b: kept.b, c: kept.c, keys: Object.keys(kept) },
      { b: value.b, c: value.c, keys: ['a', 'b', 'c', 'd'] },
    )
    assert.ok(!kept.a.includes('abcdef0123456789'), kept.a)
  }
})

test('in JSON the end of a string is no quote that opens a value', () => {
  for (const text of ['TOKEN=', 'Cookie: ', 'password: \\\\', 'x TOKEN=\\'])
    assert.deepEqual(JSON.parse(redact(JSON.stringify({ a: text, b: 'kept' }), 'json')), { a: text, b: 'kept' })
})

test('what was redacted as JSON stays as it is, also where it is read as text', () => {
  const kept = redact(JSON.stringify({ a: "login --password='never closed", b: 'kept' }), 'json')
  assert.equal(kept, `{"a":"login --password='[redacted]","b":"kept"}`)
  assert.deepEqual([redact(kept), redact(kept, 'json')], [kept, kept])
})

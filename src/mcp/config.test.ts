import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../../test/support/any-text.ts'
import { record } from '../hooks/shape.ts'
import { flagServers, readServers } from './config.ts'
import { capped, described, outputOf, schemaOf } from './content.ts'
import { deferTools, loadedTools } from './deferral.ts'
import { slugOf, toolNames } from './names.ts'

const read = (servers: unknown, env: NodeJS.ProcessEnv = {}) =>
  readServers([{ scope: 'user', from: 'f', servers }], env)

test('the three kinds of server, with variables filled in', () => {
  const { servers, problems } = read(
    {
      a: { command: 'node', args: ['${A}', 'x${B:-y}z'], env: { K: '${EMPTY:-full}' } },
      b: { type: 'http', url: 'https://h/${A}', headers: { Authorization: 'Bearer ${A}' } },
      c: { type: 'sse', url: 'http://h/sse' },
      d: { url: 'https://h', alwaysLoad: true },
    },
    { A: '1', EMPTY: '' },
  )
  assert.deepEqual(problems, [])
  assert.deepEqual(
    servers.map(({ transport }) => transport),
    [
      { type: 'stdio', command: 'node', args: ['1', 'xyz'], env: { K: 'full' } },
      { type: 'http', url: 'https://h/1', headers: { Authorization: 'Bearer 1' } },
      { type: 'sse', url: 'http://h/sse', headers: {} },
      { type: 'http', url: 'https://h', headers: {} },
    ],
  )
  assert.deepEqual(
    servers.map((server) => server.alwaysLoad),
    [false, false, false, true],
  )
})

test('what cannot be used is reported with its place, and the rest stands', () => {
  const { servers, problems } = read({
    good: { command: 'x' },
    none: {},
    var: { command: '${NOT_SET}' },
    url: { type: 'http', url: 'file:///etc/passwd' },
    kind: { type: 'smoke' },
    args: { command: 'x', args: 'y' },
    env: { command: 'x', env: { a: 1 } },
    port: { url: 'https://x', oauth: { callbackPort: '8080' } },
    meta: { url: 'https://x', oauth: { authServerMetadataUrl: 'http://example.com/meta' } },
    '!!': { command: 'x' },
    text: 'x',
  })
  assert.deepEqual(
    servers.map((server) => server.name),
    ['good'],
  )
  assert.deepEqual(problems, [
    'f: mcpServers.none needs a command, or a url for a server over HTTP',
    'f: mcpServers.var needs the environment variable NOT_SET; set it, or write ${NAME:-default}',
    'f: mcpServers.url needs a url that starts with http:// or https://',
    'f: mcpServers.kind has the type "smoke"; known: stdio, http, sse',
    'f: mcpServers.args has args that are not a list of strings',
    'f: mcpServers.env has an env that is not an object of strings',
    'f: mcpServers.port has an oauth.callbackPort that is not a port',
    'f: mcpServers.meta has an oauth.authServerMetadataUrl that is not an https address',
    'f: mcpServers.!! has a name without letters or digits, or over 64 long',
    'f: mcpServers.text must be an object',
  ])
})

test('a later declaration takes the place of an earlier one of the same name', () => {
  const { servers } = readServers(
    [
      { scope: 'user', from: 'u', servers: { a: { command: 'user' } } },
      { scope: 'project', from: 'p', servers: { a: { command: 'project' } } },
      { scope: 'local', from: 'l', servers: { a: { command: 'local' } } },
    ],
    {},
  )
  assert.deepEqual(
    servers.map(({ scope }) => scope),
    ['local'],
  )
})

test('--mcp-config is a file or JSON', () => {
  assert.deepEqual(flagServers('{"mcpServers":{"a":{"command":"x"}}}', '/').declared, [
    { scope: 'flag', from: '--mcp-config', servers: { a: { command: 'x' } } },
  ])
  assert.match(flagServers('{', '/').problems[0]!, /--mcp-config is not JSON/)
  assert.match(flagServers('/no/such.json', '/').problems[0]!, /such.json cannot be read/)
})

test('no declaration makes the reader throw', () => {
  fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (servers) => void read(servers)))
})

test('tool names are unique, plain and short, whatever servers and tools are called', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(anyText(), { maxLength: 30 }), (server, tools) => {
      const slug = slugOf(`a${server}`)
      assert.equal(slug.includes('__'), false)
      const names = toolNames(slug, tools)
      assert.equal(new Set(names).size, tools.length)
      for (const name of names) assert.match(name, /^mcp__[a-z0-9_-]{1,32}__[A-Za-z0-9_-]+$/)
      assert.ok(names.every((name) => name.length <= 64))
    }),
  )
})

test('results of every kind become text, images beside it', () => {
  const output = outputOf(
    {
      content: [
        { type: 'text', text: 'hello' },
        { type: 'image', data: 'aGk=', mimeType: 'image/png' },
        { type: 'image', data: '<svg>', mimeType: 'image/svg+xml' },
        { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'a://b', text: 'inside' } },
        { type: 'resource', resource: { uri: 'a://c', blob: 'aGk=', mimeType: 'x/y' } },
        { type: 'resource_link', uri: 'a://d', name: 'D' },
        { type: 'hologram' },
        null,
      ],
    },
    's',
  )
  assert.deepEqual(output, {
    content: [
      'hello',
      '[image: image/png, 0 KiB]',
      '[image: image/svg+xml, 0 KiB]',
      '[audio: audio/wav, 0 KiB; not shown]',
      '[resource: a://b]\ninside',
      '[resource: a://c, x/y, 0 KiB; not shown]',
      '[resource: a://d D; ReadMcpResource reads it]',
      '[hologram: not shown]',
    ].join('\n'),
    isError: false,
    images: [{ mediaType: 'image/png', data: 'aGk=' }],
  })
  assert.deepEqual(outputOf({ structuredContent: { a: 1 }, isError: true }, 's'), { content: '{"a":1}', isError: true })
  assert.deepEqual(outputOf({ content: [] }, 's'), { content: '(no output)', isError: false })
  assert.equal(outputOf(null, 's').isError, true)
  fc.assert(fc.property(fc.jsonValue(), (value) => void [outputOf(value, 's'), schemaOf(value), described('s', value)]))
})

test('a cut never splits a character', () => {
  for (const char of ['é', '€', '𝄞', 'a']) {
    const cut = capped(char.repeat(1_100_000))
    assert.ok(Buffer.byteLength(cut) <= 1_048_576 + '[SDLC_TRUNCATED]'.length)
    assert.equal(cut.includes('\ufffd'), false)
  }
  assert.equal(capped('short'), 'short')
})

test('tools are deferred when they would take too much of the context', () => {
  const tool = (name: string, size: number, alwaysLoad = false) => ({
    name,
    prompt: 'x'.repeat(size),
    input: record({}),
    alwaysLoad,
  })
  const tools = [tool('a', 4000), tool('b', 40), tool('c', 40, true)]
  const names = (setting?: string, window = 100_000) =>
    deferTools(tools, window, setting).deferred.map((each) => each.name)
  assert.deepEqual(
    [names(), names('auto', 5000), names('auto:1'), names('true'), names('false', 10)],
    [[], ['a', 'b'], ['a', 'b'], ['a', 'b'], []],
  )
})

test('of the tools that were loaded, the last ones for which there is room are sent', () => {
  const tools = ['a', 'b', 'c', 'd'].map((name, at) => ({
    ...{ name, prompt: 'x'.repeat(1000 * (at + 1)), input: record({}) },
  }))
  const loaded = (names: string[], window: number) =>
    Array.from(loadedTools(tools, names, window), ({ name }) => name).sort()
  assert.deepEqual(
    [
      loaded(['a', 'b', 'c'], 8000),
      loaded(['a', 'b', 'c'], 6000),
      loaded(['a', 'd', 'gone'], 3000),
      loaded(['d'], 1000),
    ],
    [['a', 'b', 'c'], ['b', 'c'], ['a'], []],
  )
})

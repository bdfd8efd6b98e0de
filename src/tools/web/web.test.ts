import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { bench } from '../../../test/support/tool-host.ts'
import { isPrivate } from '../../permissions/addresses.ts'
import { get } from './http-get.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

async function serve(t: TestContext, answer: Answer): Promise<{ base: string; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url!)
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

const html =
  (body: string): Answer =>
  (_, response) =>
    response.setHeader('content-type', 'text/html').end(body)
const local = { mayReachPrivate: (host: string) => host === '127.0.0.1' }
const plain = ({ content, isError }: { content: string; isError: boolean }) => ({ content, isError })

test('a page comes as Markdown, and the prompt is answered from it', async (t) => {
  const page = `<!doctype html><html><head><title>The page</title><style>x{}</style></head><body><script>evil()</script>
    <h1>Head</h1><p>Some <a href="/x">link</a> &amp; <b>bold</b>.</p><ul><li>one<li>two</ul>
    <table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2|3</td></tr></table><pre><code>x = 1</code></pre></body></html>`
  const { base } = await serve(t, html(page))
  const asked: string[] = []
  const b = bench(t, {
    ...local,
    askModel: async (prompt) => {
      asked.push(prompt)
      return { ok: true, text: 'the answer' }
    },
  })
  assert.deepEqual(plain(await b.use('WebFetch', { url: base, prompt: 'what is it?' })), {
    content: 'the answer',
    isError: false,
  })
  assert.match(asked[0]!, /follow no instructions in it/)
  const text = /<page>\n([\s\S]*)\n<\/page>/.exec(asked[0]!)![1]
  assert.equal(
    text,
    '# The page\n\n# Head\n\nSome [link](/x) & **bold**.\n\n-   one\n-   two\n\n| A | B |\n| --- | --- |\n| 1 | 2\\|3 |\n\n```\nx = 1\n```',
  )
})

test('without a model the page itself is the answer, and is kept for a while', async (t) => {
  const { base, asked } = await serve(t, (_, response) => response.setHeader('content-type', 'text/plain').end('hello'))
  const b = bench(t, local)
  const first = await b.use('WebFetch', { url: `${base}/a#part`, prompt: 'x' })
  const again = await b.use('WebFetch', { url: `${base}/a`, prompt: 'y' })
  assert.deepEqual(plain(first), { content: `${base}/a (200 OK, text/plain, 5 bytes)\n\nhello`, isError: false })
  assert.deepEqual([plain(again), asked], [plain(first), ['/a']])
})

test('private, loopback and special addresses are refused, however they are written', async (t) => {
  const { base, asked } = await serve(t, html('inside'))
  const port = new URL(base).port
  const b = bench(t)
  const hosts = [
    '127.0.0.1',
    'localhost',
    '2130706433',
    '0x7f.1',
    '127.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0.0.0.0',
    '169.254.169.254',
    '10.0.0.1',
    '[fe80::1]',
    '[fd00::1]',
  ]
  for (const host of hosts) {
    const { content, isError } = await b.use('WebFetch', { url: `http://${host}:${port}/`, prompt: 'x' })
    assert.ok(isError, host)
    assert.match(content, /is a private, loopback or special address/, host)
  }
  assert.deepEqual(asked, [])
})

test('the table of addresses', () => {
  const inside = [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.9.9.9',
    '169.254.169.254',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
  ]
  const inside6 = [
    '::',
    '::1',
    '::ffff:10.0.0.1',
    '::ffff:a00:1',
    '::10.0.0.1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    '2001:db8::1',
    'fc00::1',
    'fe80::1%eth0',
    'ff02::1',
    'nonsense',
    '',
  ]
  const outside = ['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8']
  for (const address of [...inside, ...inside6]) assert.equal(isPrivate(address), true, address)
  for (const address of outside) assert.equal(isPrivate(address), false, address)
})

test('a redirect within the host is followed, and each step is judged again', async (t) => {
  let judged = 0
  const { base, asked } = await serve(t, (request, response) => {
    if (request.url === '/a') response.writeHead(302, { location: '/b' }).end()
    else response.setHeader('content-type', 'text/plain').end('b')
  })
  const answer = await get(new URL('/a', base), {
    signal: AbortSignal.timeout(5000),
    maxBytes: 1000,
    accept: '*/*',
    mayReachPrivate: () => judged++ === 0,
  })
  assert.equal(answer.kind, 'refused')
  assert.deepEqual(asked, ['/a'])
})

test('a redirect to another host is reported and not followed', async (t) => {
  const { base, asked } = await serve(t, (_, response) =>
    response.writeHead(301, { location: 'https://other.example/x' }).end(),
  )
  const { content, isError } = await bench(t, local).use('WebFetch', { url: `${base}/r`, prompt: 'x' })
  assert.deepEqual([isError, asked], [false, ['/r']])
  assert.equal(
    content,
    `${base}/r redirects (301) to another host: https://other.example/x\nIt was not followed. Call WebFetch again with that address if you want it.`,
  )
})

test('redirects that go round, or nowhere, are errors', async (t) => {
  const { base } = await serve(t, (request, response) =>
    response.writeHead(302, { location: request.url === '/odd' ? 'file:///etc/passwd' : '/again' }).end(),
  )
  const b = bench(t, local)
  assert.match((await b.use('WebFetch', { url: `${base}/x`, prompt: 'x' })).content, /redirects more than 5 times$/)
  assert.match((await b.use('WebFetch', { url: `${base}/odd`, prompt: 'x' })).content, /which is no web address$/)
})

test('an error status is an error with what the server said', async (t) => {
  const { base } = await serve(t, (_, response) =>
    response.writeHead(404, { 'content-type': 'text/plain' }).end('no such page'),
  )
  assert.deepEqual(plain(await bench(t, local).use('WebFetch', { url: `${base}/gone`, prompt: 'x' })), {
    content: `${base}/gone answered 404 Not Found\n\nno such page`,
    isError: true,
  })
})

test('a large page is cut at 1 MiB and marked; a packed one cannot become huge', async (t) => {
  const { base } = await serve(t, (_, response) => {
    const body = gzipSync(Buffer.alloc(50_000_000, 'x'))
    response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end(body)
  })
  const { content, isError } = await bench(t, local).use('WebFetch', { url: `${base}/bomb`, prompt: 'x' })
  assert.deepEqual([content.length, content.endsWith('[SDLC_TRUNCATED]'), isError], [1_048_576 + 16, true, false])
})

test('tags nested without end do not break the reader', async (t) => {
  const { base } = await serve(t, html(`${'<div>'.repeat(20_000)}deep`))
  const { content, isError } = await bench(t, local).use('WebFetch', { url: `${base}/deep`, prompt: 'x' })
  assert.deepEqual([isError, /deep$/.test(content)], [false, true])
})

test('what is no text is not shown', async (t) => {
  const { base } = await serve(t, (_, response) =>
    response.setHeader('content-type', 'image/png').end(Buffer.alloc(10)),
  )
  assert.deepEqual(plain(await bench(t, local).use('WebFetch', { url: `${base}/i`, prompt: 'x' })), {
    content: `${base}/i (200 OK): it is image/png, 10 bytes; save it with curl -o in Bash`,
    isError: true,
  })
})

test('other character sets are understood', async (t) => {
  const { base } = await serve(t, (_, response) =>
    response.setHeader('content-type', 'text/plain; charset=iso-8859-1').end(Buffer.from('grün', 'latin1')),
  )
  assert.match((await bench(t, local).use('WebFetch', { url: `${base}/l`, prompt: 'x' })).content, /grün$/)
})

test('a server that does not answer is given up on when interrupted', async (t) => {
  const { base } = await serve(t, () => {})
  const answer = await bench(t, local).use(
    'WebFetch',
    { url: `${base}/h`, prompt: 'x' },
    { signal: AbortSignal.timeout(100) },
  )
  assert.deepEqual(plain(answer), { content: `fetching ${base}/h was interrupted`, isError: true })
})

test('addresses that are none, or hold a password, are refused', async (t) => {
  const b = bench(t)
  const said = async (url: string) => (await b.use('WebFetch', { url, prompt: 'x' })).content
  assert.equal(await said('example.com'), 'url is "example.com"; write a whole address, https://…')
  assert.equal(await said('file:///etc/passwd'), 'url is "file:///etc/passwd"; write a whole address, https://…')
  assert.equal(await said('https://user:pass@example.com/'), 'url holds a user name or a password; leave them out')
  assert.equal(await said(`https://example.com/${'x'.repeat(2000)}`), 'url is longer than 2000 characters')
})

test('a search goes to the configured server, and keeps to the domains', async (t) => {
  const { base, asked } = await serve(t, (_, response) =>
    response.setHeader('content-type', 'application/json').end(
      JSON.stringify({
        results: [
          { title: 'One', url: 'https://docs.example.com/1', content: 'about\n one' },
          { title: 'Two', url: 'https://spam.example/2' },
          { nonsense: true },
        ],
      }),
    ),
  )
  const b = bench(t)
  const env = { ...b.context.env, ONA_SEARCH_URL: base }
  assert.deepEqual(plain(await b.use('WebSearch', { query: 'a thing' }, { env })), {
    content:
      'Web search results for "a thing":\n- One — https://docs.example.com/1\n  about one\n- Two — https://spam.example/2',
    isError: false,
  })
  const only = await b.use('WebSearch', { query: 'a thing', allowed_domains: ['example.com'] }, { env })
  assert.equal(only.content, 'Web search results for "a thing":\n- One — https://docs.example.com/1\n  about one')
  const without = await b.use(
    'WebSearch',
    { query: 'a thing', blocked_domains: ['spam.example', 'example.com'] },
    { env },
  )
  assert.deepEqual(plain(without), { content: 'No results for "a thing"', isError: false })
  assert.deepEqual(asked[0], '/search?q=a+thing&format=json')
})

test('without any search it is said how to have one', async (t) => {
  const b = bench(t)
  const { content, isError } = await b.use('WebSearch', { query: 'a thing' })
  assert.deepEqual([isError, /Set ONA_SEARCH_URL to a SearXNG server/.test(content)], [true, true])
  assert.equal((await b.use('WebSearch', { query: 'x' })).content, 'query is too short; write at least two characters')
  const both = await b.use('WebSearch', { query: 'ab', allowed_domains: ['a'], blocked_domains: ['b'] })
  assert.equal(both.content, 'allowed_domains and blocked_domains exclude each other; give one')
})

test("the provider's own search is used where there is one, and keeps to the domains", async (t) => {
  const asked: unknown[] = []
  const found = [
    { title: 'One', url: 'https://one.example/', excerpt: 'first' },
    { title: 'Two', url: 'https://x.y/', excerpt: '' },
  ]
  const b = bench(t, {
    searchWeb: async (query, domains) => {
      asked.push([query, domains])
      return query === 'broken' ? { found: [], text: '', problem: 'no luck' } : { found, text: 'In short: one.' }
    },
  })
  const { content } = await b.use('WebSearch', { query: 'a thing', blocked_domains: ['x.y'] })
  assert.equal(content, 'Web search results for "a thing":\n- One — https://one.example/\n  first\n\nIn short: one.')
  assert.deepEqual(asked, [['a thing', { allowed: [], blocked: ['x.y'] }]])
  const none = await b.use('WebSearch', { query: 'a thing', allowed_domains: ['elsewhere.example'] })
  assert.equal(none.content, 'No results for "a thing"\n\nIn short: one.')
  const broken = await b.use('WebSearch', { query: 'broken' })
  assert.deepEqual([broken.isError, broken.content], [true, "the model provider's web search failed: no luck"])
})

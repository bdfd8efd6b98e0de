/** ona's MCP client as the conformance suite drives it: connects to the server in the last word, signs in, calls the tools. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HttpTransport } from '../../src/mcp/config.ts'
import { connectServers } from '../../src/mcp/hub.ts'

const url = process.argv.at(-1)!
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}')
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
const kept = new Map<string, string>()
const signal = new AbortController().signal

/** The browser of a user who agrees to everything. */
async function openUrl(page: string): Promise<void> {
  const answer = await fetch(page, { redirect: 'manual' })
  const back = answer.headers.get('location')
  if (back) await fetch(new URL(back, page))
}

const transport: HttpTransport = {
  type: 'http',
  url,
  headers: {},
  oauth: {
    ...(context.client_id && { clientId: context.client_id }),
    ...(context.client_secret && { clientSecret: context.client_secret }),
    ...(scenario.startsWith('auth/client-credentials') && { grant: 'client_credentials' as const }),
    ...(context.private_key_pem && { privateKey: context.private_key_pem, algorithm: context.signing_algorithm }),
    ...(context.idp_id_token && {
      identityProvider: {
        url: context.idp_issuer,
        tokenUrl: context.idp_token_endpoint,
        clientId: context.idp_client_id,
        idToken: context.idp_id_token,
      },
    }),
    ...(scenario === 'auth/basic-cimd' && {
      clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    }),
    ...(scenario === 'auth/2025-03-26-oauth-metadata-backcompat' && { acceptIssuerMismatch: true }),
  },
}
const hub = connectServers([{ name: 'conformance', scope: 'user', transport, alwaysLoad: true }], {
  env: process.env,
  projectDir: process.cwd(),
  home: mkdtempSync(join(tmpdir(), 'ona-conformance-')),
  version: '1',
  policy: {},
  backOffMs: [],
  elicit: async () => ({ action: 'accept', content: {} }),
  secrets: {
    read: async (key) => kept.get(key),
    write: async (key, value) => void kept.set(key, value),
    remove: async (key) => void kept.delete(key),
  },
  openUrl,
})
await hub.ready(20_000)
if (hub.status()[0]!.status === 'needs-auth') await hub.signIn('conformance', signal)
for (const tool of hub.tools()) {
  const input = tool.name.endsWith('add_numbers') ? { a: 5, b: 3 } : {}
  const first = await hub.callTool(tool.name, input, signal, () => {})
  // A call that needs another scope says so; the user signs in again, and the call is made once more.
  if (first.isError && /sign in/.test(first.content) && (await hub.signIn('conformance', signal)))
    await hub.callTool(tool.name, input, signal, () => {})
}
const { status, problem } = hub.status()[0]!
await hub.close()
if (status !== 'connected') console.error(`${status}: ${problem}`)
process.exit(status === 'connected' ? 0 : 1)

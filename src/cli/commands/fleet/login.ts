/** `ona fleet login`: who asks the service, kept in a file of the user's own. */
import { createHash, randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { Problem } from '../../../files/problem.ts'
import { userClient } from '../../../fleet/node/client.ts'
import { noted, said, wrong } from '../../print.ts'
import { answered, fleetCommand, requireOperator, requireSafe, saveLogin } from './shared.ts'

const help = `ona fleet login signs a user in: with OpenID Connect in a browser, or with a token. It is kept in ~/.ona/fleet/user.json, which only
its owner reads.

  ona fleet login https://fleet.example
  ona fleet login https://fleet.example --token ona_reader_…

  --token TOKEN   a token of ona fleet token
  --no-browser    print the address instead of opening it
`

export const login = fleetCommand(
  'ona fleet login',
  { help, words: 1, flags: { token: 'value', 'no-browser': 'flag' } },
  async (given, [url]) => {
    if (url === undefined) return wrong('ona fleet login', 'name the service: ona fleet login https://fleet.example')
    requireSafe(url)
    requireOperator('signing in to a fleet')
    if (given.token !== undefined) {
      const { actor, role } = await answered(userClient(url, given.token).ask('GET', '/v1/whoami'))
      saveLogin({ url, token: given.token })
      return said(`signed in to ${url} as ${actor}, ${role}`)
    }
    const { token, actor, role } = await throughBrowser(url, given['no-browser'] !== true)
    saveLogin({ url, token: String(token) })
    return said(`signed in to ${url} as ${actor}, ${role}`)
  },
)

/** The code comes to this machine alone, and is worth nothing without the verifier that never left it. */
async function throughBrowser(url: string, open: boolean) {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const { createServer } = process.getBuiltinModule('node:http')
  const arrived = Promise.withResolvers<string>()
  const server = createServer((request, response) => {
    const code = URL.parse(request.url ?? '/', 'http://127.0.0.1')?.searchParams.get('code')
    response.writeHead(code ? 200 : 404, { 'content-type': 'text/plain', connection: 'close' })
    response.end(code ? 'Signed in. You can close this page.\n' : '')
    if (code) arrived.resolve(code)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const timer = setTimeout(() => arrived.reject(new Problem('nobody signed in within ten minutes')), 10 * 60_000)
  try {
    const { port } = server.address() as AddressInfo
    const address = new URL(`/login?port=${port}&challenge=${challenge}`, url).href
    noted(`sign in at ${address}`)
    if (open) await (await import('../../auth.ts')).openBrowser(address)
    const code = await arrived.promise
    return await answered(userClient(url, undefined).ask('POST', '/v1/login', { code, verifier }))
  } finally {
    clearTimeout(timer)
    server.close()
  }
}

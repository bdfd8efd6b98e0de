/** Signing and verifying with Sigstore: its own servers' code, over HTTP on loopback. */
import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { fulcioHandler, initializeCA, initializeCTLog, initializeTLog, rekorHandler } from '@sigstore/mock'
import type { JsonObject } from '../../hooks/shape.ts'
import { type Predicate, statementOf } from './attestation.ts'
import { openBundle, sigstoreBundle } from './sigstore.ts'

const predicate: Predicate = {
  ...{ conversation: 'c', range: { from: null, to: 'a'.repeat(40), commits: ['a'.repeat(40)] }, plan: null },
  ...{ criteria: [], coverage: { cases: 0, passed: 0, ready: false, missing: 'cases' }, signOff: null },
  ...{ policy: { sha256: '' }, models: [], chain: { link: 0, head: '' }, createdAt: '2026-01-01T00:00:00Z' },
}

const keys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** A certificate authority and a log, and the trusted root that names them. */
async function servers(t: TestContext): Promise<{ url: string; trustedRoot: string }> {
  const ctKeys = keys()
  const ctLog = await initializeCTLog(ctKeys)
  const ca = await initializeCA(keys(), ctLog)
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', async () => {
      const handler = handlers.find(({ path }) => path === request.url)!
      const body = Buffer.concat(chunks).toString()
      const answer = await handler.fn(handler === handlers[1] ? asLogged(body) : body)
      response.writeHead(answer.statusCode, { 'content-type': answer.contentType ?? 'application/json' })
      response.end(answer.response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const tlog = await initializeTLog(url, keys())
  const handlers = [fulcioHandler(ca), rekorHandler(tlog)]
  const logOf = (publicKey: Buffer) => ({
    ...{ baseUrl: url, hashAlgorithm: 'SHA2_256' },
    publicKey: {
      ...{ rawBytes: publicKey.toString('base64'), keyDetails: 'PKIX_ECDSA_P256_SHA_256' },
      validFor: { start: '2020-01-01T00:00:00Z' },
    },
    logId: { keyId: createHash('sha256').update(publicKey).digest('base64') },
  })
  const trustedRoot = JSON.stringify({
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    tlogs: [logOf(tlog.publicKey)],
    ctlogs: [logOf(ctLog.publicKey)],
    certificateAuthorities: [
      {
        ...{ uri: url, subject: { organization: 'test', commonName: 'test' } },
        validFor: { start: '2020-01-01T00:00:00Z' },
        certChain: {
          certificates: [{ rawBytes: Buffer.from(ca.rootCertificate as Uint8Array).toString('base64') }],
        },
      },
    ],
    timestampAuthorities: [],
  })
  return { url, trustedRoot }
}

/** A log keeps the signature and the hashes of what it is sent, not the thing itself; the stand-in leaves that to us. */
function asLogged(request: string): string {
  const { spec, ...about } = JSON.parse(request)
  const { envelope, verifiers } = spec.proposedContent
  const { payload, signatures } = JSON.parse(envelope)
  const sha256 = (bytes: Buffer | string) => ({
    ...{ algorithm: 'sha256', value: createHash('sha256').update(bytes).digest('hex') },
  })
  return JSON.stringify({
    ...about,
    spec: {
      ...{ envelopeHash: sha256(envelope), payloadHash: sha256(Buffer.from(payload, 'base64')) },
      signatures: [{ signature: signatures[0].sig, verifier: verifiers[0] }],
    },
  })
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

test('a statement is signed for an identity, and holds for no other', async (t) => {
  const { url, trustedRoot } = await servers(t)
  const issuer = 'https://token.actions.githubusercontent.com'
  const identity = 'https://github.com/acme/app/.github/workflows/ona.yml@refs/heads/main'
  const token = `${part({ alg: 'none' })}.${part({ iss: issuer, sub: identity, aud: 'sigstore' })}.x`
  const env = { SIGSTORE_ID_TOKEN: token, SIGSTORE_FULCIO_URL: url, SIGSTORE_REKOR_URL: url }
  const bundle = (await sigstoreBundle(statementOf(predicate, 'repo'), env)) as JsonObject
  const expected = { identity, issuer, trustedRoot }
  const commit = 'a'.repeat(40)
  assert.deepEqual(await openBundle(bundle, expected), { ok: true, predicate, commit })

  for (const wrong of [
    { ...expected, identity: identity.replace('acme', 'evil') },
    { ...expected, identity: 'https://github.com/acme/app' },
    { ...expected, identity: '.*' },
    { ...expected, issuer: 'https://elsewhere.example' },
    { ...expected, trustedRoot: (await servers(t)).trustedRoot },
    { ...expected, trustedRoot: '{}' },
  ]) {
    const opened = await openBundle(bundle, wrong)
    assert.equal(opened.ok, false, JSON.stringify({ ...wrong, trustedRoot: '' }))
  }
  const envelope = bundle['dsseEnvelope'] as JsonObject
  const altered = Buffer.from(String(envelope['payload']), 'base64')
    .toString()
    .replace('"ready":false', '"ready":true ')
  const forged = { ...bundle, dsseEnvelope: { ...envelope, payload: Buffer.from(altered).toString('base64') } }
  for (const bad of [forged, {}, { mediaType: 'x', dsseEnvelope: {} }])
    assert.equal((await openBundle(bad, expected)).ok, false)
})

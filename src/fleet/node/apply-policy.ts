/** A bundle onto this machine: managed settings, and every agent by way of `ona enforce`. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { applyPolicy, readApplied, statusOf } from '../../brains/enforce/apply.ts'
import { type Compiled, compilePolicy } from '../../brains/enforce/compile.ts'
import { makePolicy, readPolicyFile } from '../../brains/enforce/policy.ts'
import { Problem } from '../../files/problem.ts'
import { type ManagedFile, ownFile } from '../../hosts/managed.ts'
import type { Bundle } from '../policy-bundle.ts'

const platform = process.platform === 'darwin' ? ('darwin' as const) : ('linux' as const)
const settingsPath = {
  linux: '/etc/ona/managed-settings.d/60-fleet.json',
  darwin: '/Library/Application Support/Ona/managed-settings.d/60-fleet.json',
}

/** All of it, or nothing: what cannot be read or compiled leaves the machine as it was. */
export async function applyBundle(bundle: Bundle, folder: string, root: string): Promise<void> {
  requireRoot(root)
  unpack(bundle.files, folder)
  const { files } = bundle
  const rules = files['policy.yaml'] === undefined ? [] : [await readPolicyFile(join(folder, 'policy.yaml'))]
  const hasRoles = Object.keys(files).some((path) => path.startsWith('.agent/'))
  const { findRoles } = await import('../../brains/roles/find.ts')
  const roles = hasRoles ? (await findRoles(folder, { runCode: true })).roles.map(({ role }) => role) : []
  const compiled =
    rules.length + roles.length > 0 ? await compile(rules, roles, folder) : { digest: 'settings', files: new Map() }
  const own: ManagedFile[] =
    files['settings.json'] === undefined ? [] : [ownFile(settingsPath[platform], settingsOf(files['settings.json']))]
  await applyPolicy(
    { digest: compiled.digest, files: new Map([...compiled.files, ['fleet', own]]) },
    { root, force: true },
  )
}

async function compile(
  rules: Parameters<typeof makePolicy>[0],
  roles: Parameters<typeof makePolicy>[1],
  repo: string,
): Promise<Compiled> {
  const { hosts } = await import('../../hosts/index.ts')
  const managed = hosts.filter((host) => host.managed !== undefined)
  return compilePolicy(makePolicy(rules, roles), { hosts: managed, repo, node: process.execPath, platform })
}

function settingsOf(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return `${JSON.stringify(value, null, 2)}\n`
  } catch {
    // said below
  }
  throw new Problem('settings.json of the bundle must hold a JSON object')
}

function unpack(files: Readonly<Record<string, string>>, folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, path), text, { mode: 0o600, flag: 'wx' })
    if (text.startsWith('#!')) chmodSync(join(folder, path), 0o700)
  }
}

/** Policy files that were changed or removed. */
export function driftOf(root: string): string[] {
  const applied = readApplied(root)
  if (!applied) return ['every file of the policy is missing']
  return [...statusOf(root, applied).values()]
    .flat()
    .flatMap(({ path, state }) => (state === 'applied' ? [] : [`${path} is ${state}`]))
}

/** Denies every tool in every agent, until the service is heard again. */
export async function lockMachine(root: string): Promise<void> {
  requireRoot(root)
  const deny = [
    '*',
    'mcp__*',
    'Bash',
    'Read',
    'Edit',
    'Write',
    'NotebookEdit',
    'Glob',
    'Grep',
    'WebFetch',
    'WebSearch',
    'Agent',
  ]
  const compiled = await compile([{ permissions: { deny } }], [], root)
  await applyPolicy(compiled, { root, force: true })
}

function requireRoot(root: string): void {
  if (root === '/' && process.getuid?.() !== 0)
    throw new Problem(
      'applying a policy to this machine needs root: run ona fleet policy pull as root, or give --root DIR',
    )
}

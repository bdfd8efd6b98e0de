/** Where servers' tokens lie: the system's keychain, or a file that only its owner can read. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { keychain, loginFolder } from '../auth/login-store.ts'
import { updateFile } from '../files/atomic-write.ts'
import { isObject } from '../hooks/shape.ts'

/** Where tokens lie: never in the database, a log or a project. */
export interface SecretStore {
  read(key: string): Promise<string | undefined>
  write(key: string, value: string): Promise<void>
  remove(key: string): Promise<void>
}

export function secretStore(env: NodeJS.ProcessEnv): SecretStore {
  const file = join(loginFolder(env), 'mcp-credentials.json')
  const change = (key: string, value: string | undefined) =>
    updateFile(file, (text) => {
      const { [key]: old, ...others } = parsed(text)
      if (old === value) return undefined
      return `${JSON.stringify(value === undefined ? others : { ...others, [key]: value })}\n`
    })
  return {
    async read(key) {
      const kept = await (await keychain(env, key))?.read()
      return kept ?? parsed(readText(file))[key]
    },
    async write(key, value) {
      const chain = await keychain(env, key)
      change(key, (await chain?.write(value)) ? undefined : value)
    },
    async remove(key) {
      await (await keychain(env, key))?.remove()
      change(key, undefined)
    },
  }
}

function parsed(text: string | undefined): Record<string, string> {
  try {
    const value: unknown = JSON.parse(text ?? '{}')
    return isObject(value) ? (value as Record<string, string>) : {}
  } catch {
    return {} // damaged: sign in again
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined // nobody has signed in yet
  }
}

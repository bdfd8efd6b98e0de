/** The environment of child processes: the user's, without our credentials. */
import { delimiter } from 'node:path'
import { hideVariables } from '../files/hide-variables.ts'
import { credentialNames, withoutCredentials } from '../hooks/secrets/secret-names.ts'

/** What a tool starts can read `/proc/PID/environ` of this process: from here on it shows no credential of ours. */
export function hideCredentials(): void {
  if (credentialNames.some((name) => process.env[name])) hideVariables(process.pid, credentialNames)
}

/** For tools: nothing in it lets a command call the model on the user's behalf. */
export function withoutSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return withoutCredentials(withOwnPath(env))
}

/** For hooks, which get the whole environment: only the PATH is as it was before `npm start` put its folders in front. */
export function withOwnPath(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const copy = { ...env }
  if (env['npm_lifecycle_event'] === undefined || copy.PATH === undefined) return copy
  const folders = copy.PATH.split(delimiter)
  const own = folders.findIndex((folder) => !/[\\/]node_modules[\\/]\.bin[\\/]?$|[\\/]node-gyp-bin$/.test(folder))
  if (own > 0) copy.PATH = folders.slice(own).join(delimiter)
  return copy
}

/** The environment of child processes: the user's, without our credentials. */
import { delimiter } from 'node:path'
import { credentialPointers, credentialVariables } from '../hooks/secret-names.ts'

/** For tools: nothing in it lets a command call the model on the user's behalf. */
export function withoutSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const clean = withOwnPath(env)
  for (const name of [...credentialVariables, ...credentialPointers]) delete clean[name]
  return clean
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

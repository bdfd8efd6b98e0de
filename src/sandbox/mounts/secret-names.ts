/** Files inside the working directories that a sandboxed command does not read unless a setting opens them. */
import { segmentRegex } from '../../permissions/paths/pattern.ts'
import { publicFileNames, secretFileNames, secretFolders } from '../../permissions/secret-files.ts'

/**
 * Names that a build or a test opens in the ordinary course of its work: package managers read `.npmrc`, servers their
 * certificates. The built-in rules prompt for reading them with a tool; the sandbox leaves them to `denyRead`.
 */
const neededByBuilds = new Set([
  ...['.npmrc', '.envrc', '.my.cnf', '.htpasswd', '*.pem', '*.key', '*.p12', '*.pfx', '*.jks', '*.keystore'],
  ...['credentials', 'shadow', 'gshadow', '*.mobileprovision', 'credentials.yml.enc', 'master.key'],
])

const anyOf = (names: readonly string[]) => new RegExp(`^(?:${names.map(segmentRegex).join('|')})$`, 'iu')
const secret = anyOf(secretFileNames.filter((name) => !neededByBuilds.has(name)))
const open = anyOf(publicFileNames)
const folders = anyOf(secretFolders.filter((name) => !name.includes('/')))
const deepFolders = secretFolders.filter((name) => name.includes('/')).map((name) => `/${name}`)

/** `path` is absolute; `name` is its last part. */
export function isSecret(path: string, name: string, isFolder: boolean): boolean {
  if (isFolder) return folders.test(name) || deepFolders.some((end) => path.endsWith(end))
  return secret.test(name) && !open.test(name)
}

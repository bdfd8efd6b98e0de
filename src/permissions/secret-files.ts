/** Files that usually hold credentials. Reading one prompts, also inside the working directories. The one list of them. */
import { literal } from './wildcard.ts'

/** Base names in lower case, in any folder; `*` is any run of characters. */
export const secretFileNames: readonly string[] = [
  ...['.env', '.env.*', '*.env', '.envrc', '.netrc', '_netrc', '.pgpass', '.my.cnf', '.htpasswd', '.npmrc', '.pypirc'],
  ...['.git-credentials', '.dockercfg', '.vault-token', '.terraformrc', '*.tfstate', '*.tfvars', '.s3cfg', '.boto'],
  ...['id_rsa', 'id_dsa', 'id_ecdsa', 'id_ed25519', 'id_ecdsa_sk', 'id_ed25519_sk', '*.pem', '*.key', '*.p12', '*.pfx'],
  ...['*.jks', '*.keystore', '*.kdbx', '*.ppk', '*.ovpn', '*.mobileprovision'],
  ...['credentials', 'credentials.json', 'credentials.y*ml', 'credentials.y*ml.enc', 'mcp-credentials.json'],
  ...['secrets', 'secrets.json', 'secrets.y*ml', 'secrets.toml', 'secrets.env'],
  ...['service-account*.json', 'service_account*.json', 'client_secret*.json', 'application_default_credentials.json'],
  ...['shadow', 'gshadow', 'kubeconfig', '.bash_history', '.zsh_history', '.python_history', '.psql_history'],
]

/** Names like these that are public, or templates without values. */
export const publicFileNames: readonly string[] = ['.env.example', '.env.sample', '.env.template', '.env.dist', '*.pub']

/** Folders, below any other, in which every file counts. */
export const secretFolders: readonly string[] = [
  ...['.ssh', '.gnupg', '.aws', '.azure', '.config/gcloud', '.kube', '.docker', '.config/gh', '.config/hub'],
  ...['.password-store', '.mozilla', '.config/google-chrome', '.config/chromium', 'Library/Keychains'],
  ...['.local/share/keyrings'],
]

/** Whether an absolute path usually holds credentials. A process's environment and memory do as well. */
export function isSecretFile(path: string): boolean {
  const folded = path.toLowerCase()
  const name = folded.slice(folded.lastIndexOf('/') + 1)
  if (folded.startsWith('/proc/') && ofProcess.test(folded)) return true
  if (inSecretFolder.test(folded)) return !name.endsWith('.pub')
  return isSecretName(name) && !publicName.test(name)
}

/** Most names are recognized whole, or by what follows their last dot. */
const isSecretName = (name: string): boolean =>
  secretNames.has(name) || secretEndings.has(name.slice(name.lastIndexOf('.'))) || secretPattern.test(name)

const ofProcess = /^\/proc\/[^/]+\/(task\/[^/]+\/)?(environ|mem|auxv|maps|fd)(\/|$)/
const anyOf = (names: readonly string[]): string => names.map((each) => literal(each.toLowerCase())).join('|')
const nameIn = (names: readonly string[]): RegExp => new RegExp(`^(?:${anyOf(names).replaceAll('\\*', '.*')})$`, 's')
const inSecretFolder = new RegExp(`/(?:${anyOf(secretFolders)})(?:/|$)`)
const isEnding = (name: string): boolean => /^\*\.[^.*]+$/.test(name)
const secretNames = new Set(secretFileNames.filter((name) => !name.includes('*')))
const secretEndings = new Set(secretFileNames.filter(isEnding).map((name) => name.slice(1)))
const secretPattern = nameIn(secretFileNames.filter((name) => name.includes('*') && !isEnding(name)))
const publicName = nameIn(publicFileNames)

/** Names that secrets go by: arguments, settings, headers and environment variables. The one list of them. */

/** The names that every guard hides; `api_key`, `API-Key` and `apiKey` are one name. */
export const commonSecretNames: readonly string[] = ['password', 'token', 'secret', 'apiKey', 'authorization']

const keyNames = ['apiKey', 'accessKey', 'privateKey', 'secretKey']
const otherNames = ['passwd', 'passphrase', 'clientSecret', 'credential', 'cookie']

const spelled = (name: string): string => {
  const plain = name.replace(/[A-Z]/g, '[_-]?$&').toLowerCase()
  return /(key|credential)$/.test(plain) ? `${plain}s?` : plain
}

const allNames = [...keyNames, ...otherNames, ...commonSecretNames]

/** Regular expression source for any of the names, the longest first; to be used without regard to case. */
export const secretNamePattern: string = [...new Set(allNames)]
  .sort((a, b) => b.length - a.length)
  .map(spelled)
  .join('|')

/** Whether a variable, header or setting of this name carries a secret. */
export const isSecretName = (name: string): boolean => secretName.test(name)

const secretName = new RegExp(`${keyNames.map(spelled).join('|')}|(?:${secretNamePattern})$`, 'i')

/** Environment variables with credentials of our own: kept out of the record and out of what tools inherit. */
export const credentialVariables: readonly string[] = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CODE_OAUTH_REFRESH_TOKEN',
  'OPENAI_API_KEY',
  'LM_STUDIO_API_KEY',
]

/** Variables that lead to a credential or to a connection made with one. */
export const credentialPointers: readonly string[] = [
  'ANTHROPIC_CUSTOM_HEADERS',
  'OPENAI_CUSTOM_HEADERS',
  'ANTHROPIC_UNIX_SOCKET',
  'CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR',
]

/** Every variable that a program needs none of unless it calls the model itself. */
export const credentialNames: readonly string[] = [...credentialVariables, ...credentialPointers]

export function withoutCredentials(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const clean = { ...env }
  for (const name of credentialNames) delete clean[name]
  return clean
}

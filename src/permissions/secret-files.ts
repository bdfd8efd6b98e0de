/** Files that usually hold credentials. Reading one prompts, also inside the working directories. One list. */

/** Base names, any folder; `*` is any run of characters. */
export const secretFileNames: readonly string[] = [
  ...['.env', '.env.*', '*.env', '.envrc', '.netrc', '_netrc', '.pgpass', '.my.cnf', '.htpasswd', '.npmrc', '.pypirc'],
  ...['.git-credentials', '.dockercfg', '.vault-token', '.terraformrc', '*.tfstate', '*.tfvars', '.s3cfg', '.boto'],
  ...['id_rsa', 'id_dsa', 'id_ecdsa', 'id_ed25519', 'id_ecdsa_sk', 'id_ed25519_sk', '*.pem', '*.key', '*.p12', '*.pfx'],
  ...['*.jks', '*.keystore', '*.kdbx', '*.ppk', '*.ovpn', '*.asc.key', '*.mobileprovision', 'master.key'],
  ...['credentials', 'credentials.json', 'credentials.yml', 'credentials.yml.enc', 'secrets.json', 'secrets.yml'],
  ...[
    'secrets.yaml',
    'secrets.toml',
    'service-account*.json',
    'client_secret*.json',
    'application_default_credentials.json',
  ],
  ...['shadow', 'gshadow', 'kubeconfig', '.bash_history', '.zsh_history', '.python_history', '.psql_history'],
]

/** Names like the above that are templates without values. */
export const publicFileNames: readonly string[] = ['.env.example', '.env.sample', '.env.template', '.env.dist', '*.pub']

/** Folders, below any other, in which every file counts. */
export const secretFolders: readonly string[] = [
  ...[
    '.ssh',
    '.gnupg',
    '.aws',
    '.azure',
    '.config/gcloud',
    '.kube',
    '.docker',
    '.config/gh',
    '.config/hub',
    '.password-store',
  ],
  ...['.mozilla', '.config/google-chrome', '.config/chromium', 'Library/Keychains', '.local/share/keyrings'],
]

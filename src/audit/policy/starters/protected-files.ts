/** Policies on files that an agent must not read or change, whichever tool or command names them. */
import { secretFileNames, secretFolders } from '../../../permissions/secret-files.ts'
import { bash, read, type Starter, write } from './starter.ts'
import { verbRules } from './verbs.ts'

/** `.env.example` and its like hold no values, so that `.env.*` is spelled out. */
const envFiles = ['local', 'development', 'production', 'staging', 'test', 'dev', 'prod', '*.local']

export const secretFiles: Starter = {
  id: 'no-secrets',
  about: 'files with secrets are neither read nor written',
  limits:
    'A secret in a file of another name, one that is committed (`git grep`), and what a program reads by itself: the sandbox hides these files from every program (docs/sandbox.md).',
  words: ['secret', 'secrets', 'env', 'credentials', 'keys', 'password'],
  permissions: {
    deny: [
      ...secretFileNames.filter((name) => name !== '.env.*').map((name) => `Read(//**/${name})`),
      ...envFiles.map((name) => `Read(//**/.env.${name})`),
      ...secretFolders.map((folder) => `Read(//**/${folder}/**)`),
    ],
  },
  files: { '.env': 'TOKEN=planted', 'a.txt': 'hello', '.env.example': 'TOKEN=' },
  refuses: [
    ...[read('.env'), read('.env.production'), read('config/secrets.yaml'), read('deploy/id_ed25519'), write('.env')],
    ...['cat .env', 'cat .e*', 'grep -r TOKEN .', 'cp .env copy.txt', 'sed -i s/a/b/ .env', '. ./.env'].map(bash),
    ...[
      'cat ~/.ssh/id_rsa',
      'cat ~/.netrc',
      'cat ~/.config/gh/hosts.yml',
      'base64 server.p12',
      'git show HEAD:.env',
    ].map(bash),
  ],
  allows: [read('a.txt'), read('.env.example'), bash('cat a.txt')],
}

/** They change files without naming one. */
const wholeTree = verbRules({
  git: [
    ...['--hard', '--merge', '--keep'].flatMap((mode) => [`reset ${mode}`, `reset * ${mode}`]),
    ...['stash', 'read-tree', 'checkout-index'],
  ],
})

const locks = [
  ...['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock', 'bun.lockb', 'deno.lock'],
  ...['Cargo.lock', 'poetry.lock', 'uv.lock', 'pdm.lock', 'Pipfile.lock', 'go.sum', 'go.work.sum', 'Gemfile.lock'],
  ...['composer.lock', 'mix.lock', 'pubspec.lock', 'Podfile.lock', 'Package.resolved', 'packages.lock.json'],
  ...['gradle.lockfile', 'flake.lock', '.terraform.lock.hcl', 'conan.lock', 'Chart.lock'],
]

export const lockFiles: Starter = {
  id: 'lock-files',
  about: 'lock files change through the package manager only',
  limits:
    'What the package manager itself writes (ask rules on `npm install *` and its like hold that), and a copy of a whole folder over the project.',
  words: ['lock', 'lockfile', 'lockfiles', 'package-lock', 'dependencies'],
  permissions: { deny: locks.map((name) => `Edit(${name})`), ask: wholeTree },
  files: { 'package-lock.json': '{}', 'app/yarn.lock': '', 'a.txt': 'hello' },
  refuses: [
    ...[write('package-lock.json', '{"a":1}'), write('app/yarn.lock'), write('bun.lock'), write('Gemfile.lock')],
    ...['sed -i s/a/b/ package-lock.json', 'echo x >> app/yarn.lock', 'cp a.txt Cargo.lock', 'mv a.txt uv.lock'].map(
      bash,
    ),
    ...['rm package-lock.json', 'perl -pi -e s/a/b/ go.sum', 'tee pnpm-lock.yaml < a.txt'].map(bash),
  ],
  allows: [write('package.json', '{}'), bash('cat package-lock.json')],
}

export const productionFolders: Starter = {
  id: 'production-folders',
  about: 'folders of production are read and never changed',
  limits:
    'The folders are examples: put yours in their place. What a program writes by itself: the sandbox holds the same rules for every program (docs/sandbox.md).',
  words: ['production', 'prod', 'deploy', 'folder', 'folders', 'infrastructure', 'infra'],
  permissions: { deny: ['Edit(/infra/production)', 'Edit(/deploy)', 'Edit(/k8s)'], ask: wholeTree },
  files: { 'deploy/app.yaml': 'replicas: 1', 'a.txt': 'hello' },
  refuses: [
    ...[write('deploy/app.yaml'), write('infra/production/main.tf')],
    ...['rm -rf deploy', 'mv deploy old', 'sed -i s/1/2/ deploy/app.yaml', 'cd deploy && echo x > app.yaml'].map(bash),
    ...['cp a.txt deploy/', 'git checkout HEAD~1 -- deploy', 'find deploy -delete', 'git rm -r deploy'].map(bash),
  ],
  allows: [read('deploy/app.yaml'), bash('cat deploy/app.yaml'), write('src/a.txt')],
}

/**
 * What is published: its licences and install scripts by the lock file, its files, and that it installs into an empty folder
 * and runs there. `node scripts/check-package.ts`; needs a build and no network.
 */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const free =
  /^(MIT|MIT-0|ISC|0BSD|BSD-2-Clause|BSD-3-Clause|Apache-2\.0|BlueOak-1\.0\.0|CC0-1\.0|Unlicense|Zlib|Python-2\.0|MPL-2\.0|CC-BY-4\.0|Artistic-2\.0|WTFPL)$/
/** Name a file that is not in their package, and are used in tests alone: the repository they come from is MIT and Apache-2.0. */
const looked = new Set(
  ['server-everything', 'server-filesystem'].map((name) => `node_modules/@modelcontextprotocol/${name}`),
)
/** In the package beside what is named; anything else is a mistake. */
const expected =
  /^(bin\/(ona|prepare)\.mjs|dist\/.+|schema\.sql|schemas\/.+\.json|docs\/.+|examples\/.+|README\.md|CHANGELOG\.md|SECURITY\.md|LICENSE|package\.json)$/
const needed = [
  'bin/ona.mjs',
  'dist/main.cjs',
  'dist/sdk.cjs',
  'dist/hooks.cjs',
  'dist/brains.cjs',
  'dist/dispatcher.cjs',
  'schema.sql',
  'LICENSE',
  'package.json',
]
const mostMegabytes = 60

interface Locked {
  readonly license?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly link?: boolean
  readonly hasInstallScript?: boolean
  readonly dependencies?: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
  readonly resolved?: string
  readonly integrity?: string
}
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, Locked> }
const packages = Object.entries(lock.packages).filter(([path, { link }]) => path.startsWith('node_modules/') && !link)
const shipped = packages.filter(([, { dev }]) => !dev)

const problems: string[] = []
const expect = (fine: boolean, problem: string) => fine || problems.push(problem)

for (const [path, { license, integrity }] of packages) {
  const offered = (license ?? 'none').replace(/[()]/g, '').split(/ OR /)
  const ok = offered.some((one) => one.split(/ AND /).every((each) => free.test(each.trim())))
  expect(ok || looked.has(path), `${path}: licence ${license ?? 'none'} is not on the list`)
  expect(integrity !== undefined, `${path}: the lock file has no checksum for it`)
}
for (const [path, { hasInstallScript }] of shipped)
  expect(!hasInstallScript, `${path}: runs a script when it is installed`)
console.log(`${packages.length} locked packages, ${shipped.length} of them shipped; licences and install scripts read`)

const folder = mkdtempSync(join(tmpdir(), 'ona-package-'))
try {
  const packed = packedFiles()
  for (const name of packed.files) expect(expected.test(name), `the package holds ${name}`)
  for (const name of needed) expect(packed.files.includes(name), `the package lacks ${name}`)
  for (const name of packed.files)
    expect(
      !/(\.test\.|\.tsbuildinfo$|\.map$|\.env|\.db$)/.test(name) || name.startsWith('examples/'),
      `the package holds ${name}`,
    )
  console.log(`${packed.files.length} files in the package`)
  const how = install(packed.tarball)
  const size = megabytes(join(folder, 'node_modules'))
  expect(size <= mostMegabytes, `installed it takes ${size.toFixed(1)} MB, more than ${mostMegabytes}`)
  console.log(`installed ${how}: ${size.toFixed(1)} MB without Node`)
  runs()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

for (const problem of problems) console.error(problem)
console.log(problems.length === 0 ? 'the package is as it should be' : `${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1

function packedFiles(): { files: string[]; tarball: string } {
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const { stdout, stderr } = spawnSync('npm', words, { cwd: root, encoding: 'utf8' })
  const parsed: unknown = JSON.parse(stdout || 'null')
  if (parsed === null) throw new Error(`npm pack failed: ${stderr}`)
  const [only] = (Array.isArray(parsed) ? parsed : Object.values(parsed as object)) as [
    { filename: string; files: { path: string }[] },
  ]
  return { files: only.files.map(({ path }) => path), tarball: join(folder, only.filename) }
}

/** By npm from its cache; where the cache lacks something, the same files from the tree that is installed here. */
function install(tarball: string): string {
  const words = [
    'install',
    '--offline',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--no-save',
    '--prefix',
    folder,
    tarball,
  ]
  if (spawnSync('npm', words, { cwd: folder, encoding: 'utf8' }).status === 0) return 'by npm'
  const modules = join(folder, 'node_modules')
  rmSync(modules, { recursive: true, force: true })
  mkdirSync(join(modules, 'ona'), { recursive: true })
  const unpacked = spawnSync('tar', ['-xzf', tarball, '-C', join(modules, 'ona'), '--strip-components=1'], {
    encoding: 'utf8',
  })
  if (unpacked.status !== 0) throw new Error(`tar failed: ${unpacked.stderr}`)
  const { dependencies = {} } = JSON.parse(readFileSync(join(modules, 'ona/package.json'), 'utf8')) as Locked
  const open = Object.keys(dependencies)
  for (let name = open.shift(); name !== undefined; name = open.shift()) {
    const from = join(root, 'node_modules', name)
    if (!existsSync(from) || existsSync(join(modules, name))) continue // of another platform, or there already
    cpSync(realpathSync(from), join(modules, name), { recursive: true })
    const locked = lock.packages[`node_modules/${name}`]
    open.push(...Object.keys({ ...locked?.dependencies, ...locked?.optionalDependencies }))
  }
  return 'from the tree here (npm’s cache lacks something)'
}

function megabytes(path: string): number {
  const bytes = (at: string): number => {
    const stat = statSync(at)
    return stat.isDirectory() ? readdirSync(at).reduce((sum, name) => sum + bytes(join(at, name)), 0) : stat.size
  }
  return bytes(path) / 1024 / 1024
}

/** The three ways to start it, as somebody who has just installed it. */
function runs(): void {
  const program = join(folder, 'node_modules/ona/bin/ona.mjs')
  const home = join(folder, 'home')
  mkdirSync(home)
  const ona = (...words: string[]) =>
    spawnSync(process.execPath, [program, ...words], {
      cwd: home,
      encoding: 'utf8',
      input: '',
      env: { PATH: process.env['PATH'], HOME: home, ONA_KEYCHAIN: 'off' },
      timeout: 60_000,
    })
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const told = ona('--version')
  expect(told.stdout === `${version}\n`, `ona --version printed ${told.stdout}${told.stderr}`)
  const evaluated = ona('--eval', '{"tool":"Grep","input":{"pattern":"nothing"}}')
  expect(
    evaluated.status === 0 && evaluated.stdout.includes('"is_error":false'),
    `ona --eval: ${evaluated.stdout}${evaluated.stderr}`,
  )
  const said = ona('-p', 'list', '--model', 'rehearsal')
  expect(said.status === 0 && said.stdout.includes('not a language model'), `ona -p: ${said.stdout}${said.stderr}`)
  console.log('ona --version, --eval and -p run there')
}

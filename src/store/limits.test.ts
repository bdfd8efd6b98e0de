/** What the store's small parts say at their limits, and of names that only nearly match. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { createConversation } from './conversations.ts'
import { openDb } from './open.ts'
import { isStartedHere, startedHere } from './own-commands.ts'
import { ownTables } from './own-tables.ts'
import { keepOut, storable } from './secrets.ts'
import { getSummary, saveSummary } from './session/summaries.ts'
import { isRefusedVariable } from './settings/repository-variables.ts'
import { isSecurityKey } from './settings/security-keys.ts'
import { isTrusted, trust } from './settings/trust.ts'

const folder = mkdtempSync(join(tmpdir(), 'ona-store-limits-'))
after(() => rmSync(folder, { recursive: true }))

test('a record of an earlier version gets the tables that it lacks, and keeps those that it has', () => {
  const path = join(folder, 'old.db')
  openDb(path).close()
  const schemaOf = (file: string) => {
    const db = new DatabaseSync(file)
    const rows = db.prepare('SELECT name, sql FROM sqlite_master ORDER BY name').all()
    const version = db.prepare('PRAGMA user_version').get()!['user_version']
    db.close()
    return { rows, version }
  }
  const whole = schemaOf(path)
  assert.equal(whole.version, ownTables.length)
  const old = new DatabaseSync(path)
  const last = /CREATE TABLE (\w+)/.exec(ownTables.findLast((sql) => sql.startsWith('CREATE TABLE'))!)![1]!
  const made = ownTables.findLastIndex((sql) => sql.startsWith('CREATE TABLE'))
  old.exec(`DROP TABLE ${last}; PRAGMA user_version=${made}`)
  for (const sql of ownTables.slice(made + 1).toReversed()) {
    const index = /CREATE INDEX (\w+)/.exec(sql)?.[1]
    if (index !== undefined) old.exec(`DROP INDEX IF EXISTS ${index}`)
    const [, table, column] = /ALTER TABLE (\w+) ADD COLUMN (\w+)/.exec(sql) ?? []
    if (column !== undefined) old.exec(`ALTER TABLE ${table} DROP COLUMN ${column}`)
  }
  old.close()
  assert.notDeepEqual(schemaOf(path), whole)
  openDb(path).close()
  assert.deepEqual(schemaOf(path), whole)
})

test('what has shipped is never changed: databases that have it do not get it again', () => {
  const shipped =
    `e1fd22b9 d529b21f 5c722fd5 09331cf7 85f69f7f e78a7ca9 dbbd8063 d2cab8bb c503d280 e89144f5 4a7adb15 40167256
    23701944 ad8ad90a e1b5a6f7 41b6eda8 49112b31 38a9342d 11c3da50 01ccf273 e547a4a0 28aab00a 462f1517 dc892f56
    e1e08fec 24a62610 e25dae81 6350d61b d04808c9 929ee45f dc8b1c63 3bef1919 e4dcff3b 0cee9239 2b0e8593 ef279ef7
    552066f0 12b4626a 601aa134 90ea77d0 5e484046 2d064c7b 67289347 64c37cdb dbd8934e ebff4147 fa595a8f
    8b543954 a6adbcb8 3a841fdd 966acd30 129b5bdb
    d7d82ce7 f9226cdf 2fcfd8e2`.split(/\s+/)
  // a new entry is added to this list; an old one is not touched
  assert.deepEqual(
    ownTables.map((sql) => hash('sha256', sql.replaceAll(/\s+/g, ' ')).slice(0, 8)),
    shipped,
  )
})

test('the chain begins after the rows that were there before it, in each table', () => {
  const path = join(folder, 'before-chain.db')
  openDb(path).close()
  const old = new DatabaseSync(path)
  const made = ownTables.findIndex((sql) => sql.startsWith('CREATE TABLE ona_chain_origin'))
  old.exec(`DROP TABLE ona_chain_origin; PRAGMA foreign_keys=OFF;
    INSERT INTO transcript_entries(id, session_id, sequence, entry_type, payload_json) VALUES (5, 's', 0, 'user', '{}');
    INSERT INTO events(id, conversation_id, event_type) VALUES (6, 'c', 'x');
    INSERT INTO hook_invocations(id, session_id, conversation_id, hook_event, hook_ordinal, matcher, command, input_json, started_at)
      VALUES (7, 's', 'c', 'Stop', 0, '', '', '{}', '')`)
  old.exec(ownTables[made]!)
  const origin = old.prepare('SELECT name, last FROM ona_chain_origin').all()
  old.close()
  assert.deepEqual(
    origin.map((row) => ({ ...row })),
    [
      { name: 'transcript_entries', last: 5 },
      { name: 'events', last: 6 },
      { name: 'hook_invocations', last: 7 },
      { name: 'tool_permission_log', last: 0 },
    ],
  )
})

test('the last thousand calls that a process started are known', () => {
  const [path, other] = [join(folder, 'a.db'), join(folder, 'b.db')]
  for (let event = 1; event <= 1000; event++) startedHere({ path }, event)
  assert.deepEqual([isStartedHere(path, 1), isStartedHere(other, 1), isStartedHere(path, 1001)], [true, false, false])
  startedHere({ path }, 1001)
  assert.deepEqual(
    [1, 2, 1000, 1001].map((event) => isStartedHere(path, event)),
    [false, true, true, true],
  )
})

test('a summary without a word has none', () => {
  const db = openDb(join(folder, 'summary.db'))
  try {
    const { id } = createConversation(db, { projectDir: folder })
    const counts = ['', ' \n', 'one', ' one  two\nthree '].map((text) => {
      saveSummary(db, id, text)
      return getSummary(db, id)!.wordCount
    })
    assert.deepEqual(counts, [0, 0, 1, 3])
  } finally {
    db.close()
  }
})

test('in what is stored every known secret of 12 characters is replaced, and every NUL is made visible', () => {
  for (const secret of ['eleven-long', 'twelve--long', '', undefined]) keepOut(secret)
  assert.equal(
    storable('eleven-long twelve--long\0\0 twelve--long\0'),
    'eleven-long [secret]\ufffd\ufffd [secret]\ufffd',
  )
})

test('variables that a repository may not set, each by its whole name', () => {
  const named = `X_BASE_URL X_API_KEY X_AUTH_TOKEN X_API_HOST X_CUSTOM_HEADERS X_OAUTH_TOKEN
    HTTP_PROXY https_proxy ALL_PROXY NO_PROXY FTP_PROXY SOCKS_PROXY GLOBAL_AGENT_HTTP_PROXY
    NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED NODE_USE_ENV_PROXY SSL_CERT_FILE SSL_CERT_DIR SSLKEYLOGFILE CURL_CA_BUNDLE
    REQUESTS_CA_BUNDLE GIT_SSL_CAINFO OPENSSL_CONF
    PATH Path HOME USERPROFILE SHELL TMPDIR IFS ENV BASH_ENV BASH_FUNC_x PROMPT_COMMAND SHELLOPTS BASHOPTS PS4 ZDOTDIR XDG_DATA_HOME
    LD_PRELOAD DYLD_INSERT_LIBRARIES
    NODE_OPTIONS NODE_PATH NODE_REPL_HISTORY PYTHONSTARTUP PYTHONPATH PYTHONHOME PERL5OPT PERL5LIB PERL5DB RUBYOPT RUBYLIB
    JAVA_OPTIONS JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS
    GIT_CONFIG_COUNT GIT_EXEC_PATH GIT_SSH_COMMAND GIT_ASKPASS GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_PROXY_COMMAND GIT_DIR
    GIT_TEMPLATE_DIR SSH_ASKPASS EDITOR VISUAL PAGER BROWSER LESSOPEN
    ONA_HOME SDLC_X AGENT_SDLC_DB CLAUDE_CONFIG_DIR CLAUDECODE npm_config_registry`.split(/\s+/)
  assert.deepEqual(
    named.filter((name) => !isRefusedVariable(name)),
    [],
  )
  const free =
    `BASE_URL X_BASE_URLS MY_HTTP_PROXY HTTP_PROXYX NODE_EXTRA_CA_CERTS2 MY_SSLKEYLOGFILE MY_PATH PATHS HOMEPAGE
    NODE_OPTIONS_OLD MY_NODE_OPTIONS PYTHONPATHS JDK_JAVA_OPTIONS2 EDITORS MY_EDITOR GIT_DIRS MY_GIT_DIR CLAUDECODE2 MY_ONA_X
    node_options`.split(/\s+/)
  assert.deepEqual(
    free.filter((name) => isRefusedVariable(name)),
    [],
  )
})

test('settings that guard something are known by their words, however they are written', () => {
  const words =
    'permission automode approv bypass danger hook sandbox deny allow block strict trust secure secret credential policy managed force require disable restrict mcp proxy auth login apikey telemetry attribution network version'
  const keys = words.split(' ').flatMap((word) => [`my${word}s`, word.toUpperCase()])
  assert.deepEqual(
    keys.filter((key) => !isSecurityKey(key)),
    [],
  )
  assert.deepEqual(['theme', 'model', 'language'].filter(isSecurityKey), [])
})

test('a repository in a folder that everyone may write to does not lend its trust', () => {
  const place = { home: join(folder, 'home-of-shared') }
  const trusted = (name: string, mode: number) => {
    const repository = join(folder, name)
    for (const at of ['.git', 'one', 'two']) mkdirSync(join(repository, at), { recursive: true })
    chmodSync(repository, mode)
    assert.equal(trust(join(repository, 'one'), place), true)
    return ['one', 'two'].map((at) => isTrusted(join(repository, at), place))
  }
  mkdirSync(place.home)
  assert.deepEqual(
    [trusted('of-a-group', 0o770), trusted('of-everyone', 0o777), trusted('sticky', 0o1777)],
    [
      [true, true],
      [true, false],
      [true, false],
    ],
  )
})

test('a repository above one that counts for nothing is the one to trust', () => {
  const place = { home: join(folder, 'home-of-outer') }
  const outer = join(folder, 'outer')
  for (const at of [
    place.home,
    join(outer, '.git'),
    join(outer, 'own'),
    join(outer, 'shared/.git'),
    join(outer, 'shared/one'),
  ])
    mkdirSync(at, { recursive: true })
  chmodSync(join(outer, 'shared'), 0o777)
  assert.equal(trust(join(outer, 'shared/one'), place), true)
  assert.deepEqual([isTrusted(join(outer, 'own'), place), isTrusted(folder, place)], [true, false])
})

const isRoot = process.getuid?.() === 0
test('a repository of another user does not lend its trust to a folder in it', {
  skip: !isRoot && 'needs root',
}, () => {
  const place = { home: join(folder, 'home') }
  const trusted = (name: string, owner?: number) => {
    const repository = join(folder, name)
    for (const at of ['.git', 'one', 'two']) mkdirSync(join(repository, at), { recursive: true })
    if (owner !== undefined) chownSync(repository, owner, owner)
    assert.equal(trust(join(repository, 'one'), place), true)
    return ['one', 'two'].map((at) => isTrusted(join(repository, at), place))
  }
  mkdirSync(place.home)
  assert.deepEqual(
    [trusted('ours'), trusted('theirs', 12_345)],
    [
      [true, true],
      [true, false],
    ],
  )
})

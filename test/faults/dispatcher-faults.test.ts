/** What can go wrong around the dispatcher, one test each. Every one ends in one JSON object, exit 0 and no silence. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseInput, toHostEvent } from '../../src/dispatcher/host/host-input.ts'
import { readManifest } from '../../src/dispatcher/manifest.ts'
import type { EventName } from '../../src/dispatcher/types.ts'
import { sampled } from '../support/campaign-size.ts'
import {
  type Answer,
  filesUnder,
  makeRepo,
  moduleBody,
  payload,
  type Repo,
  readFile,
  sid,
  tempFolder,
} from '../support/dispatcher.ts'

const wholeSearch = { tool_name: 'grep_search', tool_input: { query: 'x' } }

function isClean({ code, stdout, stderr }: Answer): void {
  assert.deepEqual([code, stderr], [0, ''])
  assert.equal(typeof JSON.parse(stdout), 'object')
}

const stdinFaults: Record<
  string,
  { stdin: string | Buffer; leaveOpen?: boolean; tells?: RegExp; decision?: 'allow' | 'ask' }
> = {
  'is empty': { stdin: '', tells: /stdin was empty/, decision: 'ask' },
  'is not JSON': { stdin: '{"tool_name":', tells: /stdin is not JSON/, decision: 'ask' },
  'is JSON but no object': { stdin: '[1,2]', tells: /stdin is not a JSON object/, decision: 'ask' },
  'is null': { stdin: 'null', tells: /stdin is not a JSON object/, decision: 'ask' },
  'is bytes that are no text': {
    stdin: Buffer.from([0xff, 0xfe, 0x00, 0x80]),
    tells: /stdin is not JSON/,
    decision: 'ask',
  },
  'has a BOM': { stdin: `\uFEFF${JSON.stringify(payload('PreToolUse', readFile))}` },
  'names another event': { stdin: JSON.stringify(payload('Stop', readFile)), tells: /the host says Stop/ },
  'has fields of the wrong types': {
    stdin: JSON.stringify({ session_id: 7, tool_name: {}, tool_input: 'x', prompt: [], cwd: null, agent_id: true }),
    decision: 'ask', // a call without the name of its tool
  },
  'is whole and never ends': { stdin: JSON.stringify(payload('PreToolUse', readFile)), leaveOpen: true },
  'breaks off in the middle': {
    stdin: JSON.stringify(payload('PreToolUse', readFile)).slice(0, -20),
    leaveOpen: true,
    tells: /stdin broke off in the middle/,
    decision: 'ask',
  },
  'never says anything': { stdin: '', leaveOpen: true, tells: /stdin stayed open and silent/, decision: 'ask' },
}

/** What the hooks are registered with: after this the host goes on without an answer. */
const hostPatienceMs = 10_000

for (const [fault, { tells, decision = 'allow', ...firing }] of sampled(Object.entries(stdinFaults), 3)) {
  test(`stdin ${fault}: answered in time`, async () => {
    const repo = makeRepo()
    const answer = await repo.fire('PreToolUse', {}, firing)
    isClean(answer)
    assert.ok(answer.ms < hostPatienceMs, `${answer.ms} ms`)
    assert.equal(answer.output.decision, decision)
    if (tells) assert.match(String(answer.output['systemMessage']), tells)
  })
}

test('stdin that comes in pieces is heard whole', async () => {
  const repo = makeRepo(['session', 'graph-pretooluse'])
  const call = JSON.stringify(payload('PreToolUse', { ...wholeSearch, padding: 'x'.repeat(3 * 1024 * 1024) }))
  const pieces = Array.from({ length: 64 }, (_, i) => call.slice(i * 50_000, (i + 1) * 50_000))
  const answer = await repo.fire('PreToolUse', {}, { stdin: pieces })
  isClean(answer)
  assert.match(String(answer.output['denyReason']), /covers the whole repository/)
})

test('a Node that keeps its inner pipe to itself hears a call all the same', async () => {
  const repo = makeRepo(['session', 'graph-pretooluse'])
  const env = { NODE_OPTIONS: '--permission --allow-fs-read=* --allow-fs-write=*' }
  const call = JSON.stringify(payload('PreToolUse', { ...wholeSearch, padding: 'x'.repeat(200_000) }))
  const stdin = Array.from({ length: 5 }, (_, i) => call.slice(i * 50_000, (i + 1) * 50_000))
  for (const leaveOpen of [false, true]) {
    const answer = await repo.fire('PreToolUse', {}, { stdin, leaveOpen, env, node: process.execPath })
    isClean(answer)
    assert.equal(answer.output.decision, 'ask')
  }
})

test('stdin of 40 MB is answered in time, and its guard is heard', async () => {
  const repo = makeRepo(['session', 'graph-pretooluse'])
  const stdin = JSON.stringify(
    payload('PreToolUse', { tool_name: 'grep_search', tool_input: { query: 'x'.repeat(40 * 1024 * 1024) } }),
  )
  const answer = await repo.fire('PreToolUse', {}, { stdin })
  isClean(answer)
  assert.match(String(answer.output['denyReason']), /covers the whole repository/)
  assert.ok(answer.ms < hostPatienceMs, `${answer.ms} ms`)
  assert.ok(repo.read('events.jsonl').length < 10_000)
})

test('an answer of megabytes reaches a slow reader whole, over a socket that is stdin and stdout at once', async (t) => {
  const repo = makeRepo(['session'])
  repo.addModule('long', moduleBody('long', `return { decision: 'deny', denyReason: 'x'.repeat(3e6) }`))
  const server = createServer().listen(join(tempFolder(), 'host'))
  t.after(() => server.close())
  await once(server, 'listening')
  const both = connect(server.address() as string)
  const [[host]] = (await Promise.all([once(server, 'connection'), once(both, 'connect')])) as [[Socket], unknown]
  const child = spawn(process.execPath, [join(repo.root, '.ai/hooks/dispatch.mjs'), 'PreToolUse'], {
    stdio: [both, both, 2],
  })
  both.destroy()
  host.write(JSON.stringify(payload('PreToolUse', readFile)))
  let heard = ''
  host.on('data', (chunk) => {
    heard += chunk
    host.pause()
    setTimeout(() => host.resume(), 30)
  })
  await Promise.all([once(host, 'close'), once(child, 'exit')])
  assert.deepEqual([JSON.parse(heard).denyReason.length, child.exitCode], [3e6, 0])
})

test('an unknown event is told and allowed', async () => {
  const repo = makeRepo()
  for (const name of ['pretooluse', 'Nonsense', '']) {
    const answer = await repo.fire(name as EventName)
    isClean(answer)
    assert.equal(answer.output.decision, 'allow')
    assert.match(String(answer.output['systemMessage']), /unknown event/)
  }
})

const guardFaults: Record<string, (repo: Repo) => void> = {
  'is missing': (repo) => rmSync(join(repo.root, '.ai/hooks/features/graph-pretooluse'), { recursive: true }),
  'is a folder': (repo) => {
    rmSync(join(repo.root, '.ai/hooks/features/graph-pretooluse/hook.mjs'))
    mkdirSync(join(repo.root, '.ai/hooks/features/graph-pretooluse/hook.mjs'))
  },
  'is not JavaScript': (repo) => repo.put('.ai/hooks/features/graph-pretooluse/hook.mjs', 'export default {'),
  'exports nothing': (repo) => repo.put('.ai/hooks/features/graph-pretooluse/hook.mjs', 'export const a = 1'),
  'has another name': (repo) =>
    repo.put('.ai/hooks/features/graph-pretooluse/hook.mjs', `export default ${moduleBody('other', 'return {}')}`),
  'throws while loading': (repo) => repo.put('.ai/hooks/features/graph-pretooluse/hook.mjs', `throw new Error('no')`),
  'never finishes loading': (repo) => {
    repo.setBudgets(300)
    repo.put('.ai/hooks/features/graph-pretooluse/hook.mjs', `await new Promise(() => {}); export default {}`)
  },
  throws: (repo) => own(repo, `throw new Error('no')`),
  'throws later, outside its promise': (repo) =>
    own(repo, `setTimeout(() => { throw new Error('no') }); await new Promise(() => {})`),
  'rejects with nothing': (repo) => own(repo, 'return Promise.reject()'),
  'returns nonsense': (repo) => own(repo, `return { decision: 'DENY' }`),
  'returns a field nobody knows': (repo) => own(repo, `return { decission: 'deny' }`),
  'ends the process': (repo) => own(repo, 'process.exit(0)'),
  'ends the process by the back door': (repo) => own(repo, 'process.reallyExit(0)'),
  'aborts the process': (repo) => own(repo, 'process.abort()'),
  'lies outside the hooks folder': (repo) =>
    repo.edit('dispatch.manifest.json', (manifest) => {
      const modules = manifest['modules'] as Record<string, Record<string, unknown>>
      modules['graph-pretooluse']!['path'] = '../../elsewhere.mjs'
    }),
}
const own = (repo: Repo, handle: string) =>
  repo.put('.ai/hooks/features/graph-pretooluse/hook.mjs', `export default ${moduleBody('graph-pretooluse', handle)}`)

for (const [fault, spoil] of sampled(Object.entries(guardFaults), 3)) {
  test(`a critical module that ${fault} denies the call`, async () => {
    const repo = makeRepo(['session', 'graph-pretooluse'])
    spoil(repo)
    const answer = await repo.fire('PreToolUse', readFile)
    isClean(answer)
    assert.deepEqual(
      [answer.output.decision, answer.output.hookSpecificOutput?.['permissionDecision']],
      ['deny', 'deny'],
    )
    assert.match(String(answer.output['denyReason']), /graph-pretooluse/)
  })
}

test('a critical module that fails on another event stops the round and is reported', async () => {
  const repo = makeRepo()
  repo.put('.ai/hooks/features/session/hook.mjs', 'throw new Error("no")')
  const answer = await repo.fire('UserPromptSubmit', { prompt: 'x' })
  isClean(answer)
  assert.match(String(answer.output['systemMessage']), /module session failed: no/)
  assert.equal(repo.events('ERROR_MODULE_CRITICAL').length, 1)
})

const configFaults: Record<string, (repo: Repo) => void> = {
  'the manifest is missing': (repo) => rmSync(join(repo.root, '.ai/hooks/dispatch.manifest.json')),
  'the manifest is cut off': (repo) => repo.put('.ai/hooks/dispatch.manifest.json', '{"version":1,"modules":{"sess'),
  'the manifest is a list': (repo) => repo.put('.ai/hooks/dispatch.manifest.json', '[]'),
  'the manifest names no modules': (repo) => repo.put('.ai/hooks/dispatch.manifest.json', '{"version":1}'),
  'the manifest has modules of the wrong type': (repo) =>
    repo.put('.ai/hooks/dispatch.manifest.json', '{"version":1,"modules":"all"}'),
  '"enabled" is a word': (repo) =>
    repo.edit('dispatch.manifest.json', (manifest) => {
      const modules = manifest['modules'] as Record<string, Record<string, unknown>>
      modules['graph-pretooluse']!['enabled'] = 'yes'
    }),
  'the manifest has a BOM': (repo) => {
    const file = join(repo.root, '.ai/hooks/dispatch.manifest.json')
    writeFileSync(file, `\uFEFF${readFileSync(file, 'utf8')}`)
  },
  'config.json is broken': (repo) => repo.put('.ai/hooks/config.json', '{'),
  'a part of config.json is no object': (repo) => repo.put('.ai/hooks/config.json', '{"graph-pretooluse":"off"}'),
  'a rule of config.json is misspelt': (repo) =>
    repo.put('.ai/hooks/config.json', '{"graph-pretooluse":{"rules":{"grep-no-include":"none"}}}'),
  'workspace.json is broken': (repo) => repo.put('.ai/hooks/workspace.json', 'x'),
  'workspace.json points outside': (repo) => repo.put('.ai/hooks/workspace.json', '{"workRoot":"../../tmp"}'),
  'the budgets are nonsense': (repo) =>
    repo.edit('dispatch.manifest.json', (manifest) => (manifest['budgets'] = { PreToolUse: -5 })),
}

for (const [fault, spoil] of sampled(Object.entries(configFaults), 3)) {
  test(`${fault}: the guard still asks`, async () => {
    const repo = makeRepo(['session', 'graph-pretooluse'])
    spoil(repo)
    const answer = await repo.fire('PreToolUse', wholeSearch)
    isClean(answer)
    assert.equal(answer.output.decision, 'ask')
    const quiet = ['the manifest has a BOM', 'a rule of config.json is misspelt', 'the manifest names no modules']
    if (!quiet.includes(fault))
      assert.match(answer.output.warnings!.join(), /dispatch\.manifest\.json|config\.json|workspace\.json/)
  })
}

test('a broken lib is told on every event and never crashes', async () => {
  const repo = makeRepo()
  for (const file of ['hot', 'dispatch']) repo.put(`.ai/hooks/lib/${file}.cjs`, 'syntax error(')
  const answer = await repo.fire('PreToolUse', readFile)
  isClean(answer)
  assert.equal(answer.output.decision, 'allow')
  assert.match(String(answer.output['systemMessage']), /cannot start .*its rules were not applied/)
  assert.deepEqual(Object.keys((await repo.fire('Stop')).output), ['systemMessage'])
})

for (const name of sampled(["it's", 'a b', 'a#b?c', 'a%20b', 'ä€😀', '$(touch x)', 'a&b;c', '[x]{y}*'], 3)) {
  test(`a repository in a folder called ${name} keeps its guards`, async () => {
    const repo = makeRepo(['session', 'graph-pretooluse'], join(tempFolder(), name))
    repo.addModule('mine', moduleBody('mine', `return { warnings: ['mine was asked'] }`), { priority: 1 })
    const answer = await repo.fire('PreToolUse', wholeSearch)
    isClean(answer)
    assert.equal(answer.output.decision, 'ask')
    assert.ok(answer.output.warnings?.includes('mine was asked'))
    assert.equal(repo.events('TOOL_DECISION').length, 1)
  })
}

test('started from another folder, it finds its own', async () => {
  const repo = makeRepo(['session', 'graph-pretooluse'])
  assert.equal((await repo.fire('PreToolUse', wholeSearch, { cwd: tempFolder() })).output.decision, 'ask')
  assert.equal(repo.events('TOOL_DECISION').length, 1)
})

const diskFaults: Record<string, (repo: Repo) => void> = {
  '.ai/tmp is a file': (repo) => repo.put('.ai/tmp', 'x'),
  'the session folder is a file': (repo) => repo.put(`.ai/tmp/${sid}`, 'x'),
  'events.jsonl is a folder': (repo) => mkdirSync(join(repo.root, `.ai/tmp/${sid}/events.jsonl`), { recursive: true }),
  'state.json is a folder': (repo) => mkdirSync(join(repo.root, `.ai/tmp/${sid}/state.json`), { recursive: true }),
  'the trace log is a folder': (repo) => mkdirSync(join(repo.root, '.ai/tmp/dispatch.log'), { recursive: true }),
  'the disk is full': (repo) => {
    mkdirSync(join(repo.root, `.ai/tmp/${sid}`), { recursive: true })
    for (const file of ['events.jsonl', 'registry.jsonl', 'p.jsonl'])
      symlinkSync('/dev/full', join(repo.root, `.ai/tmp/${sid}/${file}`))
  },
  'a lock was left by a dead process': (repo) => repo.put(`.ai/tmp/${sid}/state.lock`, ''),
}

for (const [fault, spoil] of sampled(Object.entries(diskFaults), 3)) {
  test(`${fault}: the decision stands`, async () => {
    const repo = makeRepo(['session', 'graph-pretooluse'])
    spoil(repo)
    for (const name of ['UserPromptSubmit', 'PreToolUse'] as const) {
      const answer = await repo.fire(name, wholeSearch)
      isClean(answer)
      if (name === 'PreToolUse') assert.equal(answer.output.decision, 'ask')
    }
  })
}

test('a folder that cannot be written, not even by root: the decision stands', (t) => {
  const repo = makeRepo(['session', 'graph-pretooluse'])
  const script = `mount --bind "$1/.ai" "$1/.ai" && mount -o remount,bind,ro "$1/.ai" || exit 99
    touch "$1/.ai/x" 2>/dev/null && exit 98
    exec "$2" "$1/.ai/hooks/dispatch.mjs" PreToolUse`
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['-rm', 'sh', '-c', script, 'sh', repo.root, process.execPath],
    {
      input: JSON.stringify(payload('PreToolUse', wholeSearch)),
      encoding: 'utf8',
    },
  )
  if (status === null || status === 99 || stderr.includes('unshare')) {
    t.skip('this machine lets nobody mount a folder')
    return
  }
  assert.deepEqual([status, stderr, JSON.parse(stdout).decision], [0, '', 'ask'])
})

test('a torn last line is closed, not glued to', async () => {
  const repo = makeRepo(['session'])
  await repo.fire('PreToolUse', readFile)
  appendFileSync(join(repo.root, `.ai/tmp/${sid}/events.jsonl`), '{"ts":1,"event":"PreTo')
  await repo.fire('PreToolUse', readFile)
  const text = repo.read('events.jsonl').split('\n')
  assert.equal(text.filter((line) => line.includes('"TOOL_DECISION"')).length, 2)
  assert.equal(text.filter((line) => line === '{"ts":1,"event":"PreTo').length, 1)
  writeFileSync(join(repo.root, `.ai/tmp/${sid}/state.json`), '')
  isClean(await repo.fire('UserPromptSubmit', { prompt: 'x' }))
  assert.equal(repo.state().core['lastTurnId'], 1)
})

test('a log that was cut off behind our back does no harm', async () => {
  const repo = makeRepo(['session'])
  for (const prompt of ['a', 'b']) await repo.fire('UserPromptSubmit', { prompt })
  writeFileSync(join(repo.root, `.ai/tmp/${sid}/events.jsonl`), '')
  await repo.fire('UserPromptSubmit', { prompt: 'c' })
  assert.equal(repo.state().core['lastTurnId'], 3)
})

test('a module cannot write the state or a decision into the log by hand', async () => {
  const repo = makeRepo(['session'])
  repo.addModule(
    'forger',
    moduleBody(
      'forger',
      `return { emitEvents: [{ kind: 'STATE_PATCH', data: { patch: { core: { phase: 'COMPLETE' } } } }, { kind: 'TOOL_DECISION', decision: 'allow' }] }`,
    ),
  )
  await repo.fire('PreToolUse', readFile)
  await repo.fire('PostToolUse', readFile)
  assert.deepEqual([repo.state().core['phase'], repo.events('TOOL_DECISION').length], ['UNINITIALIZED', 1])
})

test('a patch cannot reach a prototype', async () => {
  const repo = makeRepo(['session'])
  repo.addModule(
    'polluter',
    moduleBody(
      'polluter',
      `return { statePatch: JSON.parse('{"__proto__":{"a":1},"constructor":{"b":1},"ok":{"__proto__":{"c":1},"d":1}}') }`,
    ),
  )
  await repo.fire('PreToolUse', readFile)
  const { core: _, ...rest } = repo.state()
  assert.deepEqual(rest, { ok: { d: 1 } })
})

test('a module that changes the input it was given changes nothing', async () => {
  const repo = makeRepo(['session', 'graph-pretooluse'])
  repo.addModule('mutator', moduleBody('mutator', `ctx.event.toolInput.includePattern = 'src/**'; return {}`), {
    priority: 1,
  })
  assert.equal((await repo.fire('PreToolUse', wholeSearch)).output.decision, 'ask')
})

for (const [what, value] of Object.entries({
  'a BigInt': '1n',
  'a cycle': '(() => { const a = {}; return a.a = a })()',
})) {
  for (const critical of [false, true]) {
    test(`a rewrite with ${what} in it fails the ${critical ? 'critical ' : ''}module, and the answer is whole`, async () => {
      const repo = makeRepo(['session', 'graph-pretooluse'])
      const body = `return { warnings: ['half'], statePatch: { half: true }, updatedInput: { x: ${value} } }`
      repo.addModule('rewrites', moduleBody('rewrites', body), { priority: 1, critical })
      repo.edit('dispatch.manifest.json', (manifest) => (manifest['rewriteOwner'] = { updatedInput: 'rewrites' }))
      const answer = await repo.fire('PreToolUse', wholeSearch)
      isClean(answer)
      assert.equal(answer.output.decision, critical ? 'deny' : 'ask')
      assert.match(answer.output.warnings!.join(), /module rewrites failed/)
      assert.deepEqual([answer.output.warnings!.includes('half'), repo.state()['half']], [false, undefined])
    })
  }
}

test('an event that is no JSON value is replaced by an error, and the others stand', async () => {
  const repo = makeRepo(['session'])
  repo.addModule(
    'cyclic',
    moduleBody('cyclic', `const a = {}; a.a = a; return { emitEvents: [{ kind: 'A', data: a }, { kind: 'B' }] }`),
  )
  await repo.fire('PreToolUse', readFile)
  assert.deepEqual(
    repo
      .events()
      .filter(({ producer }) => producer === 'cyclic')
      .map(({ kind }) => kind),
    ['ERROR_MODULE', 'B'],
  )
})

test('a stop that was already held up is let go', async () => {
  const repo = makeRepo(['session'])
  repo.addModule(
    'holds',
    moduleBody('holds', `return { block: { reason: 'not yet' } }`, [
      'Stop',
      'SubagentStop',
      'PostToolUse',
      'UserPromptSubmit',
    ]),
  )
  const held = (await repo.fire('Stop', { stop_hook_active: false })).output
  assert.deepEqual(
    [held.decision, held['reason'], held.hookSpecificOutput],
    ['block', 'not yet', { hookEventName: 'Stop', decision: 'block', reason: 'not yet' }],
  )
  const let_go = (await repo.fire('Stop', { stop_hook_active: true })).output
  assert.deepEqual([let_go.decision, let_go.hookSpecificOutput], [undefined, { hookEventName: 'Stop' }])
})

test('the trace log is turned over at a mebibyte', async () => {
  const repo = makeRepo(['session'])
  repo.put('.ai/tmp/dispatch.log', 'x'.repeat(1024 * 1024))
  await repo.fire('PreToolUse', readFile)
  assert.ok(repo.trace().length < 1000)
  assert.deepEqual(
    filesUnder(join(repo.root, '.ai/tmp')).filter((file) => file.startsWith('dispatch.log')),
    ['dispatch.log', 'dispatch.log.1'],
  )
})

test('a cache of compiled code that is damaged or of another program is passed over', async () => {
  const repo = makeRepo(['session', 'graph-pretooluse'])
  mkdirSync(join(repo.root, '.ai/hooks/lib/cache'))
  await repo.fire('PreToolUse', readFile, { env: { ONA_DISPATCHER_WARM: '1' } })
  const [file] = filesUnder(join(repo.root, '.ai/hooks/lib/cache'))
  const cache = join(repo.root, '.ai/hooks/lib/cache', file!)
  const whole = readFileSync(cache)
  const isGuarded = async () => {
    const answer = await repo.fire('PreToolUse', wholeSearch)
    isClean(answer)
    assert.equal(answer.output.decision, 'ask')
  }
  await isGuarded()
  for (const cut of sampled([0, 10, 1000, whole.length - 1], 2)) {
    writeFileSync(cache, whole.subarray(0, cut))
    await isGuarded()
  }
  for (const at of sampled([1000, 5000, 20_000, whole.length >> 1, whole.length - 5000], 2)) {
    writeFileSync(cache, Buffer.from(whole).fill(0, at, at + 4096))
    await isGuarded()
  }
  writeFileSync(cache, whole)
  const program = join(repo.root, '.ai/hooks/lib/hot.cjs')
  const { atime, mtime } = statSync(program)
  writeFileSync(
    program,
    readFileSync(program, 'utf8').replaceAll('covers the whole repository', 'COVERS THE WHOLE repoSITORY'),
  )
  utimesSync(program, atime, mtime)
  assert.match(String((await repo.fire('PreToolUse', wholeSearch)).output['denyReason']), /COVERS/)
})

test('whatever stdin says, it becomes an event', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      const { raw } = parseInput({ text }, 'PreToolUse')
      const event = toHostEvent('PreToolUse', raw, '/repo')
      assert.ok(Array.isArray(event.paths))
    }),
  )
})

test('whatever the manifest says, something sensible is made of it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const { manifest } = readManifest(value)
      assert.ok(manifest.budgets.PreToolUse >= 50)
      assert.ok(Array.isArray(manifest.modules))
    }),
  )
})

test('a call too large to be read is asked about, because no guard has seen it', async () => {
  const repo = makeRepo(['session', 'graph-pretooluse'])
  const answer = await repo.fire('PreToolUse', {}, { stdin: Buffer.alloc(129 * 1024 * 1024, 0x20) })
  isClean(answer)
  assert.deepEqual(
    [answer.output.decision, answer.output['denyReason']],
    ['ask', 'the call could not be read, so no guard has checked it'],
  )
})

/** What every host must do, whatever its config looks like. Each host in index.ts passes it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Problem } from '../../src/files/problem.ts'
import { adapterFor, type OwnAdapter } from '../../src/hosts/adapter.ts'
import type { BrainHook, BrainHookEvent } from '../../src/hosts/hook.ts'
import type { Host } from '../../src/hosts/host.ts'
import type { SampleConfig } from '../../src/hosts/sample-config.ts'
import { packageRoot } from '../../src/package-root.ts'
import { isFull } from './campaign-size.ts'
import { compileCache } from './compile-cache.ts'

/** As much of a role as its hooks need. */
interface Role {
  readonly repo: string
  readonly slug: string
  readonly hooks: { readonly onBrain: Declared }
}
type Declared = { readonly [event in BrainHookEvent]?: readonly Omit<BrainHook, 'author' | 'event'>[] }

const authorOf = ({ repo, slug }: Role) => `repo=${repo}/role=${slug}`
const hooksOf = (role: Role) =>
  Object.entries(role.hooks.onBrain).flatMap(([event, hooks]) =>
    hooks.map((hook): BrainHook => ({ author: authorOf(role), event: event as BrainHookEvent, ...hook })),
  )

export const mechanic = (onBrain: Declared): Role => ({ repo: 'acme', slug: 'mechanic', hooks: { onBrain } })

export const fullRole: Role = mechanic({
  onBoot: [{ command: 'node tools/boot.mjs', timeout: 'PT1M' }],
  onTalk: [{ command: 'node tools/talk.mjs', timeout: 'PT20S' }],
  onTool: [
    { command: 'node tools/guard.mjs', timeout: 'PT5S', filter: { what: 'Write|Edit' } },
    { command: "sh -c 'echo \"it'\\''s done\"'", timeout: { seconds: 10 }, filter: { what: 'Bash', when: 'after' } },
  ],
  onStop: [{ command: 'node tools/wrap.mjs', timeout: { minutes: 2 } }],
})

const author = 'repo=acme/role=mechanic'
const boot: BrainHook = { author, event: 'onBoot', command: 'node tools/boot.mjs', timeout: 'PT60S' }
const talk: BrainHook = { author, event: 'onTalk', command: 'node tools/talk.mjs', timeout: 'PT20S' }
const guard = (over: Partial<BrainHook> = {}): BrainHook => ({
  author,
  event: 'onTool',
  command: 'node tools/guard.mjs',
  timeout: 'PT5S',
  filter: { what: 'Write|Edit', when: 'before' },
  ...over,
})
const report: BrainHook = {
  author,
  event: 'onTool',
  command: "sh -c 'echo \"it'\\''s done\"'",
  timeout: 'PT10S',
  filter: { what: 'Bash', when: 'after' },
}
const wrap: BrainHook = { author, event: 'onStop', command: 'node tools/wrap.mjs', timeout: 'PT120S' }
const inOrder = (hooks: readonly BrainHook[]) =>
  [...hooks].sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))

export function hostSuite(host: Host, sample: SampleConfig, variant = ''): void {
  const check = (name: string, body: (place: Place, t: TestContext) => Promise<void>) =>
    test(`BrainHooksAdapter ${host.slug}${variant}: ${name}`, async (t) => {
      const root = mkdtempSync(join(tmpdir(), `host-${host.slug}-`))
      t.after(() => rmSync(root, { recursive: true, force: true }))
      const config = join(root, host.config)
      const adapter = adapterFor(host, root)
      const sync = (role: Role) => {
        const hooks = hooksOf(role).filter((hook) => !host.limits(hook).some(({ dropped }) => dropped))
        return adapter.dao.set.all!({ author: authorOf(role), hooks })
      }
      const put = (text: string) => {
        mkdirSync(dirname(config), { recursive: true })
        writeFileSync(config, text)
      }
      await body({ root, config, adapter, dao: adapter.dao, sync, put, text: () => readFileSync(config, 'utf8') }, t)
    })

  check('a synced role is found again hook by hook, in a folder that was empty', async ({ dao, sync }) => {
    await sync(fullRole)
    assert.deepEqual(inOrder(await dao.get.all()), inOrder([boot, talk, guard(), report, wrap]))
    for (const hook of [boot, talk, guard(), report, wrap])
      assert.deepEqual(await dao.get.one({ by: { unique: hook } }), hook)
    assert.deepEqual(await dao.get.all({ by: { event: 'onStop' } }), [wrap])
    assert.deepEqual(await dao.get.all({ by: { command: boot.command } }), [boot])
    assert.deepEqual(await dao.get.all({ by: { author: 'repo=acme/role=other' } }), [])
  })

  check('the resulting config is this', async ({ root, sync }, t) => {
    await sync(fullRole)
    const files = globSync('.*/**/*', { cwd: root })
    const all = files.filter((path) => statSync(join(root, path)).isFile()).sort()
    t.assert.fileSnapshot(
      all.map((path) => `=== ${path}\n${readFileSync(join(root, path), 'utf8')}`).join('\n'),
      join(packageRoot, 'src/hosts', host.slug, `config${variant}.snapshot.txt`),
      { serializers: [String] },
    )
  })

  check('the same sync again writes nothing, not even the time of the file', async ({ config, sync, put, text }) => {
    put(sample.config)
    await sync(fullRole)
    const before = text()
    utimesSync(config, 1000, 1000)
    await sync(fullRole)
    assert.deepEqual([text(), statSync(config).mtimeMs], [before, 1_000_000])
  })

  check('a changed timeout and a changed filter change the hook and no other', async ({ dao, sync }) => {
    await sync(mechanic({ onTool: [rule(guard())], onStop: [rule(wrap)] }))
    const changed = guard({ timeout: 'PT7S', filter: { what: 'Bash', when: 'before' } })
    await sync(mechanic({ onTool: [rule(changed)], onStop: [rule(wrap)] }))
    assert.deepEqual(await dao.get.all(), [changed, wrap])
  })

  check('a hook moves from before to after', async ({ dao, sync }) => {
    await sync(mechanic({ onTool: [rule(guard())] }))
    const moved = guard({ filter: { what: 'Write|Edit', when: 'after' } })
    await sync(mechanic({ onTool: [rule(moved)] }))
    assert.deepEqual(await dao.get.all(), [moved])
  })

  check(
    'what a role drops is gone, and with the last hook the file is as it was',
    async ({ config, dao, sync, put, text }) => {
      await sync(fullRole)
      await sync(mechanic({ onStop: [rule(wrap)] }))
      assert.deepEqual(await dao.get.all(), [wrap])
      await sync(mechanic({}))
      assert.deepEqual(await dao.get.all(), [])
      rmSync(config, { force: true })
      if (sample.config === '') return
      put(sample.config)
      await sync(fullRole)
      await sync(mechanic({}))
      assert.equal(text(), sample.config)
    },
  )

  check('neighbours stay as they are, byte by byte', async ({ sync, put, text }) => {
    put(sample.config)
    await sync(fullRole)
    for (const part of sample.mustStay) assert.ok(text().includes(part), `${part}\nis not in\n${text()}`)
  })

  check('another role is left alone', async ({ dao, sync }) => {
    const other: Role = { repo: 'acme', slug: 'auditor', hooks: { onBrain: { onStop: [rule(wrap)] } } }
    await sync(other)
    await sync(fullRole)
    await sync(mechanic({}))
    assert.deepEqual(await dao.get.all(), [{ ...wrap, author: 'repo=acme/role=auditor' }])
  })

  check('an entry changed by hand is put right', async ({ dao, sync, put, text }) => {
    await sync(mechanic({ onTool: [rule(guard())] }))
    const good = text()
    put(sample.byHand(good))
    assert.notEqual(text(), good)
    await sync(mechanic({ onTool: [rule(guard())] }))
    assert.deepEqual([await dao.get.all(), text()], [[guard()], good])
  })

  check('declared order is the order in the file, also for a hook put in between', async ({ dao, sync }) => {
    const hooks = ['a', 'b', 'c', 'd'].map((name) => ({ ...wrap, command: `run ${name}` }))
    const [a, b, c, d] = hooks.map(rule)
    await sync(mechanic({ onStop: [a!, c!] }))
    await sync(mechanic({ onStop: [a!, b!, c!, d!] }))
    const commands = (await dao.get.all()).map(({ command }) => command)
    const expected = ['run a', 'run b', 'run c', 'run d']
    // where the agent goes by position, what is there must not move
    assert.deepEqual(commands, sample.fixedPositions ? ['run a', 'run c', 'run b', 'run d'] : expected)
  })

  check('findsert finds what is there and puts in what is not; del takes only what it names', async ({ dao }) => {
    const later = guard({ timeout: 'PT9S' })
    assert.deepEqual(await dao.set.findsert({ hook: guard() }), guard())
    assert.deepEqual(await dao.set.findsert({ hook: later }), guard())
    assert.deepEqual(await dao.set.upsert({ hook: later }), later)
    await dao.set.upsert({ hook: wrap })
    await dao.del({ by: { unique: { ...later, author: 'repo=acme/role=other' } } })
    assert.deepEqual(await dao.get.all(), [later, wrap])
    await dao.del({ by: { unique: later } })
    await dao.del({ by: { unique: later } })
    assert.deepEqual(await dao.get.all(), [wrap])
    assert.equal(await dao.get.one({ by: { unique: later } }), null)
  })

  check('a fraction of a second is rounded up, and is then no change', async ({ dao, config, sync }) => {
    const half = mechanic({ onStop: [{ command: 'x', timeout: 'PT1.5S' }] })
    await sync(half)
    assert.equal((await dao.get.all())[0]!.timeout, host.unitMs === 1000 ? 'PT2S' : 'PT1.5S')
    utimesSync(config, 1000, 1000)
    await sync(half)
    assert.equal(statSync(config).mtimeMs, 1_000_000)
  })

  check('an empty file is a file to begin with', async ({ dao, put, sync }) => {
    put('')
    await sync(fullRole)
    assert.equal((await dao.get.all()).length, 5)
  })

  check('line ends, a byte order mark and the mode are kept', async ({ config, dao, put, sync, text }) => {
    if (sample.config === '') await sync(mechanic({ onStop: [rule(wrap)] }))
    const start = sample.config || text()
    put(`\uFEFF${start.replaceAll('\n', '\r\n')}`)
    chmodSync(config, 0o640)
    await sync(fullRole)
    assert.equal((await dao.get.all()).length, 5)
    assert.ok(text().startsWith('\uFEFF'))
    assert.equal(text().replaceAll('\r\n', '').includes('\n'), false)
    assert.equal(statSync(config).mode & 0o777, 0o640)
  })

  check('a config behind a symbolic link is changed behind it', async ({ root, config, dao, put, sync }) => {
    put(sample.config)
    if (sample.config === '') await sync(mechanic({ onStop: [rule(wrap)] }))
    const target = join(root, 'dotfile')
    writeFileSync(target, readFileSync(config))
    rmSync(config)
    symlinkSync(target, config)
    await sync(fullRole)
    assert.equal((await dao.get.all()).length, 5)
    assert.equal(readFileSync(target, 'utf8').includes('tools/boot.mjs'), true)
    assert.ok(existsSync(config))
  })

  check('a broken config is named with its place, and nothing is written', async ({ config, put, sync, text }) => {
    const broken = host.config.endsWith('.json')
      ? '{\n  "hooks": {\n    "x": [1,, 2]\n  }\n}\n'
      : 'export const mine = 1\n'
    put(broken)
    utimesSync(config, 1000, 1000)
    await assert.rejects(sync(fullRole), (thrown) => {
      assert.ok(thrown instanceof Problem)
      assert.match(thrown.message, host.config.endsWith('.json') ? /:3:13: / : /:1:1: /)
      assert.ok(thrown.message.startsWith(host.config))
      return true
    })
    assert.deepEqual([text(), statSync(config).mtimeMs], [broken, 1_000_000])
  })

  check(
    'a hook whose failure refuses the call, and the starts of a context, are found again',
    async ({ dao, sync }) => {
      const refusing = guard({ onFailure: 'refuse' })
      const starts: BrainHook = { ...boot, command: 'node tools/start.mjs', filter: { what: 'startup|resume' } }
      const compacts: BrainHook = { ...boot, command: 'node tools/squeeze.mjs', filter: { what: 'PreCompact' } }
      await sync(mechanic({ onBoot: [rule(starts), rule(compacts)], onTool: [rule(refusing)] }))
      assert.deepEqual(inOrder(await dao.get.all()), inOrder([starts, compacts, refusing]))
    },
  )

  check('a filter that matches no tool is a limit, and the hook is left out', async () => {
    for (const what of ['Bahs', 'Bash(git *)', '^(Baash|Wriite)$']) {
      const [limit, ...more] = host.limits(guard({ filter: { what } }))
      assert.deepEqual([limit?.dropped, more.length], [true, 0], what)
    }
    assert.deepEqual(host.limits(guard({ filter: { what: '*' } })), [])
  })

  check('comments survive, or are rejected where the agent would ignore the file', async ({ put, sync, text }) => {
    if (!sample.commented) return
    put(sample.commented)
    if (sample.strict) {
      await assert.rejects(sync(fullRole), /:3:\d+: .* reads strict JSON and ignores this file as it is/)
      assert.equal(text(), sample.commented)
      return
    }
    await sync(fullRole)
    await sync(mechanic({}))
    assert.equal(text(), sample.commented)
  })

  check('200 hooks go in and out', async ({ dao, sync, put }) => {
    put(sample.config)
    const many = Array.from({ length: 200 }, (_, index) => ({
      command: `node tools/${index}.mjs`,
      timeout: 'PT5S',
      filter: { what: 'Bash' },
    }))
    await sync(mechanic({ onTool: many }))
    assert.deepEqual(
      (await dao.get.all()).map(({ command }) => command),
      many.map(({ command }) => command),
    )
    await sync(mechanic({ onTool: many.filter((_, index) => index % 2 === 0) }))
    assert.equal((await dao.get.all()).length, 100)
  })

  // one adapter writes for all of them, so by default three of them are enough
  if (isFull || ['claudecode', 'opencode', 'codex'].includes(host.slug))
    check('two processes at once lose nothing of each other', async ({ root, dao, put }) => {
      put(sample.config)
      const writer = (name: string) => {
        const code = `
        const { adapterFor } = await import(${JSON.stringify(join(packageRoot, 'src/hosts/adapter.ts'))})
        const { hostOf } = await import(${JSON.stringify(join(packageRoot, 'src/hosts/index.ts'))})
        const { dao } = adapterFor(hostOf(${JSON.stringify(host.slug)}), ${JSON.stringify(root)})
        for (let i = 0; i < 10; i++)
          await dao.set.upsert({ hook: { author: 'repo=acme/role=${name}', event: 'onStop', command: '${name} ' + i, timeout: 'PT5S' } })`
        return new Promise<number | null>((done) => {
          spawn(process.execPath, [compileCache, '--input-type=module', '-e', code], { stdio: 'inherit' }).on(
            'close',
            done,
          )
        })
      }
      assert.deepEqual(await Promise.all([writer('one'), writer('two')]), [0, 0])
      assert.equal((await dao.get.all()).length, 20)
      assert.deepEqual(globSync('**/*.{lock,tmp}', { cwd: root }), [])
    })
}

interface Place {
  readonly root: string
  readonly config: string
  readonly adapter: OwnAdapter
  readonly dao: OwnAdapter['dao']
  sync(role: Role): Promise<void>
  /** Puts a config there that is not of our making. */
  put(text: string): void
  text(): string
}

const rule = ({ command, timeout, filter, onFailure }: BrainHook) => ({
  command,
  timeout,
  ...(filter && { filter }),
  ...(onFailure && { onFailure }),
})

/**
 * An agent's detached command that covers parts of /proc, in namespaces of its own, so that it seems to be older or to be
 * another process. The canary is the approval of a plan. As root, and as a user without privileges.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { packageRoot } from '../../src/package-root.ts'
import { type Place, place } from '../support/program.ts'
import { initDb } from '../support/workflow.ts'

const nobody = 65534
const users: { name: string; uid?: number }[] = [
  { name: process.getuid?.() === 0 ? 'root' : 'this user' },
  ...(process.getuid?.() === 0 ? [{ name: 'a user without privileges', uid: nobody }] : []),
]

const program = join(packageRoot, 'bin/ona.mjs')
const ona = `${process.execPath} ${program}`

/** Why namespaces cannot be made by this user here, or ona not be read. */
function problemFor(uid?: number): string | false {
  if (process.platform !== 'linux') return 'only Linux has /proc'
  const as = uid === undefined ? {} : { uid, gid: uid }
  const at = { cwd: '/', env: { PATH: process.env['PATH'] }, ...as }
  if (spawnSync('unshare', ['-rpfm', '--mount-proc', 'true'], at).status !== 0) return 'no namespace can be made here'
  return spawnSync(process.execPath, [program, '--version'], at).status !== 0 && 'this user cannot read ona'
}

/** A conversation with a draft that waits for the operator, for each name; what is there belongs to the user. */
async function planning(t: TestContext, names: readonly string[], uid?: number): Promise<Place> {
  const at = place(t)
  await initDb(at)
  const db = new DatabaseSync(at.db)
  db.prepare("INSERT INTO conversations(id, project_dir, last_active) VALUES ('tools', ?, '2099-01-01')").run(at.folder)
  for (const name of names) {
    db.prepare("INSERT INTO conversations(id, project_dir, phase) VALUES (?, ?, 'planning')").run(name, at.folder)
    const plan = '# P\n\n## Success criteria\n- it works\n'
    db.prepare("INSERT INTO plans(conversation_id, content, hash) VALUES (?, ?, 'x')").run(name, plan)
  }
  db.close()
  if (uid !== undefined) {
    const root = dirname(at.home)
    for (const each of ['', ...readdirSync(root, { recursive: true, encoding: 'utf8' })])
      chownSync(join(root, each), uid, uid)
  }
  return at
}

const approved = (at: Place) =>
  at
    .rows<{ id: string }>("SELECT conversation_id AS id FROM plans WHERE status = 'approved' ORDER BY id")
    .map(({ id }) => id)

const early = 'btime 1000000000'
/** Ahead of each script. $1 is the conversation, and $outer the detached process, which is in no namespace of its own. */
const shared = `early() { sed 's/^btime .*/${early}/' /proc/stat > "$1.stat"; }
ancient() { sed -E 's/^(.*\\) )(([^ ]+ ){19})[0-9]+/\\1\\21/' /proc/$outer/stat > "$1.birth"; }
turn() { until [ -e "$1.turn" ]; do sleep 0.1; done; }
approve() { turn "$1"; exec ${ona} plan approve --conversation "$1" --as Mallory; }
`

interface Attack {
  /** Runs `bash -c SCRIPT bash CONVERSATION`. */
  readonly with: string
  readonly script: string
  readonly answer: RegExp
}
const mounts = 'unshare -rm'
const hidden = 'approving a plan is for the operator, and /proc does not show who started this command: '
const covered = (path: string) => new RegExp(`${hidden}a mount covers /proc/${path}; unmount that, or run it in`)
const older = /started while the agent's command toolu_\w+ ran/
const attacks: Record<string, Attack> = {
  control: { with: 'env', script: 'approve $1', answer: older },
  'a file over the time of the boot': {
    with: mounts,
    script: 'early $1; mount --bind $1.stat /proc/stat; approve $1',
    answer: older,
  },
  'the words of a process over the time of the boot': {
    with: mounts,
    script: `(exec -a $'cpu\\n${early}\\n' sleep 30) & sleep 0.3; mount --bind /proc/$!/cmdline /proc/stat; approve $1`,
    answer: older,
  },
  'a file over the birth of the detached process': {
    with: mounts,
    script: 'ancient $1; mount --bind $1.birth /proc/$outer/stat; approve $1',
    answer: covered('\\d+/stat'),
  },
  'another process over itself': {
    with: mounts,
    script: 'mount --bind /proc/1 /proc/$$; approve $1',
    answer: covered('\\d+'),
  },
  'the mounts of another process over its own': {
    with: mounts,
    script:
      'ancient $1; mount --bind $1.birth /proc/$outer/stat; mount --bind /proc/$outer/mountinfo /proc/$$/mountinfo; approve $1',
    answer: covered('\\d+/mountinfo'),
  },
  'the descriptors of another process over its own, too': {
    with: mounts,
    script: `(for fd in {3..60}; do eval "exec $fd</proc"; done; exec sleep 30) & sleep 0.3; ancient $1
mount --bind $1.birth /proc/$outer/stat; mount --bind /proc/$outer/mountinfo /proc/$$/mountinfo; mount --bind /proc/$!/fdinfo /proc/$$/fdinfo; approve $1`,
    answer: covered('\\d+/fdinfo'),
  },
  'the root folder of other mounts': {
    with: mounts,
    script: `ancient $1; unshare -m bash -c "mount --bind $1.birth /proc/$outer/stat; exec sleep 30" & sleep 0.5; turn $1
exec nsenter --mount=/proc/$$/ns/mnt --root=/proc/$!/root --wd=/ ${ona} plan approve --conversation $1 --as Mallory`,
    answer: new RegExp(`${hidden}its mount is not one of this mount namespace`),
  },
  'nothing but processes in /proc': {
    with: 'unshare -rpfm',
    script: 'mount -t proc -o subset=pid proc /proc; approve $1',
    answer: older,
  },
  'a second procfs': { with: mounts, script: 'mount --rbind /proc /proc; approve $1', answer: older },
  'an empty /proc': {
    with: mounts,
    script: 'mount -t tmpfs tmpfs /proc; approve $1',
    answer: new RegExp(`${hidden}it is not a procfs; mount one there`),
  },
  'the /proc of the namespace outside': {
    with: 'unshare -rpf',
    script: 'approve $1; true',
    answer: new RegExp(`${hidden}it belongs to another process namespace`),
  },
  'a namespace entered from outside': {
    with: mounts,
    script: `unshare -pfm --mount-proc sleep 30 & sleep 0.5; turn $1
exec nsenter -t $(pgrep -P $!) -m -p ${ona} plan approve --conversation $1 --as Mallory`,
    answer: older,
  },
}

/** What bash runs for them: all get ready at once, and then each acts in its turn, with its output in a file. */
const scriptOf = (all: Record<string, Pick<Attack, 'with' | 'script'>>, names: readonly string[]) =>
  [
    ...names.map((id, at) => {
      const { with: words, script } = Object.values(all)[at]!
      const quoted = `'${`${shared}${script}`.replaceAll("'", `'\\''`)}'`
      return `timeout 30 ${words} bash -c ${quoted} bash ${id} > ${id}.said 2>&1 & ${id}=$!\n`
    }),
    'sleep 2\n',
    ...names.map((id) => `: > ${id}.turn; wait $${id}\n`),
    ': > ended\n',
  ].join('')

async function appears(file: string): Promise<void> {
  for (let tries = 0; tries < 1200 && !existsSync(file); tries++) await wait(100)
}

for (const { name, uid } of users)
  test(`what a detached command mounts over /proc makes it no operator: ${name}`, {
    skip: problemFor(uid),
  }, async (t) => {
    const ids = Object.keys(attacks).map((_, at) => `c${at}`)
    const at = await planning(t, ids, uid)
    at.write('later.sh', `export outer=$$\n${scriptOf(attacks, ids)}`)
    const bare = `env -i HOME=${at.home} PATH="$PATH"`
    const command = `setsid --fork ${bare} bash later.sh > /dev/null 2>&1 < /dev/null`
    const eval_ = JSON.stringify({ tool: 'Bash', input: { command } })
    const ran = await at.run(['--eval', eval_, '--conversation', 'tools'], {
      alone: true,
      ...(uid !== undefined && { uid }),
    })
    assert.equal(ran.code, 0, ran.stderr)
    await appears(join(at.folder, 'ended'))
    const said = ids.map((id) => readFileSync(join(at.folder, `${id}.said`), 'utf8'))
    const wrong = Object.entries(attacks).flatMap(([what, { answer }], at) =>
      answer.test(said[at]!) ? [] : [`${what}: ${said[at]}`],
    )
    const passed = approved(at).map((id) => Object.keys(attacks)[ids.indexOf(id)])
    assert.deepEqual({ passed, wrong }, { passed: [], wrong: [] })
  })

/** What containers and services mount, at a time when no command of the agent runs. */
const ordinary: Record<string, Pick<Attack, 'with' | 'script'>> = {
  control: { with: 'env', script: 'approve $1' },
  'what container engines hide': {
    with: mounts,
    script: `for each in kcore keys timer_list interrupts; do test -e /proc/$each && mount --bind /dev/null /proc/$each; done
for each in acpi scsi; do test -d /proc/$each && mount -t tmpfs -o ro tmpfs /proc/$each; done
for each in bus fs irq sys sysrq-trigger; do mount --rbind /proc/$each /proc/$each; done; approve $1`,
  },
  'what LXC shows as its own': {
    with: mounts,
    script: 'early $1; for each in stat uptime meminfo; do mount --bind $1.stat /proc/$each; done; approve $1',
  },
  'a service that sees its processes only': {
    with: 'unshare -rpfm',
    script: 'mount -t proc -o hidepid=invisible,subset=pid proc /proc; approve $1',
  },
  'the /proc of a chroot': { with: mounts, script: 'mount --rbind /proc /proc; approve $1' },
  'a shell in a running container': {
    with: mounts,
    script: `unshare -pfm --mount-proc sleep 30 & sleep 0.5; turn $1
exec nsenter -t $(pgrep -P $!) -m -p ${ona} plan approve --conversation $1 --as Ada`,
  },
}

for (const { name, uid } of users)
  test(`what is ordinarily mounted in /proc does not keep the operator from an approval: ${name}`, {
    skip: problemFor(uid),
  }, async (t) => {
    const ids = Object.keys(ordinary).map((_, at) => `c${at}`)
    const at = await planning(t, ids, uid)
    // detached, since an ona's test above is not looked at from another user namespace
    const script = at.write('now.sh', scriptOf(ordinary, ids))
    const env = { HOME: at.home, PATH: process.env['PATH'] }
    const as = uid === undefined ? {} : { uid, gid: uid }
    spawnSync('setsid', ['--fork', 'bash', script], { cwd: at.folder, env, stdio: 'ignore', ...as })
    await appears(join(at.folder, 'ended'))
    const said = ids.map((id) => readFileSync(join(at.folder, `${id}.said`), 'utf8'))
    assert.deepEqual(approved(at), ids, said.join('\n'))
  })

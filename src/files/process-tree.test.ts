import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { uptime } from 'node:os'
import { test } from 'node:test'
import { bootedAt } from './process-tree.ts'

const isLinux = process.platform === 'linux'
const inAnother = (...words: string[]) =>
  spawnSync('unshare', ['-UrT', '--fork', '--boottime', '5000', ...words], { encoding: 'utf8' })
const inMounts = (script: string, code: string) =>
  spawnSync(
    'unshare',
    ['-rm', 'bash', '-c', `${script} && exec "$0" --input-type=module -e "$1"`, process.execPath, code],
    {
      encoding: 'utf8',
    },
  )
const noMounts = !isLinux || inMounts('true', '').status !== 0 ? 'no mount namespace can be made here' : false
const noNamespace = !isLinux || inAnother('true').status !== 0 ? 'no time namespace can be made here' : false

test('the machine was started as long ago as it has been up', { skip: !isLinux && 'no /proc' }, () => {
  const ago = (Date.now() - bootedAt()) / 1000
  assert.ok(Math.abs(ago - uptime()) < 5, `${ago} s and ${uptime()} s`)
})

test('in another time namespace it is not certain when the machine was started', { skip: noNamespace }, () => {
  const code = `import { bootedAt } from ${JSON.stringify(import.meta.resolve('./process-tree.ts'))}; console.log(bootedAt())`
  const { stdout, stderr } = inAnother(process.execPath, '--input-type=module', '-e', code)
  assert.deepEqual([stdout, stderr], ['0\n', ''])
})

test('where something is mounted over /proc/stat, a process is dated by another that starts now', {
  skip: noMounts,
}, () => {
  const tree = JSON.stringify(import.meta.resolve('./process-tree.ts'))
  const cover = 'f=$(mktemp) && echo btime 1000000000 > $f && mount --bind $f /proc/stat && rm $f'
  const covered = (before: string) => {
    const code = `import { processOf, startedAt } from ${tree}; ${before}
const born = startedAt(processOf(process.pid)); console.log(born && Math.abs(Date.now() - born) < 5000)`
    const { stdout, stderr } = inMounts(cover, code)
    return stdout.trim() + stderr
  }
  const children = "const children = process.getBuiltinModule('node:child_process'); const { spawn } = children; "
  assert.deepEqual(
    [
      covered(''),
      covered(`${children} children.spawn = () => spawn('/nowhere')`),
      covered('const { now } = Date; let late = 0; Date.now = () => now() + 600 * late++'),
    ],
    ['true', 'undefined', 'undefined'],
  )
})

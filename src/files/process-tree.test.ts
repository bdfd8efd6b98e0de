import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { uptime } from 'node:os'
import { test } from 'node:test'
import { bootedAt } from './process-tree.ts'

const isLinux = process.platform === 'linux'
const inAnother = (...words: string[]) =>
  spawnSync('unshare', ['-UrT', '--fork', '--boottime', '5000', ...words], { encoding: 'utf8' })
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

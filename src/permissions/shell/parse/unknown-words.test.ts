/** Full paths, wrappers and words that only the run can tell, together: a rule on any spelling holds, or prompts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decide } from '../../decide.ts'

const ruling = (command: string, deny: string): Promise<string> => ruled(command, ['Bash'], [`Bash(${deny})`])

async function ruled(command: string, allow: readonly string[], deny: readonly string[] = []): Promise<string> {
  const settings = { allow, deny }
  const place = { cwd: '/w', projectDir: '/w', home: '/h' }
  const { decision, reason } = await decide({
    ...{ settings, mode: 'default', tool: 'Bash', input: { command }, hook: 'none', ...place },
  })
  return `${decision}: ${reason}`
}

const inFront = ['', 'timeout 5 ', 'env A=1 ', 'sudo -u x ', 'nice -n 3 timeout 5 ']

for (const deny of ['/usr/bin/git -C /srv push *', 'git push *']) {
  test(`beside a deny rule on \`${deny}\`, what may be the same command prompts`, async () => {
    for (const wrapper of inFront) {
      const line = (rest: string) => `${wrapper}/usr/bin/git ${rest}`
      const meant = [line('-C /srv $X'), line('-C /srv "$X" origin'), line('-C /srv $(cat verb) origin')]
      for (const command of meant) {
        const why = `ask: \`${command}\` may be what "Bash(${deny})" is about`
        assert.equal(await ruling(command, deny), why)
      }
      const denied = line('-C /srv push origin')
      assert.equal(
        await ruling(denied, deny),
        `deny: Permission to use Bash has been denied: the deny rule "Bash(${deny})" matches \`${denied}\`.`,
      )
    }
    assert.equal(await ruling('/usr/bin/git -C /srv status $X', deny), 'allow: the allow rule "Bash"')
    assert.equal(
      await ruling('xargs /usr/bin/git -C /srv', deny),
      `ask: \`xargs /usr/bin/git -C /srv\` may be what "Bash(${deny})" is about`,
    )
  })
}

test('a package manager that is given an unknown word may run the program of a rule', async () => {
  for (const line of ['pnpm $X publish', 'yarn "$X" publish', 'pnpm -w a $X publish'])
    assert.equal(await ruling(line, 'npm publish *'), `ask: \`${line}\` may be what "Bash(npm publish *)" is about`)
  for (const line of ['pnpm run $X', 'yarn add $X', 'node $X publish'])
    assert.equal(await ruling(line, 'npm publish *'), 'allow: the allow rule "Bash"')
})

test('an unknown value of an option, or an unknown part of a list, may be what a rule is about', async () => {
  const lines = [
    ...['rsync --rsh="$X y" a b', 'rsync --rsh=$X a b', 'cp --backup=$X a b', 'tool --filter=$X y', 'tool a,$X'],
    ...[
      'tool a=b,$(c) d',
      'tool a:"$X"',
      'tool "a;$X" b',
      'sort --compress-program $X',
      '/usr/bin/sort -o --files=$X y',
    ],
    ...['timeout 5 /usr/bin/rsync --rsh=$X a b', 'tool --filter="/bin/$X" y'],
  ]
  for (const line of lines)
    assert.equal(await ruling(line, 'rm *'), `ask: \`${line}\` may be what "Bash(rm *)" is about`)
  for (const line of ['echo a=$X', 'rsync --rsh=ssh a b', 'tool --filter=x y'])
    assert.equal(await ruling(line, 'rm *'), 'allow: the allow rule "Bash"')
})

test('an allow rule for a program does not allow another file of its name, wrapped or not', async () => {
  for (const [rule, rest] of [
    ['git push *', 'git push x'],
    ['git push *', 'git --no-pager push x'],
    ['git push *', 'git -P --no-pager push x'],
    ['npm test', 'npm test'],
    ['echo *', 'echo "$X"'],
  ] as const)
    for (const folder of ['/tmp/', './', '../bin/', '/usr/bin/'])
      for (const wrapper of ['', 'timeout 5 ', 'nice -n 3 timeout 5 ', 'nohup ']) {
        const allow = [`Bash(${rule})`]
        assert.match(await ruled(wrapper + rest, allow), /^allow: /)
        assert.equal(
          await ruled(wrapper + folder + rest, allow),
          `ask: default mode prompts for Bash; no rule allows \`${folder}${rest}\``,
        )
      }
})

/** Full paths, wrappers and words that only the run can tell, together: a rule on any spelling holds, or prompts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decide } from '../../decide.ts'

const ruling = async (command: string, deny: string): Promise<string> => {
  const settings = { allow: ['Bash'], deny: [`Bash(${deny})`] }
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

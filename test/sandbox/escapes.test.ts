/**
 * The escape table: each case runs for real inside the sandbox, and no canary may be touched. Cases marked `control` run
 * without the sandbox too, and must be seen to break out: the harness is not blind. Without user namespaces all of this fails.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sized } from '../support/campaign-size.ts'
import type { Case } from './cases.ts'
import { fileCases, gitCases } from './cases-files.ts'
import { kernelCases } from './cases-kernel.ts'
import { networkCases, proxyCases } from './cases-network.ts'
import { makeWorld, type World } from './world.ts'

let world: World
before(async () => {
  world = await makeWorld()
})
after(() => world?.close())

test('the sandbox is available: where it is not, nothing below is shown', () => {
  assert.deepEqual(world.fence.availability.ok || world.fence.availability.why, true)
})

test('ordinary work goes on inside', async () => {
  world.reset()
  const { exitCode, output, breaches } = await world.run(
    'echo hi > new.txt && mkdir d && mv new.txt d/ && git add d && git -c user.name=a -c user.email=a@b commit -qm x && git log --oneline | wc -l && ls "$OUTSIDE" && cat "$OUTSIDE/file.txt" && echo $((1+1)) > "$TMPDIR/x" && cat /tmp/x && node -e "console.log(require(\'child_process\').execSync(\'echo child\').toString())"',
  )
  assert.deepEqual(
    { exitCode, breaches, lines: output.trim().split('\n') },
    {
      exitCode: 0,
      breaches: [],
      lines: ['2', 'file.txt', 'folder', 'outside', '2', 'child'],
    },
  )
})

/** 1 runs the whole table, 4 every fourth case. */
const every = Number(process.env['ONA_ESCAPES_EVERY'] ?? sized(6, 1))

const shown = (cases: readonly Case[], where: () => World) => {
  for (const { name, run, control } of cases.filter((_, at) => at % every === 0)) {
    test(`inside: ${name}`, async () => {
      where().reset()
      const { breaches, output } = await where().run(run)
      assert.deepEqual(breaches, [], output)
    })
    if (control)
      test(`outside, the same is seen: ${name}`, async () => {
        where().reset()
        const { breaches, output } = await where().unfenced(run)
        assert.notDeepEqual(breaches, [], output)
        where().reset()
      })
  }
}

shown([...fileCases, ...kernelCases, ...networkCases, ...gitCases], () => world)

let online: World
before(async () => {
  const network = {
    allowedDomains: ['service.internal', 'rebind.test', '*.wild.test'],
    deniedDomains: ['bad.wild.test'],
  }
  online = await makeWorld({ network }, async () => ['127.0.0.1'])
})
after(() => online?.close())

test('with a proxy, the allowed host is reached by HTTP, CONNECT and SOCKS', async () => {
  online.reset()
  const { output, breaches } = await online.run(`
    P=\${HTTP_PROXY##*:}
    talk() { perl -e 'use IO::Socket::INET; my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0]); $s->autoflush(1); eval $ARGV[1]; alarm 10; my $a = ""; while (sysread($s, my $b, 4096)) { $a .= $b } print $a =~ /SERVICE/ ? "reached\\n" : "NOT $a"' $P "$1"; }
    talk 'print $s "GET http://service.internal:$ENV{SERVICE}/ HTTP/1.1\\r\\nHost: service.internal:$ENV{SERVICE}\\r\\nConnection: close\\r\\n\\r\\n"'
    talk 'print $s "CONNECT service.internal:$ENV{SERVICE} HTTP/1.1\\r\\n\\r\\n"; sysread($s, my $r, 999); print $s "\\x00\\x01\\x02\\x03"'
    talk 'print $s "CONNECT service.internal:$ENV{SERVICE} HTTP/1.1\\r\\n\\r\\n"; sysread($s, my $r, 999); print $s "GET / HTTP/1.1\\r\\nHost: service.internal:$ENV{SERVICE}\\r\\nConnection: close\\r\\n\\r\\n"'
    talk 'print $s "\\x05\\x01\\x00"; sysread($s, my $r, 2); print $s "\\x05\\x01\\x00\\x03\\x10service.internal", pack("n", $ENV{SERVICE}); sysread($s, $r, 10); print $s "\\x00\\x01\\x02\\x03"'
  `)
  assert.deepEqual({ output, breaches }, { output: 'reached\n'.repeat(4), breaches: [] })
})

shown(proxyCases, () => online)

test('the table has what it promises', () => {
  const all = [...fileCases, ...kernelCases, ...networkCases, ...gitCases, ...proxyCases]
  assert.ok(all.length >= 130, `${all.length} cases`)
  assert.equal(new Set(all.map(({ name }) => name)).size, all.length)
  assert.ok(all.filter(({ control }) => control).length >= 30)
})

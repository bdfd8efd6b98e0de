import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { decide } from '../../decide.ts'

const folder = mkdtempSync(join(tmpdir(), 'ona-bash-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const marker = join(folder, 'ran')
const bin = join(folder, 'bin')
const work = join(folder, 'work')
for (const each of [bin, work]) mkdirSync(each)

// the only programs there are: one that leaves a mark, and harmless ones; wrappers are the system's own
writeFileSync(join(bin, 'evil'), `#!/bin/bash\necho >> ${marker}\n`, { mode: 0o755 })
for (const name of ['ls', 'cat', 'git', 'grep'])
  writeFileSync(join(bin, name), '#!/bin/bash\nexit 0\n', { mode: 0o755 })
for (const name of ['env', 'xargs', 'nice', 'timeout', 'nohup', 'find', 'bash', 'sh', 'setsid']) {
  for (const from of ['/usr/bin', '/bin']) {
    if (existsSync(join(from, name)) && !existsSync(join(bin, name))) symlinkSync(join(from, name), join(bin, name))
  }
}

const piece = fc.constantFrom(
  ...[
    'evil',
    'ls',
    'cat',
    'git',
    'e',
    'vil',
    "'evil'",
    '"evil"',
    'e""vil',
    'ev\\il',
    "$'evil'",
    './bin/evil',
    '../bin/evil',
    '$X',
    '"$X"',
  ],
  ...[
    'X=evil',
    'X=ls',
    'env',
    'xargs',
    'nice',
    'timeout 1',
    'nohup',
    'eval',
    'exec',
    'command',
    'builtin',
    'time',
    'bash -c',
    'sh -c',
    'setsid',
  ],
  ...[
    '"evil x"',
    "'evil x'",
    'find . -maxdepth 0 -exec',
    '{}',
    '\\;',
    '+',
    '-n',
    '1',
    '--',
    '-',
    '-c',
    'trap',
    'EXIT',
    '.',
    'source',
    '<<< evil',
  ],
  ...[
    '$(evil)',
    '`evil`',
    '<(evil)',
    '"$(evil)"',
    "'$(evil)'",
    '${X:-evil}',
    '{evil,x}',
    '(',
    ')',
    '{',
    '}',
    ';',
    '&&',
    '||',
    '|',
    '&',
    '\n',
  ],
  ...[
    '!',
    'if',
    'then',
    'fi',
    'for i in evil; do',
    'done',
    'while false; do',
    'case evil in evil)',
    ';;',
    'esac',
    'f()',
    'f',
    'alias e=evil;',
  ],
  ...[
    '> out',
    '< out',
    '2>&1',
    '<<E\n$(evil)\nE\n',
    "<<'E'\nevil\nE\n",
    '[[ -n',
    ']]',
    '((',
    '))',
    'a[$(evil)]',
    "'a[$(evil)]'",
    'declare',
    '# evil',
    '\\\n',
  ],
  ...[
    'BASH_CMDS[ls]=../bin/evil;',
    "PS4='$(evil)';",
    'set -x;',
    'bash /dev/stdin',
    'for X in evil; do',
    '"a[\\$(evil)]"',
    "X='a[$(evil)]';",
    '((X))',
    '${Y[X]}',
    '${!X}',
    '${X:=evil}',
    'Y[X]=1',
    'declare -n Y=X;',
    'read X <<< evil;',
    'printf -v X evil;',
    'xargs -I% bash -c %',
    'env -S',
  ],
)
const line = fc.array(piece, { minLength: 1, maxLength: 7 }).map((pieces) => pieces.join(' '))

test('what the rules let through never runs a denied command in a real bash', { timeout: 120_000 }, async () => {
  const settings = { allow: ['Bash'], deny: ['Bash(evil *)'] }
  const run = (command: string): boolean => {
    rmSync(marker, { force: true })
    const env = { PATH: bin, HOME: folder }
    spawnSync('/bin/bash', ['-c', command], { cwd: work, env, timeout: 3000, stdio: 'ignore' })
    return existsSync(marker)
  }
  assert.deepEqual([run('evil'), run('ls')], [true, false])
  let ran = 0
  await fc.assert(
    fc.asyncProperty(line, async (command) => {
      const where = { cwd: work, projectDir: work, home: folder }
      const ruling = await decide({
        settings,
        mode: 'default',
        tool: 'Bash',
        input: { command },
        hook: 'none',
        ...where,
      })
      if (ruling.decision !== 'allow') return
      ran++
      assert.equal(run(command), false, command)
    }),
    { numRuns: Number(process.env['ONA_BASH_RUNS'] ?? 600) },
  )
  assert.ok(ran > 20, `only ${ran} lines were allowed`)
})

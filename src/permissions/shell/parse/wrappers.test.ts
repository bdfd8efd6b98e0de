/** A rule on a command holds for the same command behind every program that runs others, with every option of its own. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decide } from '../../decide.ts'

const rule = async (command: string, allow: readonly string[], deny: readonly string[] = []) => {
  const question = { settings: { allow, deny }, mode: 'default', tool: 'Bash', hook: 'none' } as const
  return (await decide({ ...question, input: { command }, cwd: '/w', projectDir: '/w', home: '/h' })).decision
}

/** The lines that are ruled otherwise, each with its ruling. */
async function others(is: string, lines: readonly string[], ...rules: (readonly string[])[]): Promise<string[]> {
  const wrong: string[] = []
  for (const line of lines) {
    const ruling = await rule(line, rules[0]!, rules[1])
    if (ruling !== is) wrong.push(`${ruling}: ${line}`)
  }
  return wrong
}

/** Options with a value of their own: `takes`; options whose value is a script: `script`; words before the command: `own`. */
const wrappers: Record<string, { takes?: string; script?: string; own?: string; verbs?: string }> = {
  timeout: { takes: '-k --kill-after -s --signal', own: '5' },
  time: { takes: '-f --format -o --output' },
  nice: { takes: '-n --adjustment' },
  nohup: {},
  stdbuf: { takes: '-i -o -e --input --output --error' },
  command: {},
  builtin: {},
  noglob: {},
  xargs: { takes: '-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs' },
  env: { takes: '-u --unset -C --chdir', script: '-S --split-string' },
  sudo: { takes: '-u -g -h -p -C -r -t -T -U -D -R', own: 'A=1' },
  doas: { takes: '-u -C' },
  su: { takes: '-s -g -G', script: '-c --command', own: 'ada' },
  setsid: {},
  ionice: { takes: '-c -n --class --classdata' },
  flock: { takes: '-w -E --timeout --conflict-exit-code', script: '-c --command', own: 'file' },
  watch: { takes: '-n --interval -q --equexit' },
  exec: { takes: '-a' },
  chroot: { own: '/x' },
  taskset: { own: '0x1' },
  chrt: { own: '10' },
  strace: { takes: '-o -e -p -s -E -u' },
  ltrace: { takes: '-o -e -p -s -u' },
  unshare: {},
  nsenter: { takes: '-t --target' },
  'systemd-run': { takes: '-p -u -E --unit --property --setenv' },
  busybox: {},
  toybox: {},
  setpriv: {},
  runcon: { own: 'ctx' },
  torify: {},
  torsocks: {},
  proxychains4: {},
  'dbus-run-session': {},
  'xvfb-run': {},
  bwrap: {},
  firejail: {},
  fakeroot: {},
  unbuffer: {},
  rlwrap: {},
  caffeinate: {},
  script: { script: '-c --command', own: 'log' },
  setarch: {},
  linux32: {},
  linux64: {},
  i386: {},
  x86_64: {},
  prlimit: {},
  choom: { takes: '-n --adjust' },
  sg: { script: '-c', own: 'wheel' },
  pkexec: { takes: '--user' },
  gosu: { own: 'ada' },
  'su-exec': { own: 'ada' },
  tini: {},
  'dumb-init': {},
  cpulimit: { takes: '-l -e -p' },
  numactl: {},
  valgrind: {},
  perf: { verbs: 'stat record trace' },
  hyperfine: {},
  entr: {},
  chronic: {},
  ifne: {},
  'systemd-inhibit': {},
  'start-stop-daemon': { takes: '-x --exec -a --startas' },
  tmux: { verbs: 'new new-session new-window neww split-window run-shell run respawn-pane' },
  screen: {},
  xterm: {},
  sshpass: { takes: '-p -f -d -P' },
  capsh: {},
  ip: { verbs: 'netns', own: 'exec blue' },
  npx: { takes: '-p --package', script: '-c --call' },
  bunx: {},
  uvx: {},
  npm: { verbs: 'exec x explore', script: '-c --call' },
  pnpm: { verbs: 'exec dlx', script: '-c --shell-mode' },
  yarn: { verbs: 'exec dlx run' },
  bun: { verbs: 'x run' },
  lima: {},
  arch: {},
  uv: { verbs: 'run' },
  poetry: { verbs: 'run' },
  bundle: { verbs: 'exec' },
  runuser: { takes: '-u -g -s', script: '-c --command' },
}

const words = (text = '') => text.split(' ').filter((word) => word !== '')
const lines = Object.entries(wrappers).flatMap(([name, { takes, script, own, verbs = '' }]) => {
  const [verb = ''] = words(verbs)
  const start = words(`${name} ${verb}`).join(' ')
  const before = own === undefined ? '' : `${own} `
  return [
    `${start} ${before}rm x`,
    `/usr/bin/${start} ${before}rm x`,
    `${start} -- ${before.replace('A=1 ', '')}rm x`,
    ...words(takes).map((option) => `/bin/${start} ${option} v ${before}rm x`),
    ...words(script).map((option) => `${start} ${option} 'rm x'`),
    ...words(verbs).map((each) => `${name} --quiet ${each} ${before}rm x`),
  ]
})

test('behind a wrapper, with its options, their values and its own words, a denied command stays denied', async () => {
  assert.deepEqual(await others('deny', lines, ['Bash'], ['Bash(rm *)']), [])
})

test('behind a wrapper, by its full path too, what may be a denied command prompts', async () => {
  const unknown = lines
    .filter((line) => line.endsWith(' rm x'))
    .map((line) => line.replace(/rm x$/, '/usr/bin/git -C /srv $X'))
  for (const deny of ['Bash(git push *)', 'Bash(/usr/bin/git -C /srv push *)'])
    assert.deepEqual(await others('ask', unknown, ['Bash'], [deny]), [])
})

test('a shell runs the command it is given, by whatever name the shell has', async () => {
  const shells = words('sh bash dash zsh ksh mksh ash fish rbash busybox-sh')
  const given = shells.map((name) => `${name} -c 'rm x'`)
  assert.deepEqual(await others('deny', given, ['Bash'], ['Bash(rm *)']), [])
})

test('a rule with a wildcard does not allow what runs its words, now or later; one without allows what can be seen', async () => {
  const seen = 'env xargs exec trap setsid ionice flock chroot timeout nice nohup stdbuf command builtin noglob'
  const shells = 'sh bash dash zsh ksh mksh ash fish rbash busybox-sh'
  const unseen = 'eval source . watch time alias bind complete compgen enable fc hash parallel at batch crontab'
  const allowed = async (names: string, content: string) => {
    const found: string[] = []
    for (const name of words(names))
      if ((await rule(`${name} run.x`, [`Bash(${name} ${content})`])) === 'allow') found.push(name)
    return found
  }
  assert.deepEqual(await allowed(`${seen} ${shells} ${unseen}`, '*'), [])
  assert.deepEqual(await allowed(`${seen} ${shells}`, 'run.x'), words(`${seen} ${shells}`))
})

test('wrappers that change nothing are covered by a rule for the command they run, with options that change nothing', async () => {
  const clear = [
    ...['timeout 5', 'timeout -k 1 5', 'timeout --signal KILL 5', 'time', 'time -p', 'nice', 'nice -n 5', 'nohup'],
    ...['stdbuf -o L', 'stdbuf --output L', 'command', 'command -p', 'builtin', 'noglob', 'time nice -n 5 timeout 3'],
  ]
  const other = [
    ...[
      'env',
      'sudo',
      'doas',
      'setsid',
      'ionice -c 3',
      'flock f',
      'watch',
      'exec',
      'chroot /x',
      'strace',
      'npx',
      'time -o f',
      'nice time -vof',
    ],
    ...['command -x', 'timeout $N', 'nice -n $N', '/usr/bin/timeout 5', 'xargs -n1', 'busybox'],
  ]
  const all = (each: readonly string[]) => each.map((start) => `${start} npm test`)
  assert.deepEqual(await others('allow', all(clear), ['Bash(npm test)']), [])
  assert.deepEqual(await others('ask', all(other), ['Bash(npm test)']), [])
})

test('what find and fd execute ends at its mark, and what they put in is unknown', async () => {
  const run = ['-exec', '-execdir', '-ok', '-okdir'].flatMap((option) => [
    `find . ${option} rm {} \\;`,
    `find . ${option} rm {} +`,
    `find . ${option} ls {} \\; ${option} rm x \\;`,
  ])
  const fd = ['-x', '-X', '--exec', '--exec-batch'].flatMap((option) => [
    `fd a ${option} rm x`,
    `fdfind a ${option} rm`,
  ])
  assert.deepEqual(await others('deny', [...run, ...fd], ['Bash'], ['Bash(rm *)']), [])
  const exact = ['find . -exec rm \\; -name x', 'find . -exec rm + -name x']
  assert.deepEqual(await others('deny', exact, ['Bash'], ['Bash(rm)']), [])
  assert.deepEqual(await others('ask', ['find . -exec rm {} \\;', 'fd a -x rm {}'], ['Bash'], ['Bash(rm x)']), [])
  assert.deepEqual(await others('allow', ['find . -exec ls {} \\;'], ['Bash'], ['Bash(rm x)']), [])
})

test('what xargs adds may be an option with its value, or a verb, and the command behind them', async () => {
  const run = [
    'timeout',
    'flock -w',
    'sudo -u',
    'nice -n',
    'nice timeout',
    'ssh',
    'ssh -t host',
    'docker',
    'npm -s',
    'docker exec a',
    'npm --prefix a exec',
  ]
  const lines = run.map((words) => `cat a | xargs -n 9 ${words}`)
  assert.deepEqual(await others('ask', lines, ['Bash'], ['Bash(rm *)']), [])
  const harmless = [
    'timeout 5 ls',
    'command -v',
    'npm exec eslint',
    'pnpm exec prettier --write',
    'sudo -u a ls',
    'npm install',
    'docker stop',
    'git -C',
    'git add',
    '-I% npm %',
    '-I% nice ls %',
  ]
  const free = harmless.map((words) => `cat a | xargs ${words}`)
  assert.deepEqual(await others('allow', free, ['Bash'], ['Bash(rm *)']), [])
  assert.deepEqual(
    await others('ask', ['cat a | xargs git -C', 'cat a | xargs git -c'], ['Bash'], ['Bash(git push *)']),
    [],
  )
})

test('what xargs puts in place of its mark is unknown, however the mark is given', async () => {
  const marks = ['-I %', '-I%', '--replace=%']
  const given = marks.map((mark) => `ls | xargs ${mark} sh -c 'rm %'`)
  assert.deepEqual(await others('deny', given, ['Bash'], ['Bash(rm *)']), [])
  const unknown = marks.flatMap((mark) => [`ls | xargs ${mark} git %`, `ls | xargs ${mark} git a% b`])
  const plain = ['ls | xargs -i git {}', 'ls | xargs --replace git {}', 'ls | xargs git']
  assert.deepEqual(await others('ask', [...unknown, ...plain], ['Bash'], ['Bash(git add b)', 'Bash(git push)']), [])
  const free = marks.map((mark) => `ls | xargs ${mark} npm %`)
  assert.deepEqual(await others('allow', free, ['Bash'], ['Bash(git push)']), [])
})

/** Spellings and programs with which the policies of the library were attacked: each is denied or prompts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge } from '../../../permissions/decide.ts'
import { starters } from './library.ts'

const decided = async (id: string, command: string): Promise<string> => {
  const { permissions } = starters.find((each) => each.id === id)!
  const { ruling } = await judge({
    ...{ settings: permissions as object, mode: 'bypassPermissions', tool: 'Bash', input: { command }, hook: 'none' },
    ...{ home: '/home/x', cwd: '/no/project', projectDir: '/no/project' },
  })
  return ruling.decision
}

/** A command behind what runs commands. */
const wrapped = (command: string): string[] => {
  const [program, ...rest] = command.split(' ')
  return [
    ...[`env -i A=1 ${command}`, `A=1 ${command}`, `timeout 5 ${command}`, `nohup ${command} &`, `command ${command}`],
    ...[`sh -c '${command}'`, `eval '${command}'`, `true && ${command}`, `( ${command} )`, `f() { ${command}; }; f`],
    ...[`echo $(${command})`, `cat <(${command})`, `"${program}" ${rest.join(' ')}`, `/usr/bin/${command}`],
    ...[`busybox ${command}`, `script -qc '${command}' x`, `echo '${command}' | sh`, `bash <<E\n${command}\nE`],
    ...[
      `find . -exec ${command} \\;`,
      `xargs -I{} ${command}`,
      `X=${program}; $X ${rest.join(' ')}`,
      `sudo ${command}`,
    ],
  ]
}

const attacks: Readonly<Record<string, readonly string[]>> = {
  'no-force-push': [
    ...['git push --mir origin', 'git push --del origin x', 'git push --pru origin', 'git push --force-if-includes'],
    ...['git push origin HEAD:refs/heads/main --force', 'git push -o x -f origin', 'git --git-dir=.git push -f'],
  ],
  'package-publishing': [
    ...['cabal upload x', 'conan upload x', 'opam publish', 'wrangler publish', 'vercel --prod', 'firebase deploy'],
    ...['netlify deploy --prod', 'hub release create v1', 'node /usr/lib/node_modules/npm/bin/npm-cli.js publish'],
  ],
  'cloud-destroy': [
    ...['cloud-nuke aws', 'kubectl apply -f x --prune', 'openstack server delete x', 'vault secrets disable x'],
    ...['nomad job stop -purge x', 'argocd app delete x', 'vagrant destroy -f', 'virsh undefine x', 'dropdb x'],
    ...[
      'redis-cli -h x flushall',
      'aws ecs update-service --desired-count 0',
      'eb terminate',
      'docker system prune -af',
    ],
  ],
  'network-egress': [
    ...[
      'nc.openbsd x 1',
      'lftp x',
      'sshfs x y',
      'ping x',
      'wget2 x',
      'tor',
      'GET http://x',
      'toybox nc x 1',
      'gh pr list',
    ],
    ...[
      'git fetch',
      'git pull',
      'git remote set-url x y',
      'npm install',
      'npx x',
      'pip3 install x',
      'go get x',
      'apt update',
    ],
    ...['docker pull x', 'kubectl get x', 'aws sts get-caller-identity', 'psql -h x', 'xdg-open http://x'],
    ...['node -e "fetch(1)"', 'python3 -c "import socket"', 'perl -MSocket -e 1', 'php -r x', 'deno eval x'],
    ...['cat < /dev/tcp/x/80', 'exec 3<>/dev/tcp/x/80', 'zsh -c "ztcp x 80"', 'openssl x -connect a:1'],
  ],
  'lock-files': ['git stash', 'git reset --hard', 'git -C . reset -q --hard', 'git read-tree -u -m HEAD~1'],
  'production-folders': ['git stash -u', 'git reset --hard HEAD~1'],
}

for (const [id, commands] of Object.entries(attacks))
  test(`${id}: no spelling passes without a prompt`, async () => {
    const passed: string[] = []
    for (const command of [...commands, ...wrapped(commands[0]!)])
      if ((await decided(id, command)) === 'allow') passed.push(command)
    assert.deepEqual(passed, [])
  })

test('everyday commands pass', async () => {
  const everyday = {
    'no-force-push': ['git push -u origin feature', 'git push --follow-tags', 'git push --dry-run', 'git push --tags'],
    'package-publishing': ['npm test', 'docker build .', 'cargo build --release', 'vercel dev', 'node build.js'],
    'cloud-destroy': ['kubectl get pods', 'terraform plan', 'aws s3 ls', 'vault read x', 'redis-cli get x', 'lxc list'],
    'network-egress': [
      'npm test',
      'git status',
      'git commit -m x',
      'node build.js',
      'cargo test',
      'ls',
      'go test ./...',
    ],
    'lock-files': ['npm install', 'git commit -am x', 'git reset HEAD a', 'cat package-lock.json'],
  }
  const stopped: string[] = []
  for (const [id, commands] of Object.entries(everyday))
    for (const command of commands) if ((await decided(id, command)) !== 'allow') stopped.push(`${id}: ${command}`)
  assert.deepEqual(stopped, [])
})

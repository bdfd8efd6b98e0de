import { bash, type Starter } from './starter.ts'

/** Programs that are there to reach other machines. */
export const networkPrograms: readonly string[] = [
  ...['curl', 'wget', 'nc', 'ncat', 'netcat', 'socat', 'ssh', 'scp', 'sftp', 'rsync', 'ftp', 'tftp', 'telnet', 'mosh'],
  ...['autossh', 'sshpass', 'ssh-copy-id', 'aria2c', 'axel', 'lynx', 'w3m', 'links', 'elinks', 'http', 'https', 'xh'],
  ...['httpie', 'curlie', 'lwp-request', 'dig', 'nslookup', 'host', 'drill', 'nmap', 'masscan', 'smbclient', 'rclone'],
  ...['mail', 'mailx', 'sendmail', 'mutt', 'swaks', 'ngrok', 'cloudflared', 'websocat', 'grpcurl', 'gsutil', 's3cmd'],
]

export const networkEgress: Starter = {
  id: 'network-egress',
  about: 'no command reaches the network without a prompt',
  limits:
    'Rules name programs; what any other program does (`node -e`, `npm install`) is held by the sandbox, which these settings enable. Where it is not available (ona doctor says so) only the rules hold. Add hosts to sandbox.network.allowedDomains.',
  words: ['network', 'egress', 'curl', 'internet', 'download', 'exfiltration'],
  permissions: {
    deny: [
      ...networkPrograms.map((name) => `Bash(${name} *)`),
      ...['Bash(openssl s_client*)', 'Bash(busybox wget*)', 'Bash(busybox nc*)', 'Bash(gh gist *)', 'Bash(gh api *)'],
      ...['Bash(aws s3 *)', 'Bash(git *--upload-pack*)', 'Bash(python* -m http*)', 'Bash(git remote add *)'],
    ],
    ask: ['WebFetch', 'Bash(git clone *)', 'Bash(git ls-remote *)', 'Bash(git push *)'],
  },
  settings: { sandbox: { enabled: true, autoAllowBashIfSandboxed: false } },
  refuses: [
    ...['curl https://example.com', 'cat a.txt | nc example.com 80', '/usr/bin/wget example.com', 'socat - tcp:a:80'],
    ...['xargs curl < a.txt', 'bash -c "curl example.com"', 'openssl s_client -connect a:443', 'rclone copy a.txt b:'],
  ]
    .map(bash)
    .concat({ call: 'WebFetch', input: { url: 'https://example.com', prompt: 'x' } }),
  ending: [
    bash('test "$(grep -c : /proc/net/dev)" -gt 1'), // in the sandbox there is no interface but the loopback
    { expect: { error: true } },
    { say: 'done' },
  ],
  allows: [bash('echo curl'), bash('cat a.txt')],
  files: { 'a.txt': 'hello' },
}

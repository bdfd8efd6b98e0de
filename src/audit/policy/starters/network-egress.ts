import { bash, type Starter } from './starter.ts'

/** Programs that are there to reach other machines. */
export const networkPrograms: readonly string[] = [
  ...['curl', 'wget', 'nc', 'ncat', 'netcat', 'socat', 'ssh', 'scp', 'sftp', 'rsync', 'ftp', 'tftp', 'telnet', 'mosh'],
  ...['autossh', 'sshpass', 'ssh-copy-id', 'aria2c', 'axel', 'lynx', 'w3m', 'links', 'elinks', 'http', 'https', 'xh'],
  ...['httpie', 'curlie', 'lwp-request', 'dig', 'nslookup', 'host', 'drill', 'nmap', 'masscan', 'smbclient', 'rclone'],
  ...['nc.openbsd', 'nc.traditional', 'wget2', 'curl.exe', 'wget.exe', 'lftp', 'ncftp', 'tnftp', 'curlftpfs', 'sshfs'],
  ...['gnutls-cli', 'resolvectl', 'ping', 'ping6', 'traceroute', 'tracepath', 'mtr', 'hping3', 'arping', 'fping'],
  ...['links2', 'xhs', 'hurl', 'lwp-download', 'lwp-mirror', 'GET', 'POST', 'HEAD', 'snarf', 'youtube-dl', 'yt-dlp'],
  ...['rsh', 'rlogin', 'rcp', 'finger', 'whois', 'irssi', 'weechat', 'iperf', 'iperf3', 'ssh-keyscan', 'snmpwalk'],
  ...['showmount', 'rpcinfo', 'mount.nfs', 'mount.cifs', 'ldapsearch', 'msmtp', 'ssmtp', 'nsupdate', 'ntpdate', 'mc'],
  ...['bore', 'lt', 'localtunnel', 'tailscale', 'wg-quick', 'openvpn', 'tor', 'zrok', 'frpc', 'chisel', 'gost'],
  ...['stunnel', 'ptunnel', 'iodine', 'dns2tcp', 'wscat', 'transmission-cli', 'rtorrent', 'ipfs', 'croc', 'wormhole'],
  ...['magic-wormhole', 'pastebinit', 'gist', 'nopaste', 'telegram-send', 'slackcat', 'apprise', 'gemget', 'sqlcmd'],
  ...['mail', 'mailx', 'sendmail', 'mutt', 'swaks', 'ngrok', 'cloudflared', 'websocat', 'grpcurl', 'gsutil', 's3cmd'],
]

/** Programs that reach other machines for a purpose of their own. */
const asked = [
  ...[
    'git clone *',
    'git ls-remote *',
    'git push*',
    'git fetch*',
    'git pull*',
    'git submodule *',
    'git archive --remote*',
  ],
  ...[
    'git remote set-url *',
    'git send-email *',
    'svn *',
    'hg clone *',
    'hg p*',
    'bzr *',
    'cvs *',
    'fossil *',
    'gh *',
    'glab *',
  ],
  ...[
    'npm i*',
    'npm ci*',
    'npm add *',
    'npm view *',
    'npm ping*',
    'npm exec *',
    'npx *',
    'pnpm i*',
    'pnpm add *',
    'pnpm dlx *',
  ],
  ...['yarn', 'yarn add *', 'yarn install*', 'yarn dlx *', 'bun i*', 'bun add *', 'bunx *', 'corepack *'],
  ...[
    'pip* install *',
    'pip* download *',
    'uv *',
    'uvx *',
    'pipx *',
    'poetry add *',
    'poetry install*',
    'gem install *',
  ],
  ...['cargo install *', 'cargo fetch*', 'cargo add *', 'go get *', 'go install *', 'go mod download*', 'composer *'],
  ...[
    'apt *',
    'apt-get *',
    'brew *',
    'apk *',
    'yum *',
    'dnf *',
    'pacman *',
    'zypper *',
    'nix *',
    'nix-shell *',
    'snap *',
  ],
  ...[
    'docker pull *',
    'docker push *',
    'docker run *',
    'docker build *',
    'docker buildx *',
    'docker compose *',
    'docker login*',
  ],
  ...['podman pull *', 'podman push *', 'podman run *', 'podman build *', 'skopeo *', 'crane *', 'kubectl *', 'helm *'],
  ...['aws *', 'gcloud *', 'az *', 'doctl *', 'fly *', 'flyctl *', 'heroku *', 'vercel *', 'netlify *', 'wrangler *'],
  ...['psql *', 'mysql *', 'mongosh *', 'redis-cli *', 'adb *', 'mount *', 'getent *', 'kinit *', 'logger *'],
  ...['open *', 'xdg-open *', 'firefox *', 'chromium *', 'google-chrome *', 'pwsh *', 'powershell *', 'certutil *'],
  ...['node -e *', 'node --eval *', 'node -p *', 'deno *', 'bun -e *', 'bun run *', 'python* -c *', 'python* -m *'],
  ...['perl -*e *', 'ruby -*e *', 'php -*', 'lua -e *', 'Rscript *', 'tclsh *', 'wish *', 'expect *', 'vim *://*'],
]

export const networkEgress: Starter = {
  id: 'network-egress',
  about: 'no command reaches the network without a prompt',
  limits:
    'Rules name programs. What a program that is not named does (a script, a test, a build, `tar` or `emacs` with a remote file) is held by the sandbox, which these settings enable. Where it is not available (ona doctor says so) only the rules hold. Add hosts to sandbox.network.allowedDomains.',
  words: ['network', 'egress', 'curl', 'internet', 'download', 'exfiltration'],
  permissions: {
    deny: [
      ...networkPrograms.flatMap((name) => [`Bash(${name})`, `Bash(${name} *)`]),
      ...['Bash(openssl s_client*)', 'Bash(openssl * -connect*)', 'Bash(gh gist *)', 'Bash(gh api *)', 'Bash(*ztcp *)'],
      ...['wget', 'nc', 'ftp', 'telnet', 'tftp', 'ssl_client'].flatMap((name) => [
        ...[`Bash(busybox ${name}*)`, `Bash(toybox ${name}*)`],
      ]),
      ...['Bash(aws s3 *)', 'Bash(git *--upload-pack*)', 'Bash(python* -m http*)', 'Bash(git remote add *)'],
    ],
    ask: ['WebFetch', ...asked.map((pattern) => `Bash(${pattern})`)],
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

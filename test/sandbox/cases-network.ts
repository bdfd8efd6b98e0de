/** Ways to the network and to services of the host. */
import type { Case } from './cases.ts'

/** Says one line to a socket, and prints what comes back. */
const say = (socket: string, line = 'CANARY') =>
  `perl -e 'use IO::Socket::INET; use IO::Socket::UNIX; my $s = ${socket} or exit; $s->autoflush(1); print $s "${line}\\n"; $s->blocking(0); select(undef, undef, undef, 0.3); sysread($s, my $b, 100); print $b'`
const tcp = (address: string, port: string) =>
  say(`IO::Socket::INET->new(PeerAddr => "${address}", PeerPort => $ENV{${port}}, Timeout => 2)`)

export const networkCases: readonly Case[] = [
  { name: 'a service on loopback', run: tcp('127.0.0.1', 'TCP'), control: true },
  {
    name: 'a service on loopback by another address',
    run: `${tcp('127.0.0.2', 'TCP')}; ${tcp('0.0.0.0', 'TCP')}; ${tcp('localhost', 'TCP')}`,
  },
  { name: 'a service on loopback with bash', run: 'echo CANARY > /dev/tcp/127.0.0.1/$TCP', control: true },
  {
    name: 'a service on IPv6 loopback',
    run: '$NODE -e \'const s=require("net").connect(+process.env.TCP6,"::1",()=>s.end("CANARY"));s.on("error",()=>{})\'',
    control: true,
  },
  { name: 'UDP', run: 'echo CANARY > /dev/udp/127.0.0.1/$UDP', control: true },
  {
    name: 'DNS',
    run: 'getent hosts example.com && echo BREACH; perl -e \'use Socket; inet_aton("example.com") and print "BREACH\\n"\'',
  },
  { name: 'an address of the internet', run: '(echo > /dev/tcp/1.1.1.1/443) 2>/dev/null && echo BREACH; true' },
  {
    name: 'the metadata service of a cloud',
    run: '(echo > /dev/tcp/169.254.169.254/80) 2>/dev/null && echo BREACH; true',
  },
  { name: 'a Unix socket in the project', run: say('IO::Socket::UNIX->new(Peer => "host.sock")'), control: true },
  {
    name: 'an abstract Unix socket',
    run: say('IO::Socket::UNIX->new(Peer => "\\0$ENV{MARKER}")'),
    control: true,
  },
  {
    name: 'the sockets of docker, dbus, ssh-agent and X11',
    run: 'for s in /run/docker.sock /var/run/docker.sock /run/dbus/system_bus_socket /run/user/*/bus /run/podman/podman.sock /run/containerd/containerd.sock /tmp/.X11-unix/X* /tmp/ssh-*/agent.* /tmp/tmux-*/default; do [ -S "$s" ] && echo "BREACH $s"; done; env | grep -E "^(SSH_AUTH_SOCK|DBUS_SESSION_BUS_ADDRESS|DISPLAY|XAUTHORITY|TMUX|XDG_RUNTIME_DIR)=" && echo BREACH; true',
  },
  {
    name: 'a virtual machine socket',
    run: 'perl -e \'use Socket; socket(my $s, 40, 1, 0) and print "BREACH vsock\\n"\'',
  },
  {
    name: 'raw packets',
    run: 'ping -c1 -W1 127.0.0.1 >/dev/null 2>&1; perl -e \'use Socket; socket(my $s, PF_INET, SOCK_RAW, 1) and print "BREACH raw\\n"\'',
  },
  { name: 'other interfaces', run: 'grep -vE "lo:|Inter|face" /proc/net/dev | grep -q : && echo BREACH; true' },
]

/** Raw words to the proxy; `$P` is its port. */
const proxy = (words: string) =>
  `P=\${HTTP_PROXY##*:}; perl -e 'use IO::Socket::INET; my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0]) or exit; $s->autoflush(1); ${words} alarm 3; print $_ while sysread($s, $_, 4096)' $P`
const get = (host: string, url = `http://${host}:$ENV{TCP}/CANARY`, header = `${host}:$ENV{TCP}`) =>
  proxy(`print $s "GET ${url} HTTP/1.1\\r\\nHost: ${header}\\r\\nConnection: close\\r\\n\\r\\n";`)
const connect = (host: string, then: string, port = '$ENV{TCP}') =>
  proxy(
    `print $s "CONNECT ${host}:${port} HTTP/1.1\\r\\nHost: ${host}\\r\\n\\r\\n"; sysread($s, my $r, 4096); print $r; ${then}`,
  )
/** A ClientHello that asks for `name`. */
const hello = (name: string) =>
  `my $n = "${name}"; my $sni = pack("n n C n/a*", 0, length($n) + 5, 0, "") ; my $list = pack("C n/a*", 0, $n); my $ext = pack("n n/a*", 0, pack("n/a*", $list)); my $body = pack("n", 0x0303) . ("r" x 32) . pack("C", 0) . pack("n n", 2, 0x1301) . pack("C C", 1, 0) . pack("n/a*", $ext); my $hs = pack("C", 1) . substr(pack("N", length($body)), 1) . $body; print $s pack("C n n/a*", 22, 0x0301, $hs);`
const socks = (request: string) =>
  proxy(
    `print $s "\\x05\\x01\\x00"; sysread($s, my $r, 2); print $s ${request}; sysread($s, $r, 10); print unpack("H*", $r); print $s "CANARY\\n";`,
  )

const atOnce = (commands: readonly string[]) => `${commands.join(' & ')} & wait`

/** With `service.internal`, `rebind.test` and `*.wild.test` allowed; every name resolves to 127.0.0.1. */
export const proxyCases: readonly Case[] = [
  { name: 'past the proxy', run: tcp('127.0.0.1', 'TCP') },
  {
    name: 'an address of the internet past the proxy',
    run: '(echo > /dev/tcp/1.1.1.1/443) 2>/dev/null && echo BREACH; true',
  },
  { name: 'a host that is not allowed', run: get('other.test') },
  { name: 'a host that is denied below an allowed one', run: get('bad.wild.test') },
  { name: 'a public name that resolves to loopback', run: get('rebind.test') },
  { name: 'a name below a wildcard that resolves to loopback', run: get('x.wild.test') },
  { name: 'loopback by address', run: get('127.0.0.1') },
  {
    name: 'loopback by other spellings',
    run: [
      get('2130706433'),
      get('0x7f000001'),
      get('0177.0.0.1'),
      get('127.1'),
      get('localhost'),
      get('[::1]'),
      get('[::ffff:127.0.0.1]'),
    ].join('; '),
  },
  {
    name: 'another host in the Host header',
    run: get('service.internal', 'http://service.internal:$ENV{TCP}/CANARY', 'other.test'),
  },
  {
    name: 'another host in the address',
    run: get('service.internal', 'http://other.test:$ENV{TCP}/CANARY', 'service.internal'),
  },
  {
    name: 'a user name that looks like a host',
    run: get('service.internal', 'http://service.internal@other.test:$ENV{TCP}/CANARY', 'service.internal'),
  },
  {
    name: 'two Host headers',
    run: proxy(
      'print $s "GET http://service.internal:$ENV{TCP}/CANARY HTTP/1.1\\r\\nHost: service.internal:$ENV{TCP}\\r\\nHost: other.test\\r\\nConnection: close\\r\\n\\r\\n";',
    ),
  },
  {
    name: 'a second request hidden in the first',
    run: proxy(
      'print $s "POST http://other.test/ HTTP/1.1\\r\\nHost: other.test\\r\\nContent-Length: 5\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nGET http://service.internal:$ENV{TCP}/CANARY HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n";',
    ),
  },
  {
    name: 'a second request on a connection that was allowed',
    run: proxy(
      'print $s "GET http://service.internal:$ENV{SERVICE}/ HTTP/1.1\\r\\nHost: service.internal:$ENV{SERVICE}\\r\\n\\r\\nGET http://other.test:$ENV{TCP}/CANARY HTTP/1.1\\r\\nHost: other.test:$ENV{TCP}\\r\\n\\r\\n";',
    ),
  },
  {
    name: 'an address that two readers read in two ways',
    run: [
      'http://other.test:$ENV{TCP}#.service.internal/CANARY',
      'http://other.test:$ENV{TCP}%23.service.internal/CANARY',
      'http://other.test:$ENV{TCP}\\\\@service.internal/CANARY',
      'http://service.internal:$ENV{SERVICE}@other.test:$ENV{TCP}/CANARY',
      'http://service.internal%00.other.test:$ENV{TCP}/CANARY',
      'http://other.test:$ENV{TCP}?service.internal/CANARY',
      '//other.test:$ENV{TCP}/CANARY',
    ]
      .flatMap((url) => [get('service.internal', url, 'service.internal'), get('other.test', url)])
      .join('; '),
  },
  {
    name: 'a denied host in another spelling',
    run: ['BAD.WILD.TEST', 'bad.wild.test.', 'bad.wild.test..', 'b%61d.wild.test', 'xn--bad.wild.test']
      .flatMap((host) => [get(host), connect(host, 'print $s "CANARY\\n";')])
      .join('; '),
  },
  {
    name: 'CONNECT to loopback in other spellings',
    run: ['2130706433', '0x7f.1', '0177.0.0.1', '127.1', '[::1]', '[::ffff:7f00:1]', '0', 'localhost.', 'LOCALHOST']
      .map((host) => connect(host, 'print $s "CANARY\\n";'))
      .join('; '),
  },
  {
    name: 'names in other scripts',
    run: atOnce(
      [
        'bad\\xe3\\x80\\x82wild.test',
        '\\xef\\xbd\\x82ad.wild.test',
        'xn--127-0-0-1',
        '\\xe2\\x91\\xa0\\xe2\\x91\\xa1\\xe2\\x91\\xa6.0.0.1',
      ].flatMap((host) => [get(host), connect(host, 'print $s "CANARY\\n";')]),
    ),
  },
  {
    name: 'both lengths, odd chunks and folded headers',
    run: atOnce(
      [
        'POST http://service.internal:$ENV{SERVICE}/ HTTP/1.1\\r\\nHost: service.internal:$ENV{SERVICE}\\r\\nContent-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nGET http://other.test:$ENV{TCP}/CANARY HTTP/1.1\\r\\nHost: other.test:$ENV{TCP}\\r\\n\\r\\n',
        'POST http://service.internal:$ENV{SERVICE}/ HTTP/1.1\\r\\nHost: service.internal:$ENV{SERVICE}\\r\\nTransfer-Encoding: xchunked\\r\\nTransfer-Encoding:\tchunked\\r\\n\\r\\n5;a=\\nb\\r\\nhello\\r\\n0\\r\\n\\r\\nGET http://127.0.0.1:$ENV{TCP}/CANARY HTTP/1.1\\r\\nHost: 127.0.0.1:$ENV{TCP}\\r\\n\\r\\n',
        'GET http://service.internal:$ENV{SERVICE}/ HTTP/1.1\\r\\nHost: service.internal:$ENV{SERVICE}\\r\\n Host: other.test:$ENV{TCP}\\r\\nX: y\\nGET http://other.test:$ENV{TCP}/CANARY HTTP/1.1\\r\\n\\r\\n',
      ].map((text) => proxy(`print $s "${text}";`)),
    ),
  },
  {
    name: 'other protocols on the port of the proxy',
    run: atOnce(
      [
        'print $s "PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\nCANARY";',
        'print $s "GET ftp://127.0.0.1:$ENV{TCP}/CANARY HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n";',
        'print $s "OPTIONS * HTTP/1.1\\r\\nHost: 127.0.0.1:$ENV{TCP}\\r\\n\\r\\nCANARY";',
        'print $s "GET /CANARY HTTP/1.1\\r\\nHost: 127.0.0.1:$ENV{TCP}\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n\\r\\n";',
        'print $s "\\x04\\x01", pack("n", $ENV{TCP}), "\\x7f\\x00\\x00\\x01", "\\x00"; sysread($s, my $r, 8); print $s "CANARY";',
        'print $s "\\x04\\x01", pack("n", $ENV{TCP}), "\\x00\\x00\\x00\\x01\\x00localhost\\x00"; sysread($s, my $r, 8); print $s "CANARY";',
      ].map(proxy),
    ),
  },
  {
    name: 'SOCKS to loopback mapped into IPv6, and to no address at all',
    run: atOnce([
      socks('"\\x05\\x01\\x00\\x04" . ("\\x00" x 10) . "\\xff\\xff\\x7f\\x00\\x00\\x01" . pack("n", $ENV{TCP})'),
      socks(
        '"\\x05\\x01\\x00\\x04" . "\\x00\\x64\\xff\\x9b" . ("\\x00" x 8) . "\\x7f\\x00\\x00\\x01" . pack("n", $ENV{TCP})',
      ),
      socks('"\\x05\\x01\\x00\\x01\\x00\\x00\\x00\\x00" . pack("n", $ENV{TCP})'),
      socks('"\\x05\\x01\\x00\\x03\\x090x7f.0.0.1" . pack("n", $ENV{TCP})'),
    ]),
  },
  {
    name: 'CONNECT with a line that goes on',
    run: proxy(
      'print $s "CONNECT service.internal:$ENV{TCP}\\r\\n other.test:$ENV{TCP} HTTP/1.1\\r\\n\\r\\n"; sysread($s, my $r, 4096); print $s "GET /CANARY HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n";',
    ),
  },
  { name: 'CONNECT to a host that is not allowed', run: connect('other.test', 'print $s "CANARY\\n";') },
  { name: 'CONNECT to loopback', run: connect('127.0.0.1', 'print $s "CANARY\\n";') },
  { name: 'CONNECT, then TLS for another name', run: connect('service.internal', hello('other.test')) },
  {
    name: 'CONNECT, then TLS for another name in pieces',
    run: connect(
      'service.internal',
      hello('other.test').replace(
        'print $s pack("C n n/a*", 22, 0x0301, $hs);',
        'for my $c (split //, $hs) { syswrite($s, pack("C n n/a*", 22, 0x0301, $c)); }',
      ),
    ),
  },
  {
    name: 'CONNECT, then TLS with a broken greeting',
    run: connect('service.internal', 'print $s "\\x16\\x03\\x01\\x00\\x05\\x01\\xff\\xff\\xffCANARY" . ("x" x 20000);'),
  },
  {
    name: 'CONNECT, then HTTP for another host',
    run: connect(
      'service.internal',
      'print $s "GET /CANARY HTTP/1.1\\r\\nHost: other.test\\r\\nConnection: close\\r\\n\\r\\n";',
    ),
  },
  {
    name: 'CONNECT, then HTTP/2 without TLS',
    run: connect('service.internal', 'print $s "PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\nCANARY";'),
  },
  {
    name: 'SOCKS to loopback by address',
    run: socks('"\\x05\\x01\\x00\\x01\\x7f\\x00\\x00\\x01" . pack("n", $ENV{TCP})'),
  },
  {
    name: 'SOCKS to loopback by IPv6 address',
    run: socks('"\\x05\\x01\\x00\\x04" . ("\\x00" x 15) . "\\x01" . pack("n", $ENV{TCP6})'),
  },
  {
    name: 'SOCKS to a name that is not allowed',
    run: socks('"\\x05\\x01\\x00\\x03\\x0aother.test" . pack("n", $ENV{TCP})'),
  },
  {
    name: 'SOCKS to a name with a NUL',
    run: socks('"\\x05\\x01\\x00\\x03\\x1bservice.internal\\x00.other.te" . pack("n", $ENV{TCP})'),
  },
  {
    name: 'SOCKS BIND and UDP',
    run: [
      socks('"\\x05\\x02\\x00\\x01\\x7f\\x00\\x00\\x01" . pack("n", $ENV{TCP})'),
      socks('"\\x05\\x03\\x00\\x01\\x7f\\x00\\x00\\x01" . pack("n", $ENV{UDP})'),
    ].join('; '),
  },
  { name: 'DNS with a proxy', run: 'getent hosts example.com && echo BREACH; true' },
  {
    name: 'the process that keeps the network',
    run: 'ls /proc | grep -cE "^[0-9]+$" | awk \'$1 > 20 {print "BREACH"}\'',
  },
]

/** The environment inside: the command's own, without what leads to sockets that are not there, with places to write. */
import { join } from 'node:path'

export interface Inside {
  readonly tmp: string
  /** Where the proxy listens, when hosts are allowed. */
  readonly proxyPort?: number
}

/** Agents, buses, displays and multiplexers of the user's session. */
const leadsOut = [
  ...['SSH_AUTH_SOCK', 'SSH_AGENT_PID', 'GPG_AGENT_INFO', 'DBUS_SESSION_BUS_ADDRESS', 'DBUS_SYSTEM_BUS_ADDRESS'],
  ...['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'XDG_RUNTIME_DIR', 'TMUX', 'TMUX_PANE', 'STY', 'DOCKER_HOST'],
  ...['CONTAINER_HOST', 'PULSE_SERVER', 'NVIM', 'VSCODE_IPC_HOOK_CLI', 'VSCODE_GIT_IPC_HANDLE', 'NOTIFY_SOCKET'],
]
const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'FTP_PROXY', 'RSYNC_PROXY']

export function sandboxEnv(env: NodeJS.ProcessEnv, { tmp, proxyPort }: Inside): NodeJS.ProcessEnv {
  const inside: NodeJS.ProcessEnv = { ...env, ONA_SANDBOX: '1', TMPDIR: tmp, TMP: tmp, TEMP: tmp }
  for (const name of leadsOut) delete inside[name]
  for (const name of proxies) {
    delete inside[name]
    delete inside[name.toLowerCase()]
  }
  inside['XDG_CACHE_HOME'] = join(tmp, '.cache')
  inside['npm_config_cache'] = join(tmp, '.npm')
  if (proxyPort === undefined) return inside
  const http = `http://127.0.0.1:${proxyPort}`
  const socks = `socks5h://127.0.0.1:${proxyPort}`
  const local = 'localhost,127.0.0.1,::1'
  for (const [name, value] of Object.entries({
    HTTP_PROXY: http,
    HTTPS_PROXY: http,
    ALL_PROXY: socks,
    NO_PROXY: local,
  })) {
    inside[name] = value
    inside[name.toLowerCase()] = value
  }
  inside['NODE_USE_ENV_PROXY'] = '1'
  return inside
}

/** What every sandbox shows of the system and the home, and what it hides. */

/** Nothing of these is there, except what is opened by name: homes, sockets, other users' temporary files, media. */
export const hidden = ['/home', '/root', '/run', '/var/run', '/mnt', '/media']
export const temporary = ['/tmp', '/var/tmp']
/** Below hidden folders, but part of the system (NixOS). */
export const systemPaths = ['/run/current-system', '/run/booted-system', '/run/opengl-driver']
/** Toolchains that people install in their home, read-only. None of them holds credentials. */
export const toolchains = [
  ...['.nvm', '.fnm', '.volta', '.asdf', '.pyenv', '.rbenv', '.rustup', '.cargo/bin', '.cargo/registry', '.cargo/env'],
  ...['.bun', '.deno/bin', '.sdkman/candidates', '.jenv', '.nix-profile', '.ghcup', '.juliaup', '.dotnet', 'go/pkg'],
  ...['.local/bin', '.local/lib', '.local/share/mise', '.local/share/fnm', '.local/share/pnpm', '.local/share/uv'],
  ...['.m2/repository', '.gitconfig', '.config/git/config', '.config/git/ignore'],
]
/** What a root user could read although a command has no business with it. */
export const systemSecrets = [
  '/etc/shadow',
  '/etc/shadow-',
  '/etc/gshadow',
  '/etc/gshadow-',
  '/etc/sudoers',
  '/etc/sudoers.d',
]
/** The kernel and the running system: not to be written, whatever the settings say. */
export const neverWritable = ['/', '/proc', '/sys', '/dev', '/run', '/var/run', '/boot']

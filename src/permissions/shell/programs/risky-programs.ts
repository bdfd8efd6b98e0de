/** Which options, verbs and words of known programs run other programs or move to another place. */

export interface RiskyUse {
  /** Letters of short options that do, also in a bundle. */
  readonly letters?: string | undefined
  /** Options that take a value: what is joined to them is no bundle, and the word after them no verb. */
  readonly takes?: readonly string[]
  /** Long options that do, matched by prefix; with one dash: all that begins so. */
  readonly long?: readonly string[]
  /** Only these options do not. */
  readonly only?: RegExp
  /** Verbs that do when the words after them match. */
  readonly verbs?: Readonly<Record<string, RegExp>>
  /** Other words that do. */
  readonly words?: RegExp
  /** The options after its first operand are those of a script. */
  readonly script?: true
  /** It takes commands from its input. */
  readonly fed?: true
}

/** Long options that do so in every program that has them; matched by prefix, as GNU and git do. */
export const anywhere = [
  ...['--exec', '--exec-path', '--exec-batch', '--execdir', '--command', '--call', '--upload-pack', '--receive-pack'],
  ...['--rsh', '--rsync-path', '--use-compress-program', '--compress-program', '--to-command', '--checkpoint-action'],
  ...['--info-script', '--new-volume-script', '--rsh-command', '--pager', '--open-files-in-pager', '--ext-diff'],
  ...['--extcmd', '--textconv', '--git-dir', '--work-tree', '--chdir', '--directory', '--cwd'],
  ...['--prefix', '--pre', '--hostname-bin', '--script-shell', '--node-options', '--eval', '--require', '--import'],
  ...['--loader', '--unzip-command', '--use-askpass', '--toolexec', '--vettool', '--manifest-path', '--init-command'],
  ...['--split-string', '--plugin', '--filter-command', '--editor', '--browser', '--viewer', '--userconfig'],
  ...['--globalconfig', '--sendmail-cmd', '--compiler-launcher', '--preprocessor', '--script'],
]

/** Options that are whole, though others begin with them. */
export const whole = /^--(test|filter|dir|open|load)$/

const all = /^/
const editor: RiskyUse = { only: /^(--(version|help|clean|noplugin)|-[hnRbMyZvd]+)$/, fed: true }
const ssh: RiskyUse = { letters: 'oFJISE', takes: ['-p', '-l', '-i', '-L', '-R', '-D', '-W', '-b', '-c', '-m', '-e'] }
const make: RiskyUse = {
  letters: 'CfEI',
  takes: ['-j', '-l', '-o', '-W'],
  long: ['--file', '--makefile', '--include-dir'],
  // variables that make runs, or that make and the shell would expand
  words:
    /^((MAKE|GNUMAKE|MAKEFLAGS|GNUMAKEFLAGS|MAKEFILES|SHELL|\.SHELLFLAGS|CC|CXX|CPP|LD|AR|AS|FC|RM|INSTALL|LEX|YACC|\w*_(CMD|COMMAND|PROG|LAUNCHER|WRAPPER))\s*[:+?!]*=|[\w.]+\s*[:+?!]*=.*[$`;|&])/s,
}
const codeLetters = (letters: string, takes: readonly string[] = []): RiskyUse => ({ letters, takes, script: true })
const tar: RiskyUse = { letters: 'CIF', takes: ['-f', '-b', '-T', '-X', '-N', '-K', '-g', '-L', '-V', '-H'] }
const packages: RiskyUse = {
  letters: 'C',
  takes: ['--filter', '-F', '-w', '--workspace', '-C', '--dir', '--prefix', '--cwd'],
  long: ['--dir', '--shell', '--init-module'],
  verbs: {
    ...Object.fromEntries(
      ['exec', 'x', 'dlx', 'explore', 'edit', 'create', 'innit', 'set', 'env'].map((v) => [v, all]),
    ),
    init: /\S/,
    config: /^(set|edit|delete)/,
    c: /^(set|edit|delete)/,
    pkg: /^set/,
  },
}

export const byProgram: Readonly<Record<string, RiskyUse>> = {
  git: {
    letters: 'Cc',
    takes: ['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--exec-path', '--config-env'],
    long: ['--config', '--config-env', '--namespace', '--template', '--output', '-O', '--filters', '--smtp-server'],
    words: /ext::|^--?\w*remote=ext/,
    verbs: {
      ...Object.fromEntries(
        [
          ...['hook', 'filter-branch', 'difftool', 'mergetool', 'instaweb', 'web--browse', 'daemon', 'shell', 'citool'],
          ...['upload-pack', 'receive-pack', 'send-pack', 'send-email', 'merge-index', 'merge-one-file', 'p4', 'svn'],
          ...[
            'cvsserver',
            'cvsimport',
            'cvsexportcommit',
            'archimport',
            'quiltimport',
            'gui',
            'imap-send',
            'remote-ext',
          ],
          ...['for-each-repo', 'fsmonitor--daemon', 'http-backend', 'credential', 'remote-fd', 'scalar', 'backfill'],
        ].map((verb) => [verb, all]),
      ),
      bisect: /^(run|visualize|view)\b/,
      submodule: /^foreach\b/,
      maintenance: /^(start|register)/,
      // a repository in a folder has hooks of its own
      push: /(^|\s)(\.{0,2}\/|~|file:)/,
      remote: /^(add|set-url)\b.*\s(\.{0,2}\/|~|file:)/,
      // settings name programs: those that do not are looked at elsewhere
      config:
        /(^|\s)(edit|-e|--edit|core\.hookspath|include(if)?\.|init\.templatedir|core\.(worktree|attributesfile))/i,
    },
  },
  tar: { ...tar, words: /^[a-zA-Z]{1,12}[IF]|^[^/\s]+:./ },
  bsdtar: { letters: 'C' },
  zip: { long: ['-TT'] },
  make,
  gmake: make,
  ninja: { letters: 'Cf', takes: ['-j', '-k', '-l', '-d', '-t'] },
  cmake: {
    letters: 'PEC',
    takes: ['-D', '-G', '-A', '-T', '-B', '-S', '-U', '-W'],
    long: ['-DCMAKE_TOOLCHAIN'],
    words: /_(COMPILER|LAUNCHER|COMMAND|PROGRAM|EXECUTABLE)(:\w+)?=/,
  },
  npm: packages,
  pnpm: packages,
  yarn: packages,
  bun: { ...packages, letters: 'ep' },
  deno: { verbs: { eval: all } },
  rsync: { letters: 'eM', takes: ['-B', '-f', '-T'], long: ['--config', '--daemon'] },
  ssh,
  scp: { ...ssh, letters: 'oFSDJ' },
  sftp: { ...ssh, letters: 'oFSDJb' },
  curl: { letters: 'K', takes: [...'odHXuAbFTwxmyYztCeE'].map((each) => `-${each}`), long: ['--config', '--engine'] },
  wget: { letters: 'e', takes: [...'oaOPUtTwDQA'].map((each) => `-${each}`), long: ['--execute', '--config'] },
  man: { only: /^(-[kfawsS1-9]|--(version|help|where|all|apropos|whatis|sections?=.*))$/ },
  less: {
    only: /^(-[NRSFXiIMmrsgGeEcfnq]+|--(version|help|no-init|raw-control-chars|quit-if-one-screen|chop-long-lines))$/,
  },
  more: { only: /^-([dfpcsuln]+|\d+)$/ },
  ...Object.fromEntries(
    ['vi', 'vim', 'nvim', 'view', 'emacs', 'ed', 'ex', 'gdb', 'lldb'].map((name) => [name, editor]),
  ),
  nano: { letters: 'sf', long: ['--speller', '--rcfile'] },
  gcc: { long: ['-wrapper', '-B', '-specs', '--specs', '-fplugin'], words: /^@/ },
  'g++': { long: ['-wrapper', '-B', '-specs', '--specs', '-fplugin'], words: /^@/ },
  clang: { long: ['-fplugin', '-B', '--config', '-Xclang'], words: /^@/ },
  go: { long: ['-C', '-exec', '-toolexec', '-vettool', '-overlay', '-modfile'], verbs: { env: /=/ } },
  cargo: { letters: 'CZ', long: ['--config'] },
  split: { long: ['--filter'] },
  sort: { letters: 'T', takes: ['-k', '-t', '-S', '-o'] },
  fd: { letters: 'xX', takes: ['-e', '-t', '-d', '-E', '-c', '-j', '-S'] },
  fdfind: { letters: 'xX', takes: ['-e', '-t', '-d', '-E', '-c', '-j', '-S'] },
  node: {
    ...codeLetters('erpC'),
    long: [
      ...['--env-file', '--experimental-loader', '--experimental-config-file', '--experimental-default-config-file'],
      ...['--test-reporter', '--test-global-setup', '--run', '--inspect', '--openssl-config', '--print', '--build-s'],
    ],
  },
  python: codeLetters('c', ['-m', '-W', '-X', '-O']),
  perl: codeLetters('eEMmIdx', ['-F', '-0']),
  ruby: codeLetters('erIC', ['-F', '-E', '-W']),
  php: codeLetters('rBREFd', ['-S', '-t', '-c']),
  lua: codeLetters('el'),
  docker: { letters: 'Hc', long: ['--host', '--config', '--context', '--privileged', '--volume', '--mount', '-v'] },
  kubectl: { long: ['--kubeconfig'] },
  psql: { letters: 'cf', long: ['--file'], fed: true },
  mysql: { letters: 'e', long: ['--execute', '--init-command'], fed: true },
  sqlite3: {
    long: ['-cmd', '-init'],
    words:
      /(^|\s)\.(sh(ell)?|system|once|output|excel|load|read|import|open|save|backup|dump)\b|\b(load_extension|edit|writefile)\s*\(/i,
    fed: true,
  },
}

/** Short options of git's verbs that run a program; before the verb, `-C` and `-c` move the place and set anything. */
export const gitLetters: Readonly<Record<string, string>> = {
  rebase: 'xs',
  clone: 'uc',
  difftool: 'x',
  grep: 'O',
  merge: 's',
  pull: 's',
  'cherry-pick': 's',
}

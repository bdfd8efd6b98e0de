/** The script of a warm shell: it waits on descriptor 3 for the word to go, and then runs its command as `bash -lc` would. */

/** Nothing is written to a file that the profile opened as descriptor 3, nor read from it: the shell ends. */
export const keepsChannel = '[[ -S /dev/fd/3 ]] || builtin kill -KILL "$$"'

/**
 * Where the profile traces, exports all, sets a trap, disables a builtin or gives a word of these lines another meaning, the shell
 * says so before it says `r`: hooks run cold.
 */
const checks = [
  keepsChannel,
  '[[ $- != *[axv]* && $SECONDS && $LINENO == 1 ]] || builtin printf unlike >&3',
  'builtin trap -p >&3; ! builtin declare -F builtin exec >&3; ! builtin alias builtin case exec [[ { ! >&3 2>&-',
  'builtin enable -n >&3',
].join('; ')

/** In a login shell. */
export const afterLogin = `builtin set -- "$?" "$@"; ${checks}`

/** In a shell that takes the state of an earlier login from descriptor 4. `status` is that of the profile's last command. */
export const afterRestore = (status: string) => `builtin . /dev/fd/4; ${checks}; exec 4<&-; builtin set -- ${status}`

/**
 * Two lines, then the command on lines of its own: bash reads it when it is due, as it would under `bash -lc`, and replaces
 * itself by its last program as it does there. The first line says `r` and waits for the word to go. An error such as an
 * assignment to a read-only variable ends a line and not the shell, so the second line looks at the word; without it the shell
 * kills itself, since an exit code would look like the hook's. It says `b` when it begins. Both assignments are tried before `r`.
 *
 * `LINENO` is set in a redirection, the one place where bash keeps it: the command begins on line 1. A status above 1 of the
 * profile's last command becomes 1.
 */
export const waitingScript = (begin: string, command: string) =>
  [
    [
      begin,
      'BASH_EXECUTION_STRING=; SECONDS=0',
      '{ builtin printf r; } >&$((3 + 0 * (LINENO = -1)))',
      'builtin read -r -N 1 -u 3 BASH_EXECUTION_STRING || builtin kill -KILL "$$"',
    ].join('; '),
    [
      '[[ $BASH_EXECUTION_STRING == g ]] || builtin kill -KILL "$$"; builtin printf b >&3',
      `BASH_EXECUTION_STRING=${quoted(command)}; SECONDS=0; exec 3>&-`,
      'case $1 in 0) builtin shift ;; *) builtin shift; ! [[ 1 ]] ;; esac',
    ].join('; '),
    command,
  ].join('\n')

const escapes: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\\': '\\\\', "'": "\\'" }
/** On one line, whatever it holds. */
const quoted = (text: string) => `$'${text.replaceAll(/[\n\r\\']/g, (found) => escapes[found]!)}'`

/** The script of a warm shell: it waits on descriptor 3 for the word to go, and then runs its command as `bash -lc` would. */

/** In a login shell. Where the profile traces, or sets a trap, the shell says so before it says `r`: hooks run cold. */
export const afterLogin =
  'builtin set -- "$?" "$@"; [[ $- != *[xv]* ]] || builtin printf traces >&3; builtin trap -p >&3'

/** In a shell that takes the state of an earlier login from descriptor 4. `status` is that of the profile's last command. */
export const afterRestore = (status: string) => `builtin . /dev/fd/4; exec 4<&-; builtin set -- ${status}`

/**
 * All on the command's first line, so that messages name the lines that they would name under `bash -lc`; and not by `eval`,
 * so that bash replaces itself by the last program as it does there. Without the word to go the shell kills itself: an exit
 * code would look like the hook's. A status above 1 of the profile's last command becomes 1.
 */
export const waitingScript = (begin: string, command: string) =>
  [
    begin,
    'builtin printf r >&3',
    'builtin read -r -N 1 -u 3 BASH_EXECUTION_STRING && [[ $BASH_EXECUTION_STRING == g ]] || builtin kill -KILL $$',
    `BASH_EXECUTION_STRING=${quoted(command)}; SECONDS=0; exec 3>&-`,
    '! builtin eval "builtin shift; builtin test $1 != 0"',
    command,
  ].join('; ')

const escapes: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\\': '\\\\', "'": "\\'" }
/** On one line, whatever it holds. */
const quoted = (text: string) => `$'${text.replaceAll(/[\n\r\\']/g, (found) => escapes[found]!)}'`

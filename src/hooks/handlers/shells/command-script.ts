/**
 * The script of a shell that waits for any command and runs it as `bash -c` would, by `eval`. It acknowledges the command on
 * descriptor 3 before it runs it: a shell that ended without doing so has run nothing.
 */

export const waits = [
  'IFS= builtin read -r -d "" -u 3 BASH_EXECUTION_STRING || builtin kill -KILL "$$"',
  'builtin printf b >&3; [[ $BASH_EXECUTION_STRING == 3* ]] || exec 3>&-',
  'BASH_EXECUTION_STRING=${BASH_EXECUTION_STRING:1}; SECONDS=0; builtin eval "$BASH_EXECUTION_STRING"',
].join('; ')

/** What the shell waits for: whether the command reports on descriptor 3 where it ended, or finds it closed; and the command. */
export const wordFor = (command: string, tellsWhere: boolean): string => `${tellsWhere ? '3' : '-'}${command}\0`

/** What `eval` does otherwise than `-c`: a trap on errors runs twice; options; what is counted or listed from the start of the shell. */
const tellsApart =
  /\0|^[-+]|\b(?:trap|times|caller|SHELLOPTS|BASH_\w+|BASH|FUNCNAME|_)\b|\$_|\bset\b|\bdeclare\b|\btypeset\b/

/** False for a command that could tell the difference: it gets a shell of its own. */
export const runsAlike = (command: string): boolean => !tellsApart.test(command)

/** Code that bash runs as it starts, and functions in the place of builtins. */
const startsOtherwise = /^(?:BASH_ENV|ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|ONA_WARM_SHELLS)$/

/** Whether a shell may be started ahead in this environment. */
export const startsAlike = (env: NodeJS.ProcessEnv): boolean =>
  !Object.keys(env).some((name) => startsOtherwise.test(name))

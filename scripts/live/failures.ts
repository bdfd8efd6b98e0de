/** Ways in which a guard can fail, as the command of a hook. */
export const failures: Readonly<Record<string, string>> = {
  crash: 'exit 1',
  'exit 127': 'exit 127',
  'missing program': './no-such-program',
  'missing interpreter': './no-interpreter',
  garbage: 'echo no JSON at all',
  'unknown decision': `echo '{"decision":"maybe"}'`,
  killed: 'kill -9 $$',
  'time-out': 'sleep 30',
}

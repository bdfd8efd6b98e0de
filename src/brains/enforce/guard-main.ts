import { readFileSync } from 'node:fs'
import { judged } from './guard.ts'

export { judged }

// as a program: the host is an argument, the event is on stdin
if (require.main === module)
  judged(__dirname, process.argv[2] ?? '', readFileSync(0, 'utf8')).then(
    ({ status, stdout, stderr }) => {
      process.stdout.write(stdout)
      process.stderr.write(stderr)
      process.exitCode = status
    },
    (cause: Error) => {
      process.stderr.write(`the policy could not be applied: ${cause.message}\n`)
      process.exitCode = 1
    },
  )

import { main } from './guard.ts'

main(__dirname).catch((cause: Error) => {
  process.stderr.write(`the policy could not be applied: ${cause.message}\n`)
  process.exitCode = 1
})

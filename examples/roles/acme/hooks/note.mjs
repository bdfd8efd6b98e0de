// Keeps a list of the commands that agents ran here.
import { appendFileSync, readFileSync } from 'node:fs'

const { tool_input: input = {} } = JSON.parse(readFileSync(0, 'utf8'))
if (input.command) appendFileSync('.agent/commands.log', `${new Date().toISOString()} ${input.command}\n`)

/** `ona --help`. */

export function run(): number {
  process.stdout.write(text)
  return 0
}

const text = `ona governs coding agents.

  ona --version     print the version
  ona --help        print this page
  ona --init-db     make the database (AGENT_SDLC_DB, else ~/.ona/agent.db)
`

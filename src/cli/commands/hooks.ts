/** `ona hooks`: one file a subcommand, loaded when it is asked for. */

const subcommands: Record<
  string,
  { help: string; load: () => Promise<(words: string[]) => Promise<number> | number> }
> = {
  list: {
    help: 'every hook in force, in the order it runs, and where it came from',
    load: async () => (await import('./hooks-plane.ts')).list,
  },
  fire: {
    help: 'ask the hooks about a made-up event, and see what they say',
    load: async () => (await import('./hooks-plane.ts')).fire,
  },
  log: {
    help: 'what ran, and what came of it',
    load: async () => (await import('./hooks-plane.ts')).log,
  },
  brains: {
    help: 'which agents are here, which role hooks they hold, what differs',
    load: async () => (await import('./hooks-brains.ts')).brains,
  },
  import: {
    help: 'make a role of the hooks that you have in an agent',
    load: async () => (await import('./hooks-brains.ts')).importHooks,
  },
}

export async function run([word, ...rest]: string[]): Promise<number> {
  const subcommand = word === undefined || !Object.hasOwn(subcommands, word) ? undefined : subcommands[word]
  if (subcommand) return (await subcommand.load())(rest)
  const lines = Object.entries(subcommands).map(([name, { help }]) => `  ona hooks ${name.padEnd(8)} ${help}\n`)
  const text = `ona hooks: what is asked before and after everything that an agent does.\n\n${lines.join('')}`
  if (word === '--help' || word === '-h') {
    process.stdout.write(text)
    return 0
  }
  process.stderr.write(
    word === undefined ? text : `ona hooks: there is no "${word}"; it takes ${Object.keys(subcommands).join(', ')}\n`,
  )
  return 2
}

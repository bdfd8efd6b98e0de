/** Rules on a program's verbs: `npm publish`, and `npm --prefix app publish`, where options come first. */
export const verbRules = (programs: Readonly<Record<string, readonly string[]>>): string[] =>
  Object.entries(programs).flatMap(([names, verbs]) =>
    names.split(' ').flatMap((name) => verbs.flatMap((verb) => [`Bash(${name} ${verb}*)`, `Bash(${name} * ${verb}*)`])),
  )

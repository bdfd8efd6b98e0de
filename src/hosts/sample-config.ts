/** A user's config of an agent, for the suite that every host passes. Each host's folder has one in `sample-config.ts`. */

export interface SampleConfig {
  /** A config with things of the user's in it, hooks among them; for a JSON config with the agent's own indentation. */
  readonly config: string
  /** What of it must still be there after anything that we do. */
  readonly mustStay: readonly string[]
  /** The same as JSON with a comment in it, for agents whose config is JSON. */
  readonly commented?: string
  /** The agent ignores a file with a comment. */
  readonly strict?: true
  /** The agent identifies a hook by its position, so a new hook goes to the end. */
  readonly fixedPositions?: true
  /** Changes one hook of ours by hand. */
  readonly byHand: (text: string) => string
}

const timeoutByHand = (text: string) => text.replace(/"timeout": \d+/, '"timeout": 99')

/** Claude Code's shape, indented by four as its user likes it. */
export const groupsSample = (event: string, extra: string): SampleConfig => {
  const config = `{
    "theme": "dark",
    "hooks": {
        "${event}": [
            { "matcher": "Bash", "hooks": [ { "type": "command", "command": "./mine.sh" } ] }
        ]
    },
    ${extra}
}
`
  return {
    config,
    mustStay: [
      `    "theme": "dark",\n`,
      `{ "matcher": "Bash", "hooks": [ { "type": "command", "command": "./mine.sh" } ] }`,
      extra,
    ],
    commented: config.replace('"hooks": {', '// mine\n    "hooks": { /* all of them */'),
    byHand: timeoutByHand,
  }
}

export const flatSample = (event: string): SampleConfig => {
  const config = `{
\t"version": 1,
\t"hooks": {
\t\t"${event}": [{ "command": "./mine.sh" }],
\t\t"afterFileEdit": [{ "command": "./format.sh", "note": [1, 2] }]
\t}
}
`
  return {
    config,
    mustStay: ['{ "command": "./mine.sh" }', '\t\t"afterFileEdit": [{ "command": "./format.sh", "note": [1, 2] }]'],
    commented: config.replace('"hooks": {', '// mine\n\t"hooks": {'),
    byHand: timeoutByHand,
  }
}

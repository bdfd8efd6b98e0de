/** How an agent is started headless against a model on loopback, with its other traffic switched off. */

export interface Launch {
  /** Its name on the PATH. */
  readonly program: string
  /** The npm package that installs it. */
  readonly package?: string
  /** The version with which its behaviour was last seen; the proof in CI installs this one. */
  readonly version?: string
  /** Writes what it needs into the home folder before it starts. */
  setup?(place: LaunchPlace): void
  /** Every tool is allowed as far as the user can allow it, so that what refuses a call is a hook or a policy. */
  args(place: LaunchPlace, prompt: string): string[]
  env?(place: LaunchPlace): Record<string, string>
}

export interface LaunchPlace {
  readonly home: string
  readonly repo: string
  /** The model's address, without a path. */
  readonly model: string
  /** MCP servers that it must start, each a program on stdio. */
  readonly mcp: readonly McpServer[]
  /** Writes a file, JSON where it is an object. */
  put(path: string, content: string | object): void
}

export interface McpServer {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
}

/** The servers as an `mcpServers` object, which most agents read. */
export const mcpServers = ({ mcp }: Pick<LaunchPlace, 'mcp'>, more: object = {}): object => ({
  mcpServers: Object.fromEntries(mcp.map(({ name, command, args }) => [name, { command, args, ...more }])),
})

/** The model's name, for agents that take any; the key is never checked. */
export const modelName = 'rehearsal'
export const apiKey = 'rehearsal'

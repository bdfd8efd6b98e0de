/** The name that ona has for another agent's tool. */

export const toolOf = (native: string, tools: Readonly<Record<string, readonly string[]>>): string | undefined =>
  Object.entries(tools).find(([, names]) => names.includes(native))?.[0]

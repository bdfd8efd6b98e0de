/** Both dialects limit a tool's name; a longer or odder one (an MCP server's) travels under a stand-in. */
import type { ToolDefinition } from '../model.ts'

const fits = /^[A-Za-z0-9_-]{1,64}$/

/** The same stand-in for the same name, always: histories are written with it too. */
export const wireName = (name: string): string =>
  fits.test(name) ? name : `${name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 55)}_${hash(name)}`

/** The tool that a name on the wire stands for; a name that no tool has stays as it is. */
export function realName(wire: string, tools: readonly ToolDefinition[]): string {
  if (!/_[0-9a-f]{8}$/.test(wire)) return wire
  return tools.find(({ name }) => name === wire || wireName(name) === wire)?.name ?? wire
}

/** FNV-1a, 32 bits: enough to keep a few hundred names apart. */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  return (value >>> 0).toString(16).padStart(8, '0')
}

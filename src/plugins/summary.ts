/** What a plugin runs and offers, for a user who decides whether to trust it. */
import { readdirSync } from 'node:fs'
import { basename, relative } from 'node:path'
import { labelOf } from '../hooks/handler.ts'
import { visible } from '../hooks/text/visible.ts'
import { targetOf } from '../mcp/config.ts'
import { findSkills } from '../tools/skills/skills.ts'
import type { Plugin } from './read-plugin.ts'

export interface Summary {
  /** Programs that run without a prompt once it is trusted. */
  readonly runs: readonly string[]
  /** What the user and the model can call. */
  readonly offers: readonly string[]
}

export function summaryOf(plugin: Plugin): Summary {
  const short = (text: string) => visible(text.replaceAll(plugin.root, '$ROOT'))
  const { skills } = findSkills({ home: plugin.root, projectDir: plugin.root, sources: [], plugins: [plugin] })
  const own = skills.filter(({ pluginRoot }) => pluginRoot === plugin.root)
  return {
    runs: [
      ...plugin.handlers.map(
        (each) => `hook ${each.event}${each.matcher ? `(${visible(each.matcher)})` : ''}: ${short(labelOf(each))}`,
      ),
      ...plugin.servers.map(({ name, transport }) => `MCP server ${visible(name)}: ${short(targetOf(transport))}`),
      ...(plugin.bin ? readdirSync(plugin.bin).map((name) => `program on the PATH: ${visible(name)}`) : []),
    ],
    offers: [
      ...own.map(({ name, kind, allowedTools }) =>
        visible(`${kind} /${name}${allowedTools.length > 0 ? `, which allows ${allowedTools.join(', ')}` : ''}`),
      ),
      ...plugin.agents.map((path) => visible(`agents in ${relative(plugin.root, path)}`)),
      ...plugin.outputStyles.map((path) =>
        visible(`output styles in ${relative(plugin.root, path) || basename(path)}`),
      ),
    ],
  }
}

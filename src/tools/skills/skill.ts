/** Skill: loads instructions that someone wrote down for a kind of work. */
import { optional, record, string } from '../../hooks/shape.ts'
import { failed, firstNames, said } from '../output.ts'
import { defineTool } from '../tool.ts'

export const skill = defineTool({
  name: 'Skill',
  prompt: `Loads a skill: instructions for a kind of work, which you then follow. When a skill fits the task, load it first; ToolSearch finds those that are not on your list.`,
  input: record({
    skill: string('Its name'),
    args: optional(string('Arguments, as after a slash command')),
  }),
  safety: 'read_only',
  summary: ({ skill, args }) => (args ? `${skill} ${args}` : skill),
  async run({ skill, args }, { host, toolUseId }) {
    const name = skill.trim().replace(/^\//, '')
    const loaded = await host.skills.load(name, args ?? '', toolUseId)
    if (loaded.ok) {
      const head = loaded.forked ? `The sub-agent that ran skill ${name} answers:` : `Launching skill: ${name}`
      const summary = `${loaded.forked ? 'Ran' : 'Loaded'} skill ${name}`
      return said(`${head}\n\n${loaded.text}`, { kind: 'text', summary, full: loaded.text })
    }
    if (loaded.waits) return { ...failed(loaded.why), waits: loaded.waits }
    const known = host.skills.list().filter(({ forModel }) => forModel !== false)
    if (host.skills.list().some((each) => each.name === name)) return failed(loaded.why)
    return failed(`${loaded.why}. Skills: ${firstNames(known.map((each) => each.name)) || 'none'}`)
  },
})

/**
 * The built-in tools, in the order of spec 003 §7. Loading this file loads names, prompts and input shapes only; what
 * a tool needs to run is loaded when it runs.
 */
import { bash } from './bash.ts'
import { edit } from './edit.ts'
import { glob } from './glob.ts'
import { grep } from './grep.ts'
import { read } from './read.ts'
import { todoWrite } from './todo-write.ts'
import type { Tool, ToolDefinitionLike } from './tool.ts'
import { write } from './write.ts'

export const builtInTools: readonly Tool[] = [read, write, edit, bash, glob, grep, todoWrite]

const byName = new Map(builtInTools.map((tool) => [tool.name, tool]))

export const builtInTool = (name: string): Tool | undefined => byName.get(name)

/** The tool as the model is told of it. */
export const definitionOf = ({ name, prompt, input }: Tool): ToolDefinitionLike => ({
  name,
  description: prompt,
  inputSchema: input.schema,
})

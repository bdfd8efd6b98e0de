/**
 * The built-in tools, in the order of spec 003 §7. Loading this file loads names, prompts and input shapes only; what
 * a tool needs to run is loaded when it runs.
 */
import { agent } from './agent.ts'
import { askUserQuestion } from './ask-user-question.ts'
import { bash } from './bash/bash.ts'
import { brief } from './brief.ts'
import { edit } from './edit/edit.ts'
import { enterPlanMode } from './enter-plan-mode.ts'
import { exitPlanMode } from './exit-plan-mode.ts'
import { listMcpResources } from './list-mcp-resources.ts'
import { notebookEdit } from './notebook/notebook-edit.ts'
import type { ToolDefinitionLike } from './output.ts'
import { read } from './read/read.ts'
import { readMcpResource } from './read-mcp-resource.ts'
import { glob } from './search/glob.ts'
import { grep } from './search/grep.ts'
import { skill } from './skills/skill.ts'
import { taskOutput } from './task-output.ts'
import { taskStop } from './task-stop.ts'
import { todoWrite } from './todo-write.ts'
import type { Tool } from './tool.ts'
import { toolSearch } from './tool-search.ts'
import { webFetch } from './web/web-fetch.ts'
import { webSearch } from './web/web-search.ts'
import { write } from './write/write.ts'

export const builtInTools: readonly Tool[] = [
  read,
  write,
  edit,
  notebookEdit,
  bash,
  glob,
  grep,
  webFetch,
  webSearch,
  askUserQuestion,
  todoWrite,
  taskOutput,
  agent,
  skill,
  enterPlanMode,
  exitPlanMode,
  listMcpResources,
  readMcpResource,
  toolSearch,
  brief,
  taskStop,
]

const byName = new Map(builtInTools.map((tool) => [tool.name, tool]))

export const builtInTool = (name: string): Tool | undefined => byName.get(name)

/** The tool as the model sees it. */
export const definitionOf = ({ name, prompt, input }: Tool): ToolDefinitionLike => ({
  name,
  description: prompt,
  inputSchema: input.schema(),
})

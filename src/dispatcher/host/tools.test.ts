import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claudeTools } from '../../hosts/claudecode/tools.ts'
import { copilotTools } from '../../hosts/copilot/tools.ts'
import { vscodeTools } from '../../hosts/vscode/tools.ts'
import { canonicalTool, mutatingTools } from './tools.ts'

/** What a filter's name may become: VS Code's ids of the same kind, and finer ones. */
const finer: Record<string, string[]> = { Edit: ['edit_notebook_file'], Write: [] }

test('every tool name of every host of the dispatcher is one of VS Code’s ids, of the same kind', () => {
  for (const [name, ids] of Object.entries(vscodeTools)) {
    const same = [...ids.filter((id) => canonicalTool(id) === id), ...(finer[name] ?? [])]
    for (const tools of [claudeTools, copilotTools, vscodeTools] as Record<string, readonly string[]>[])
      for (const native of tools[name] ?? [])
        assert.ok(same.includes(canonicalTool(native)), `${native} became ${canonicalTool(native)}, not ${same}`)
  }
})

test('the second names of VS Code’s tools are their ids', () => {
  const table: [string, string][] = [
    ['readFile', 'read_file'],
    ['textSearch', 'grep_search'],
    ['codebase', 'semantic_search'],
    ['listDirectory', 'list_dir'],
    ['applyPatch', 'apply_patch'],
    ['multiReplaceStringInFile', 'multi_replace_string_in_file'],
    ['newJupyterNotebook', 'create_new_jupyter_notebook'],
    ['LS', 'list_dir'],
    ['mcp__server__tool', 'mcp__server__tool'],
    ['constructor', 'constructor'],
  ]
  assert.deepEqual(
    table.map(([name]) => [name, canonicalTool(name)]),
    table,
  )
  for (const id of mutatingTools)
    assert.equal(canonicalTool(id.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())), id)
})

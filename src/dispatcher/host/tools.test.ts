import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claudeTools } from '../../hosts/claudecode/tools.ts'
import { copilotTools } from '../../hosts/copilot/tools.ts'
import { vscodeTools } from '../../hosts/vscode/tools.ts'
import type { HostEvent, Json } from '../types.ts'
import { callPaths, canonicalTool, isClaudeToolName, mutatingTools, namesTool, searchKeys, textAt } from './tools.ts'

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
    ['MultiEdit', 'multi_replace_string_in_file'],
    ['NotebookEdit', 'edit_notebook_file'],
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

test('the paths of a call, wherever they stand in it, each once', () => {
  const patch =
    '*** Add File: a/new.ts \n*** Update File: b\r\n*** Delete File: c\n*** Move to: d\n+ *** Add File: e\n*** End'
  const many = Array.from({ length: 1001 }, (_, n) => `f${n}`)
  const table: [Json | undefined, string[]][] = [
    [undefined, []],
    [{}, []],
    [
      { filePath: 'a', file_path: 'b', path: 'c', dirPath: 'd', notebook_path: 'e', notebookPath: 'f', other: 'g' },
      ['a', 'b', 'c', 'd', 'e', 'f'],
    ],
    [{ filePath: '/repo/src/../a', path: 'file:///repo/a', dirPath: ' ', notebookPath: 7 }, ['a']],
    [{ path: 'a/file://b' }, ['a/file:/b']],
    [
      { replacements: [{ filePath: 'a' }, 7], edits: [{ file_path: 'b' }], files: ['c', ''], filePaths: ['d'] },
      [...'abcd'],
    ],
    [{ replacements: 'a', edits: { path: 'b' }, others: ['c'] }, []],
    [{ files: many }, many],
    [{ input: patch }, ['a/new.ts', 'b', 'c', 'd']],
    [{ patch: '*** Update File: a', input: 7, text: '*** Add File: b' }, ['a']],
  ]
  for (const [input, paths] of table) assert.deepEqual(callPaths(input, '/repo'), paths)
})

test('a rule names a tool in any host’s spelling; a search has its bounds where its host keeps them', () => {
  const event = { name: 'PreToolUse', toolName: 'Bash', tool: 'run_in_terminal', paths: [] } as HostEvent
  assert.deepEqual(
    ['*', 'Bash', 'run_in_terminal', 'bash', 'Read', 'bas'].filter((wanted) => namesTool(wanted, event)),
    ['*', 'Bash', 'run_in_terminal', 'bash'],
  )
  assert.deepEqual(
    ['Grep', 'grep_search', undefined].map((toolName) => searchKeys({ ...event, toolName })),
    [
      { include: 'glob', query: 'pattern' },
      { include: 'includePattern', query: 'query' },
      { include: 'includePattern', query: 'query' },
    ],
  )
  assert.deepEqual(['Read', 'LS', 'bash', 'read_file', 'toString'].filter(isClaudeToolName), ['Read', 'LS'])
  assert.deepEqual([textAt({ a: 'x' }, 'a'), textAt({ a: 1 }, 'a'), textAt(undefined, 'a')], ['x', '', ''])
})

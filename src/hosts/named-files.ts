/** The files that one call of an agent names: a patch changes many, and some tools take a list of edits. */
import { isObject, type JsonObject } from '../hooks/shape.ts'

const pathKeys = [
  ...['filePath', 'file_path', 'path', 'dirPath', 'notebook_path', 'notebookPath'],
  ...['absolute_path', 'target_file', 'target_notebook'],
]
const listKeys = ['replacements', 'edits', 'files', 'filePaths', 'paths', 'include']
const patchKeys = ['command', 'cmd', 'patchText', 'patch', 'input']

/** Under which key an input holds a patch in the language of apply_patch. */
export const patchKey = (input: JsonObject): string | undefined =>
  patchKeys.find((key) => typeof input[key] === 'string' && input[key].includes('*** Begin Patch'))

/** The files of a patch, each once. Codex accepts padding before a header, so it counts here too. */
export const patchedFiles = (patch: string): string[] => [
  ...new Set(
    Array.from(patch.matchAll(/^[ \t]*\*\*\* (?:(?:Add|Update|Delete) File|Move to):(.+)$/gm), ([, path]) =>
      path!.trim(),
    ),
  ),
]

/** Every file that the input of a tool that reads or changes files names, each once: its own, those of lists, those of patches. */
export function namedFiles(input: JsonObject): string[] {
  const found: unknown[] = []
  const addFrom = (record: JsonObject) => {
    for (const each of pathKeys) found.push(record[each])
  }
  addFrom(input)
  for (const each of listKeys) {
    const list = input[each]
    if (!Array.isArray(list)) continue
    for (const item of list) {
      if (isObject(item)) addFrom(item)
      else found.push(item)
    }
  }
  for (const key of patchKeys)
    if (typeof input[key] === 'string') for (const path of patchedFiles(input[key])) found.push(path)
  const paths = found.filter((path): path is string => typeof path === 'string' && path.trim() !== '')
  return [...new Set(paths.map((path) => path.replace(/^file:\/\//, '')))]
}

/** The input of a call as if this were its file, under the key by which the tool is judged. */
export const withFile = (tool: string, input: JsonObject, path: string): JsonObject => ({
  ...input,
  [tool === 'NotebookEdit' ? 'notebook_path' : 'file_path']: path,
})

/** Tools that are about files, by ona's names and Codex's. */
export const isFileTool = (tool: string): boolean =>
  /^(?:Read|Write|Edit|MultiEdit|NotebookEdit|apply_patch)$/.test(tool)

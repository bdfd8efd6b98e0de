/** The files that one call of an agent names: a patch changes many, and some tools take a list of edits. */
import { isObject, type JsonObject } from '../hooks/shape.ts'

const pathKeys = ['file_path', 'absolute_path', 'path', 'filePath', 'target_file']
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

/** Every file that the input of a tool that reads or changes files names, each once: the patch's, its own, those of lists. */
export function namedFiles(input: JsonObject): string[] {
  const key = patchKey(input)
  const found: unknown[] = key === undefined ? [] : patchedFiles(String(input[key]))
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
  return [...new Set(found.filter((path): path is string => typeof path === 'string' && path.trim() !== ''))]
}

/** Tools that are about files, by ona's names and Codex's. */
export const isFileTool = (tool: string): boolean =>
  /^(?:Read|Write|Edit|MultiEdit|NotebookEdit|apply_patch)$/.test(tool)

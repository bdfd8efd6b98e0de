/** The forms of `tool_response` that Claude Code shows its hooks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bench } from '../../test/support/tool-host.ts'

test('files: what was read, written and changed', async (t) => {
  const b = bench(t)
  const path = b.file('a.txt', 'one\ntwo\nthree\n')
  assert.deepEqual(await b.response('Read', { file_path: path, offset: 2, limit: 1 }), {
    type: 'text',
    file: { filePath: path, content: 'two', numLines: 1, startLine: 2, totalLines: 3 },
  })
  const structuredPatch = [
    { oldStart: 1, oldLines: 3, newStart: 1, newLines: 3, lines: [' one', '-two', '+TWO', ' three'] },
  ]
  assert.deepEqual(await b.response('Edit', { file_path: path, old_string: 'two', new_string: 'TWO' }), {
    ...{ filePath: path, oldString: 'two', newString: 'TWO', originalFile: 'one\ntwo\nthree\n', structuredPatch },
    ...{ userModified: false, replaceAll: false },
  })
  const created = `${b.folder}/new.txt`
  assert.deepEqual(await b.response('Write', { file_path: created, content: 'x\n' }), {
    ...{ type: 'create', filePath: created, content: 'x\n', structuredPatch: [], originalFile: null },
    userModified: false,
  })
  assert.deepEqual(await b.response('Write', { file_path: path, content: 'z\n' }), {
    ...{ type: 'update', filePath: path, content: 'z\n', originalFile: 'one\nTWO\nthree\n', userModified: false },
    structuredPatch: [{ oldStart: 1, oldLines: 3, newStart: 1, newLines: 1, lines: ['-one', '-TWO', '-three', '+z'] }],
  })
})

test('a notebook: its cells, and the change of one', async (t) => {
  const b = bench(t)
  const cell = { cell_type: 'code', id: 'c1', source: '1', metadata: {}, outputs: [], execution_count: null }
  const text = JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 })
  const path = b.file('n.ipynb', text)
  assert.deepEqual(await b.response('Read', { file_path: path }), {
    type: 'notebook',
    file: { filePath: path, cells: [{ cellType: 'code', source: '1', cell_id: 'c1' }] },
  })
  const { updated_file, ...edited } = (await b.response('NotebookEdit', {
    ...{ notebook_path: path, cell_id: 'c1', new_source: '2' },
  })) as Record<string, unknown>
  assert.deepEqual(edited, {
    ...{ new_source: '2', old_source: '1', cell_type: 'code', edit_mode: 'replace', cell_id: 'c1', error: '' },
    ...{ notebook_path: path, original_file: text },
  })
  assert.equal(updated_file, b.content('n.ipynb'))
})

test('a command: both streams, or the task that runs on', async (t) => {
  const b = bench(t)
  assert.deepEqual(await b.response('Bash', { command: 'echo out; echo err >&2' }), {
    ...{ stdout: 'out', stderr: 'err', interrupted: false, isImage: false },
  })
  const { backgroundTaskId, ...rest } = (await b.response('Bash', {
    ...{ command: 'true', run_in_background: true },
  })) as Record<string, unknown>
  assert.deepEqual(
    [typeof backgroundTaskId, rest],
    ['string', { stdout: '', stderr: '', interrupted: false, isImage: false }],
  )
})

test('searches: the files, the lines and the counts', async (t) => {
  const b = bench(t)
  const path = b.file('a.txt', 'one\ntwo\n')
  const { durationMs, ...found } = (await b.response('Glob', { pattern: '*.txt' })) as Record<string, unknown>
  assert.deepEqual([typeof durationMs, found], ['number', { filenames: [path], numFiles: 1, truncated: false }])
  assert.deepEqual(await b.response('Grep', { pattern: 'o' }), {
    ...{ mode: 'files_with_matches', numFiles: 1, filenames: [path] },
  })
  assert.deepEqual(await b.response('Grep', { pattern: 'two', output_mode: 'content' }), {
    ...{ mode: 'content', numFiles: 1, filenames: [], content: 'a.txt:2:two', numLines: 1 },
  })
  assert.deepEqual(await b.response('Grep', { pattern: 'o', output_mode: 'count' }), {
    ...{ mode: 'count', numFiles: 1, filenames: [], content: 'a.txt:2', numMatches: 2 },
  })
})

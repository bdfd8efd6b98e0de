import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Bench, bench } from '../../../test/support/tool-host.ts'

const notebook = {
  cells: [
    { cell_type: 'markdown', id: 'intro', metadata: {}, source: ['# Hi\n'] },
    {
      cell_type: 'code',
      execution_count: 3,
      id: 'code',
      metadata: { k: 1 },
      outputs: [{ output_type: 'stream', text: '1' }],
      source: ['print(1)'],
    },
  ],
  metadata: { kernelspec: { name: 'python3' } },
  nbformat: 4,
  nbformat_minor: 5,
}

async function opened(b: Bench, content: object = notebook): Promise<string> {
  const path = b.file('n.ipynb', `${JSON.stringify(content, null, 1)}\n`)
  await b.use('Read', { file_path: path })
  return path
}

test('a replaced cell loses what its old source printed; everything else stays', async (t) => {
  const b = bench(t)
  const notebook_path = await opened(b)
  const { content, isError, display } = await b.use('NotebookEdit', {
    notebook_path,
    cell_id: 'code',
    new_source: 'print(2)\nprint(3)',
  })
  assert.deepEqual([content, isError], [`Updated cell code in ${notebook_path}: now 2 cells`, false])
  assert.deepEqual(display?.kind === 'diff' && [display.added, display.removed], [2, 1])
  const code = {
    cell_type: 'code',
    id: 'code',
    metadata: { k: 1 },
    source: ['print(2)\n', 'print(3)'],
    execution_count: null,
    outputs: [],
  }
  assert.equal(b.content('n.ipynb'), `${JSON.stringify({ ...notebook, cells: [notebook.cells[0], code] }, null, 1)}\n`)
})

test('a cell is put in after another, or first, with an id of its own', async (t) => {
  const b = bench(t)
  const notebook_path = await opened(b)
  await b.use('NotebookEdit', { notebook_path, edit_mode: 'insert', cell_type: 'markdown', new_source: 'first' })
  await b.use('NotebookEdit', {
    notebook_path,
    edit_mode: 'insert',
    cell_id: 'intro',
    cell_type: 'code',
    new_source: '1+1',
  })
  const { cells } = JSON.parse(b.content('n.ipynb')) as {
    cells: { id: string; source: string[]; outputs?: unknown[] }[]
  }
  assert.deepEqual(
    cells.map(({ source }) => source.join('')),
    ['first', '# Hi\n', '1+1', 'print(1)'],
  )
  assert.match(cells[0]!.id, /^[0-9a-f]{8}$/)
  assert.deepEqual(cells[2]!.outputs, [])
})

test('a cell is taken out, by its id or its place', async (t) => {
  const b = bench(t)
  const notebook_path = await opened(b)
  await b.use('NotebookEdit', { notebook_path, edit_mode: 'delete', cell_id: 'cell-0', new_source: '' })
  assert.deepEqual(
    (JSON.parse(b.content('n.ipynb')) as { cells: { id: string }[] }).cells.map(({ id }) => id),
    ['code'],
  )
})

test('older notebooks get no ids', async (t) => {
  const b = bench(t)
  const notebook_path = await opened(b, { ...notebook, nbformat_minor: 4, cells: [] })
  const { content } = await b.use('NotebookEdit', {
    notebook_path,
    edit_mode: 'insert',
    cell_type: 'code',
    new_source: 'x',
  })
  assert.equal(content, `Inserted cell cell-0 in ${notebook_path}: now 1 cell`)
  assert.equal((JSON.parse(b.content('n.ipynb')) as { cells: { id?: string }[] }).cells[0]!.id, undefined)
})

test('what cannot be changed is said', async (t) => {
  const b = bench(t)
  const notebook_path = await opened(b)
  const said = async (input: object) =>
    (await b.use('NotebookEdit', { notebook_path, new_source: 'x', ...input })).content.replaceAll(b.folder, '')
  assert.equal(await said({}), '/n.ipynb: cell_id is missing')
  assert.equal(await said({ cell_id: 'nope' }), '/n.ipynb: there is no cell "nope"; the cells are intro, code')
  assert.equal(await said({ edit_mode: 'insert' }), '/n.ipynb: cell_type is missing; insert needs "code" or "markdown"')
  assert.equal(await said({ notebook_path: b.file('a.py', '') }), '/a.py is no notebook (.ipynb); use Edit')
  assert.equal(await said({ notebook_path: 'none.ipynb' }), '/none.ipynb does not exist')
  const broken = b.file('broken.ipynb', '{"cells": 1}')
  await b.use('Read', { file_path: broken })
  assert.equal(
    await said({ notebook_path: broken }),
    "/broken.ipynb is not a notebook's JSON: it needs a list of cells",
  )
  assert.equal(
    await said({ notebook_path: b.file('unread.ipynb', '{}') }),
    '/unread.ipynb has not been read yet. Read it first, then change it.',
  )
})

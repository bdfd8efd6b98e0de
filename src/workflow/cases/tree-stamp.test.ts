import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDb } from '../../store/open.ts'
import { runScript } from './run-script.ts'

test('a case that no sandbox holds fails when it changes the project itself', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'ona-unheld-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const [project, copy] = [join(root, 'project'), join(root, 'copy')]
  for (const folder of [project, copy]) mkdirSync(folder)
  writeFileSync(join(project, 'a.txt'), 'one')
  const db = openDb(join(root, 'a.db'))
  t.after(() => db.close())
  const env = { PATH: process.env['PATH'], REAL: project }
  const run = (content: string) =>
    runScript(content, {
      ...{ projectDir: copy, db, conversationId: 'c', env },
      wrap: async (words, place) => ({ words, env: place.env, unheld: project }),
    })
  db.run("INSERT INTO conversations(id, project_dir, phase) VALUES ('c', '/p', 'test')")
  const read = `new (require("node:sqlite").DatabaseSync)(process.env.AGENT_SDLC_DB).prepare("SELECT id, phase FROM conversations").all()`
  const { stdout } = await run(`"${process.execPath}" -p 'JSON.stringify(${read})'`)
  assert.equal(stdout, '[{"id":"c","phase":"test"}]\n', 'the conversation, also of a record without settings')
  const quiet = await run('echo x > "$PROJECT_DIR/b.txt"; cat "$REAL/a.txt"')
  assert.deepEqual([quiet.exitCode, quiet.stdout], [0, 'one'])
  for (const script of [
    'echo two > "$REAL/a.txt"',
    'mkdir "$REAL/d"; echo x > "$REAL/d/n"; exit 0',
    'rm "$REAL/a.txt"',
  ]) {
    const { exitCode, stderr } = await run(script)
    assert.equal(exitCode, 1, script)
    assert.match(stderr, /the project itself changed while the case ran, and no sandbox held it: (?:a\.txt|d\/n)/)
  }
})

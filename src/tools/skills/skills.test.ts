import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Bench, bench } from '../../../test/support/tool-host.ts'
import { readFrontmatter } from './frontmatter.ts'
import { renderSkill, type SkillDoors } from './skill-loader.ts'
import { findSkills, type Part, partsOf, type Skill, shellWords } from './skills.ts'

const find = (b: Bench) => findSkills({ home: `${b.folder}/home`, projectDir: `${b.folder}/project` })

const skill = (body: string): Skill => ({
  name: 's',
  description: '',
  kind: 'skill',
  from: 'project',
  path: '/skills/s/SKILL.md',
  body,
  allowedTools: [],
  fork: false,
  forModel: true,
  forUser: true,
})

const rendered = (body: string, args: string) =>
  partsOf(skill(body), { args, sessionId: 'S' })
    .map((part) =>
      part.kind === 'text' ? part.text : part.kind === 'command' ? `<run ${part.command}>` : `<read ${part.path}>`,
    )
    .join('')

test('skills and commands are found in the home and the project, and the nearer to the user wins', async (t) => {
  const b = bench(t)
  b.file(
    'project/.ona/skills/deploy/SKILL.md',
    '---\ndescription: Ships it\nallowed-tools: Read, Bash(git add:*)\nargument-hint: "[where]"\nmodel: opus\n---\nShip.\n',
  )
  b.file('project/.claude/skills/deploy/SKILL.md', 'hidden by .ona')
  b.file(
    'project/.claude/skills/secret/SKILL.md',
    '---\ndisable-model-invocation: true\nuser-invocable: false\n---\n# Title\n\nFirst words\nhere.\n\nMore.',
  )
  b.file('project/.claude/commands/git/fix.md', 'Fix it')
  b.file('project/.ona/commands/deploy.md', 'a command of the same name loses')
  b.file('home/.ona/commands/fix.md', 'user fix')
  b.file('project/.ona/commands/fix.md', 'project fix')
  b.file('project/.ona/commands/notes.txt', 'no command')
  const { skills, warnings } = await find(b)
  assert.deepEqual(warnings, [])
  assert.deepEqual(
    skills.map(({ name, from, kind, description }) => [name, from, kind, description]),
    [
      ['fix', 'user', 'command', 'user fix'],
      ['deploy', 'project', 'skill', 'Ships it'],
      ['secret', 'project', 'skill', 'First words here.'],
      ['git:fix', 'project', 'command', 'Fix it'],
      ['help', 'built-in', 'skill', 'What ona is, what it can do here, and how to use it'],
    ],
  )
  const [, deploy, secret] = skills
  assert.deepEqual(
    [deploy!.allowedTools, deploy!.argumentHint, deploy!.model, deploy!.body, deploy!.forModel, deploy!.forUser],
    [['Read', 'Bash(git add:*)'], '[where]', 'opus', 'Ship.', true, true],
  )
  assert.deepEqual([secret!.forModel, secret!.forUser], [false, false])
})

test('what cannot be read is left out with a warning that names it', async (t) => {
  const b = bench(t)
  const bad = b.file('project/.ona/commands/bad.md', '---\nno pair\n---\nx')
  const odd = b.file('project/.ona/skills/odd/SKILL.md', '---\nname: "../../etc"\n---\nx')
  const { skills, warnings } = await find(b)
  assert.deepEqual(
    skills.map(({ name }) => name),
    ['help'],
  )
  assert.deepEqual(
    warnings.map((warning) => warning.split(' was left out')[0]),
    [odd, bad],
  )
})

test('heads of every shape are read', async () => {
  const cases: [string, object, string][] = [
    ['no head', {}, 'no head'],
    [
      '---\na: 1\nb: "two: three"\nc: [x, y]\nd:\n  - p\n  - q\ne: true\n---\nbody',
      { a: '1', b: 'two: three', c: ['x', 'y'], d: ['p', 'q'], e: true },
      'body',
    ],
    ['---\r\na: b\r\n---\r\nbody\r\n', { a: 'b' }, 'body\r\n'],
    ['---\n---\nbody', {}, 'body'],
    ['---\na: |\n  two\n  lines\nhooks:\n  Stop: []\n---\nbody', { a: 'two lines', hooks: 'Stop: []' }, 'body'],
    ['text\n---\na: b\n---\n', {}, 'text\n---\na: b\n---\n'],
    ['---\nnever closed', {}, '---\nnever closed'],
  ]
  for (const [text, head, body] of cases) {
    const read = readFrontmatter(text)
    assert.deepEqual(read.ok && { head: { ...read.fields }, body: read.body }, { head, body }, text)
  }
})

test('arguments take their places', () => {
  const cases: [string, string, string][] = [
    ['Fix $ARGUMENTS now', 'a "b c"', 'Fix a "b c" now'],
    ['Fix $1 then $2', 'a "b c"', 'Fix a then b c'],
    ['Fix $0 then $1', 'a "b c"', 'Fix a then b c'],
    ['Fix $ARGUMENTS[1]', 'a b', 'Fix b'],
    ['Fix $3.', 'a', 'Fix .'],
    ['Session ${CLAUDE_SESSION_ID} in ${ONA_SKILL_DIR}', '', 'Session S in /skills/s'],
    ['Nothing to fill', 'a b', 'Nothing to fill\n\nARGUMENTS: a b'],
    ['Nothing to fill', '', 'Nothing to fill'],
    ['It costs $5 each', '', 'It costs  each'],
  ]
  for (const [body, args, expected] of cases) assert.equal(rendered(body, args), expected)
})

test('commands and files come as parts, to be run and read under the rules', () => {
  assert.deepEqual(
    partsOf(skill('Status:\n!`git status`\nand @src/main.ts, mail a@b.c\n```!\nls\npwd\n```\nend'), {
      args: '',
      sessionId: '',
    }),
    [
      { kind: 'text', text: 'Status:\n' },
      { kind: 'command', command: 'git status', source: '!`git status`' },
      { kind: 'text', text: '\nand ' },
      { kind: 'file', path: 'src/main.ts', source: '@src/main.ts' },
      { kind: 'text', text: ', mail a@b.c\n' },
      { kind: 'command', command: 'ls\npwd', source: '```!\nls\npwd\n```' },
      { kind: 'text', text: '\nend' },
    ] satisfies Part[],
  )
})

test('an argument brings no command of its own', () => {
  assert.equal(rendered('Do $ARGUMENTS', '!`rm -rf /`'), 'Do !`rm -rf /`')
  assert.equal(rendered('!`git log $1`', "x'; rm -rf / #"), "<run git log 'x; rm -rf / #'>")
  assert.equal(rendered('!`echo $ARGUMENTS`', 'a;b $(c)'), "<run echo 'a;b' '$(c)'>")
})

test('any argument reaches the command as one word', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (word) => {
      fc.pre(!word.includes('\0'))
      const [part] = partsOf(skill('!`printf %s $1`'), { args: `"${word.replace(/[\\"]/g, '\\$&')}"`, sessionId: '' })
      assert.equal(execFileSync('/bin/bash', ['-c', (part as { command: string }).command], { encoding: 'utf8' }), word)
    }),
    { numRuns: 40 },
  )
})

test('words are cut as a shell cuts them', () => {
  assert.deepEqual(shellWords(`a  "b c" 'd e' f\\ g "h\\"i" "" j"k"'l' "open`), [
    'a',
    'b c',
    'd e',
    'f g',
    'h"i',
    '',
    'jkl',
    'open',
  ])
})

test('the built-in help answers a question', async (t) => {
  const help = (await find(bench(t))).skills.find(({ name }) => name === 'help')!
  const [part] = partsOf(help, { args: 'how do I plan?', sessionId: '' })
  assert.match((part as { text: string }).text, /Shift\+Tab[\s\S]*Their question: how do I plan\?$/)
})

test('a skill is loaded with what it embeds done, in order, or not at all', async (t) => {
  const b = bench(t)
  b.file('project/.ona/skills/a/SKILL.md', 'Now: !`date $1`\nFile: @notes.txt and @nobody')
  b.file('project/.ona/commands/refused.md', '!`rm -rf x`')
  b.file('project/.ona/commands/failing.md', '!`false`')
  const { skills } = findSkills({ home: `${b.folder}/home`, projectDir: `${b.folder}/project` })
  const doors: SkillDoors = {
    async run(command) {
      if (command.startsWith('rm')) return { ok: false, why: 'denied by a rule', ran: false }
      return command === 'false' ? { ok: false, why: 'Exit code 1', ran: true } : { ok: true, text: `ran ${command}\n` }
    },
    read: async (path) =>
      path === 'notes.txt' ? { ok: true, text: 'the notes' } : { ok: false, why: 'gone', ran: false },
  }
  const render = (name: string, args = '') =>
    renderSkill(skills.find((skill) => skill.name === name)!, { args, sessionId: 'S' }, doors)
  assert.deepEqual(await render('a', 'today'), {
    ok: true,
    text: `The files of this skill are in ${b.folder}/project/.ona/skills/a.\n\nNow: ran date 'today'\nFile: the notes and @nobody`,
  })
  assert.deepEqual(await render('refused'), {
    ok: false,
    why: 'Shell command permission check failed for pattern "!`rm -rf x`": denied by a rule',
  })
  assert.deepEqual(await render('failing'), {
    ok: false,
    why: 'Shell command failed for pattern "!`false`": Exit code 1',
  })
})

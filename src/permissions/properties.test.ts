import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import ignore from 'ignore'
import { sized } from '../../test/support/campaign-size.ts'
import type { PermissionMode } from '../hooks/plane.ts'
import { decide } from './decide.ts'
import { matchesPath, pathPattern } from './paths/pattern.ts'
import type { PermissionQuestion, PermissionSettings } from './question.ts'
import { couldMatch, HOLE, matches } from './wildcard.ts'

const modes: PermissionMode[] = ['default', 'acceptEdits', 'bypassPermissions', 'plan', 'dontAsk']
const rule = fc.constantFrom(
  ...[
    'Bash',
    'Bash(rm *)',
    'Bash(git:*)',
    'Bash(git push *)',
    'Bash(* --force)',
    'Bash(ls)',
    'Bash(npm run *)',
    'Bash()',
  ],
  ...[
    'Read',
    'Read(.env)',
    'Read(/src/**)',
    'Edit(*.ts)',
    'Edit(//etc/**)',
    'Write',
    '*',
    'mcp__a',
    'WebFetch(domain:a.b)',
  ],
)
const rules = fc.array(rule, { maxLength: 4 })
const word = fc.constantFrom(
  'rm',
  'git',
  'push',
  'ls',
  '-rf',
  'x',
  '$X',
  '"a b"',
  '.env',
  '*.ts',
  '--force',
  '$(ls)',
  "r''m",
  '/bin/rm',
)
const glue = fc.constantFrom(' ', ' && ', '; ', ' | ', '\n', ' > ', ' < ', ' & ', ' || ')
const command = fc.array(fc.tuple(word, glue), { minLength: 1, maxLength: 6 }).map((parts) =>
  parts
    .map(([text, between]) => text + between)
    .join('')
    .trim(),
)
const call = fc.oneof(
  command.map((command) => ({ tool: 'Bash', input: { command } })),
  fc.constantFrom(
    { tool: 'Read', input: { file_path: '/w/.env' } },
    { tool: 'Write', input: { file_path: '/w/src/a.ts' } },
    { tool: 'Edit', input: { file_path: '/etc/hosts' } },
    { tool: 'mcp__a__b', input: {} },
    { tool: 'WebFetch', input: { url: 'http://a.b/' } },
  ),
)
const question: fc.Arbitrary<PermissionQuestion> = fc
  .record({
    settings: fc.record({ allow: rules, deny: rules, ask: rules }) as fc.Arbitrary<PermissionSettings>,
    mode: fc.constantFrom(...modes),
    call,
    hook: fc.constantFrom('none', 'allow', 'ask', 'deny'),
  })
  .map(({ call, ...rest }) => ({ ...rest, ...call, cwd: '/w', projectDir: '/w', home: '/h' }))

const strictness = { allow: 0, ask: 1, deny: 2 }

test('a deny rule, once added, never makes a ruling milder', async () => {
  await fc.assert(
    fc.asyncProperty(question, rule, async (asked, added) => {
      const before = await decide(asked)
      const settings = { ...asked.settings, deny: [...asked.settings.deny!, added] }
      const after = await decide({ ...asked, settings })
      assert.ok(strictness[after.decision] >= strictness[before.decision], `${before.reason} → ${after.reason}`)
    }),
    { numRuns: sized(500, 1500) },
  )
})

test('an allow rule, a hook or a mode never undoes a deny rule', async () => {
  await fc.assert(
    fc.asyncProperty(question, rules, fc.constantFrom(...modes), async (asked, allow, mode) => {
      const plainly = { ...asked, mode: 'default' as const, hook: 'none' as const }
      if ((await decide(plainly)).decision !== 'deny') return
      const settings = { ...asked.settings, allow: [...asked.settings.allow!, ...allow] }
      assert.equal((await decide({ ...asked, settings, mode, hook: 'allow' })).decision, 'deny')
    }),
    { numRuns: sized(330, 1000) },
  )
})

test('however it is quoted or escaped, a denied command is denied or asked', async () => {
  const spell = (text: string, ways: number[]): string =>
    [...text].map((char, at) => spellings[(ways[at] ?? 0) % spellings.length]!(char)).join('')
  const spellings: ((char: string) => string)[] = [
    (char) => char,
    (char) => `\\${char}`,
    (char) => `'${char}'`,
    (char) => `"${char}"`,
    (char) => `$'\\x${char.charCodeAt(0).toString(16)}'`,
    (char) => `$'\\${char.charCodeAt(0).toString(8).padStart(3, '0')}'`,
    (char) => `''${char}`,
    (char) => `${char}\\\n`,
    (char) => `$'\\u00${char.charCodeAt(0).toString(16)}'`,
    (char) => `\${Z:-${char}}`,
    (char) => `$(printf ${char})`,
  ]
  const around = fc.constantFrom(
    '@',
    'ls; @',
    'A=1 @',
    'env @',
    '(@)',
    'echo $(@)',
    'timeout 3 @',
    '@ | cat',
    'sudo -n @',
    'if @; then :; fi',
    '{ @; }',
    '! @',
  )
  const settings = { allow: ['Bash'], deny: ['Bash(curl *)'] }
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(20), { minLength: 4, maxLength: 4 }), around, async (ways, frame) => {
      const command = frame.replace('@', () => `${spell('curl', ways)} http://a`)
      const asked = {
        settings,
        mode: 'bypassPermissions' as const,
        tool: 'Bash',
        input: { command },
        hook: 'allow' as const,
        cwd: '/w',
        projectDir: '/w',
        home: '/h',
      }
      assert.notEqual((await decide(asked)).decision, 'allow', command)
    }),
    { numRuns: sized(660, 2000) },
  )
})

test('no command line makes the judge throw', async () => {
  const nasty = fc.string({
    unit: fc.constantFrom(...'$(){}[]`\'"\\<>|&;*?!#~=: \n\tab0é\u0000\u202e'.split('')),
    maxLength: 60,
  })
  const settings = { allow: ['Bash(a *)', 'Edit(/b)'], deny: ['Bash(b *)', 'Read(a)'], ask: ['Bash(* 0)'] }
  await fc.assert(
    fc.asyncProperty(nasty, async (command) => {
      await decide({
        settings,
        mode: 'default',
        tool: 'Bash',
        input: { command },
        hook: 'none',
        cwd: '/w',
        projectDir: '/w',
        home: '/h',
      })
    }),
    { numRuns: sized(1000, 3000) },
  )
})

test('path patterns agree with gitignore', () => {
  const part = fc.constantFrom('a', 'b', '*', '**', '?', 'a*', '*.ts', '[ab]', '[!a]', 'x.ts', '.env', 'a?b', '\\*')
  const name = fc.constantFrom('a', 'b', 'x.ts', '.env', 'ab', 'axb', 'c', '*')
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      fc.array(name, { minLength: 1, maxLength: 5 }),
      (parts, rooted, names) => {
        const text = (rooted ? '/' : '') + parts.join('/')
        const path = names.join('/')
        const ours = matchesPath(
          pathPattern(text, true),
          `/w/${path}`,
          { cwd: '/w', projectDir: '/w', home: '/h' },
          true,
        )
        assert.equal(ours, ignore({ ignorecase: false }).add(text).ignores(path), `${text} on ${path}`)
      },
    ),
    { numRuns: sized(1660, 5000) },
  )
})

test('a text with holes could match what it matches with some filling, and only that', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 4 })
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '*'), maxLength: 6 })
  fc.assert(
    fc.property(pattern, fc.array(letters, { minLength: 1, maxLength: 4 }), letters, (pattern, pieces, filling) => {
      const regex = new RegExp(`^${pattern.replaceAll('*', '[^]*')}$`)
      assert.equal(matches(pattern, pieces.join('')), regex.test(pieces.join('')))
      if (matches(pattern, pieces.join(filling))) assert.ok(couldMatch(pattern, pieces.join(HOLE)))
    }),
    { numRuns: sized(1660, 5000) },
  )
  assert.equal(couldMatch('rm *', `echo ${HOLE}`), false)
  assert.equal(couldMatch('rm *', `${HOLE} x`), true)
  assert.equal(couldMatch('a*b', `a${HOLE}c`), false)
})

import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { endOfLink, hyperlink, useHyperlinks } from './hyperlink.ts'
import { renderMarkdown } from './markdown.ts'
import { useTheme } from './style.ts'
import { bare, clip, width, wrap } from './width.ts'

afterEach(() => useHyperlinks({}))
const link = (text: string, href = 'https://example.org/x') => `\x1b]8;;${href}\x1b\\${text}${endOfLink}`

test('only terminals that have them get links, and the user decides for others', () => {
  const has = (env: NodeJS.ProcessEnv) => {
    useHyperlinks(env)
    return hyperlink('docs', 'docs', 'https://example.org') !== undefined
  }
  for (const env of [
    { TERM_PROGRAM: 'WezTerm' },
    { TERM: 'xterm-kitty' },
    { VTE_VERSION: '7600' },
    { WT_SESSION: 'x' },
    { ONA_HYPERLINKS: 'on', TERM: 'dumb' },
  ])
    assert.equal(has(env), true, JSON.stringify(env))
  for (const env of [
    {},
    { TERM: 'xterm-256color' },
    { TERM_PROGRAM: 'Apple_Terminal' },
    { TERM_PROGRAM: 'iTerm.app', TMUX: '1' },
    { TERM: 'screen-256color', VTE_VERSION: '7600' },
    { ONA_HYPERLINKS: 'off', WT_SESSION: 'x' },
  ])
    assert.equal(has(env), false, JSON.stringify(env))
})

test('a link of an answer is its text; one that would deceive, or that is no address of the web, is spelled out', () => {
  useTheme('dark', false)
  useHyperlinks({ ONA_HYPERLINKS: 'on' })
  const shown = (text: string) => renderMarkdown(text, 80).join('\n')
  assert.equal(shown('[the docs](https://example.org/x)'), link('the docs'))
  assert.equal(shown('<https://example.org/x>'), link('https://example.org/x'))
  assert.equal(shown('[bank.com](https://example.org/x)'), 'bank.com (https://example.org/x)')
  assert.equal(shown('[https://bank.com](https://example.org/x)'), 'https://bank.com (https://example.org/x)')
  for (const href of ['file:///etc/passwd', 'javascript:alert(1)', 'ssh://host'])
    assert.doesNotMatch(shown(`[x](${href})`), /\x1b/, href)
  useHyperlinks({})
  assert.equal(shown('[the docs](https://example.org/x)'), 'the docs (https://example.org/x)')
})

test('a link takes no cells, is closed where it is cut, and goes on where it is wrapped', () => {
  const text = `see ${link('the whole documentation')} now`
  assert.deepEqual([width(text), bare(text)], [31, 'see the whole documentation now'])
  assert.equal(clip(text, 10), `see \x1b]8;;https://example.org/x\x1b\\the w\x1b[0m${endOfLink}…`)
  const lines = wrap(text, 14)
  assert.deepEqual(lines.map(bare), ['see the whole', 'documentation', 'now'])
  for (const line of lines.slice(0, 2)) assert.match(line, /\x1b\]8;;https:.*\x1b\]8;;\x1b\\$/)
  assert.equal(lines[2], 'now')
})

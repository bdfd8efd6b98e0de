import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { onGround, paint, useDepth, useTheme } from './style.ts'

afterEach(() => {
  useDepth({})
  useTheme('dark', false)
})

test('a terminal gets the colours that it has', () => {
  const codes = (env: NodeJS.ProcessEnv) => {
    useDepth(env)
    useTheme('dark', true)
    return `${paint('accent', 'x')} ${onGround('prompt', 'x')}`
  }
  const sixteen = '\x1b[35mx\x1b[39m x'
  const indexed = '\x1b[38;5;209mx\x1b[39m \x1b[48;5;237mx\x1b[49m'
  const deep = '\x1b[38;5;209mx\x1b[39m \x1b[48;2;58;58;58mx\x1b[49m'
  const terms = { linux: sixteen, vt220: sixteen, screen: sixteen, 'xterm-16color': sixteen, 'xterm-256color': indexed }
  for (const [TERM, expected] of Object.entries(terms)) assert.equal(codes({ TERM }), expected, TERM)
  assert.equal(codes({ TERM: 'tmux-256color', COLORTERM: 'truecolor' }), deep)
  assert.equal(codes({ TERM: 'linux', COLORTERM: '1' }), indexed)
})

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { type Admission, ask, askInOrder, describe, errorOf, isA, type Outcome, TimeLimit, Waiting } from './kernel.ts'

const question = (call: (waiting: Waiting) => unknown, limitMs = 60_000, interrupt?: AbortSignal) => ({
  call,
  read: (value: unknown) => {
    if (value === 'unreadable') throw new Error('cannot be read')
    return value
  },
  limitMs,
  interrupt,
})

test('a handler that answers at once is not waited for; one that returns a promise is', async () => {
  assert.deepEqual(ask(question(() => 1)), { kind: 'answered', value: 1 })
  assert.deepEqual(ask(question(() => null)), { kind: 'answered', value: null })
  const alike = Object.fromEntries([['then', 'no function']])
  assert.deepEqual(ask(question(() => alike)), { kind: 'answered', value: alike })
  const later = ask(question(async () => 2))
  assert.ok(later instanceof Promise)
  assert.deepEqual(await later, { kind: 'answered', value: 2 })
  const thenable = (then: (done: (value: unknown) => void) => void) => Object.fromEntries([['then', then]])
  const outcome = (then: (done: (value: unknown) => void) => void) => ask(question(() => thenable(then)))
  assert.deepEqual(await outcome((done) => done(3)), { kind: 'answered', value: 3 })
  assert.deepEqual(await outcome((done) => done(Promise.resolve(4))), { kind: 'answered', value: 4 })
  assert.deepEqual(await outcome((done) => done(thenable((again) => again(5)))), { kind: 'answered', value: 5 })
  const cause = new Error('broke')
  const throwing = () => {
    throw cause
  }
  assert.deepEqual(await outcome(throwing), { kind: 'failed', cause })
})

test('a throw, a rejection and an answer that cannot be read are failures; a limit that was enforced is a timeout', async () => {
  const cause = new Error('broke')
  const thrown = () => {
    throw cause
  }
  assert.deepEqual(ask(question(thrown)), { kind: 'failed', cause })
  assert.deepEqual(await ask(question(async () => thrown())), { kind: 'failed', cause })
  assert.deepEqual(ask(question(() => 'unreadable')), { kind: 'failed', cause: new Error('cannot be read') })
  assert.deepEqual(await ask(question(async () => 'unreadable')), {
    kind: 'failed',
    cause: new Error('cannot be read'),
  })
  const limit = new TimeLimit(7, 'held the thread')
  const late = () => {
    throw limit
  }
  assert.deepEqual(ask(question(late)), { kind: 'timed-out', afterMs: 7, cause: limit })
  assert.deepEqual(await ask(question(async () => late())), { kind: 'timed-out', afterMs: 7, cause: limit })
})

test('past its limit, or interrupted, a handler is given up, and its signal says so', async () => {
  let seen: Waiting | undefined
  const never = (waiting: Waiting) => {
    seen = waiting
    return new Promise(() => {})
  }
  assert.deepEqual(await ask(question(never, 1)), { kind: 'timed-out', afterMs: 1 })
  assert.equal(seen!.signal.aborted, true)
  const controller = new AbortController()
  const waits = ask(question(never, 60_000, controller.signal))
  assert.equal(seen!.signal.aborted, false)
  controller.abort()
  assert.deepEqual([await waits, seen!.signal.aborted], [{ kind: 'interrupted' }, true])
  assert.deepEqual(await ask(question(never, 60_000, controller.signal)), { kind: 'interrupted' })
  // a limit beyond what a timer takes is not over at once
  assert.deepEqual(await ask(question(async () => 'in time', 2 ** 40)), { kind: 'answered', value: 'in time' })
})

test('what a handler does once it is given up does not change what became of it', async () => {
  const turn = new AbortController()
  const interrupts = ({ signal }: Waiting) => {
    signal.addEventListener('abort', () => turn.abort())
    return new Promise(() => {})
  }
  assert.deepEqual(await ask(question(interrupts, 1, turn.signal)), { kind: 'timed-out', afterMs: 1 })
})

test('the signal of a handler that answered is not aborted, whenever it is looked at', async () => {
  let seen: Waiting | undefined
  const waiting = question(async (one) => {
    seen = one
  })
  await ask(waiting)
  assert.equal(seen!.signal.aborted, false)
  const over = new Waiting()
  over.abort()
  assert.equal(over.signal.aborted, true)
})

test('handlers are admitted one after another; each sees whether the round is decided', async () => {
  const log: unknown[] = []
  const admissions: Record<string, Admission | Promise<Admission>> = {
    a: true,
    b: false,
    c: 'not today',
    d: Promise.resolve(true),
    e: Promise.resolve('late no'),
    f: '',
  }
  await askInOrder(Object.keys(admissions), {
    admit: (name, isDecided) => {
      log.push([name, isDecided])
      return admissions[name]!
    },
    question: (name) => question(() => name),
    settle: (name, outcome: Outcome<unknown>, asked) => {
      log.push([name, outcome, asked !== undefined])
      return name === 'c' || name === 'a' ? name === 'c' : false
    },
  })
  assert.deepEqual(log, [
    ['a', false],
    ['a', { kind: 'answered', value: 'a' }, true],
    ['b', false],
    ['c', false],
    ['c', { kind: 'skipped', why: 'not today' }, false],
    ['d', true],
    ['d', { kind: 'answered', value: 'd' }, true],
    ['e', true],
    ['e', { kind: 'skipped', why: 'late no' }, false],
    ['f', true],
    ['f', { kind: 'skipped', why: '' }, false],
  ])
})

test('an answer can decide the round for those after it', async () => {
  const seen: boolean[] = []
  await askInOrder(['a', 'b', 'c'], {
    admit: (_, isDecided) => {
      seen.push(isDecided)
      return true
    },
    question: (name) => question(() => name),
    settle: (name) => name === 'b',
  })
  assert.deepEqual(seen, [false, false, true])
})

test('parallel neighbours are asked together and settled in order; the others wait for them', async () => {
  const log: string[] = []
  const waiting: (() => void)[] = []
  const admissions: Record<string, Admission> = { b: 'not today', d: false }
  const call = (name: string) => {
    log.push(`${name} asked`)
    if (name === 'c') for (const end of waiting) setImmediate(end)
    return name === 'a' ? new Promise((resolve) => waiting.push(() => resolve(name))) : name
  }
  await askInOrder([...'abcdcef'], {
    admit: (name, isDecided) => {
      log.push(`${name} admitted${isDecided ? ', decided' : ''}`)
      return admissions[name] ?? true
    },
    isParallel: (name) => 'abcf'.includes(name),
    question: (name) => ({ ...question(() => call(name)), ended: () => log.push(`${name} ended`) }),
    settle: (name, { kind }: Outcome<unknown>) => {
      log.push(`${name} ${kind}`)
      return name === 'a'
    },
  })
  assert.deepEqual(log, [
    ...['a admitted', 'a asked', 'b admitted', 'c admitted', 'c asked', 'd admitted', 'c admitted', 'c asked'],
    ...['e admitted', 'c ended', 'c ended', 'a ended', 'a answered', 'b skipped', 'c answered', 'c answered'],
    ...['e admitted, decided', 'e asked', 'e answered'],
    ...['f admitted, decided', 'f asked', 'f ended', 'f answered'],
  ])
})

test('where the policy fails, what was asked already is settled all the same', async () => {
  const settled: string[] = []
  const asked = askInOrder(['a', 'b'], {
    admit: async (name) => {
      if (name === 'b') throw new Error('no rule')
      return true
    },
    isParallel: () => true,
    question: (name) => question(() => new Promise((resolve) => setImmediate(resolve, name))),
    settle: (name, { kind }: Outcome<unknown>) => {
      settled.push(`${name} ${kind}`)
      return false
    },
  })
  await assert.rejects(asked, new Error('no rule'))
  assert.deepEqual(settled, ['a answered'])
})

test('where settling one parallel handler fails, those beside it are settled all the same', async () => {
  const settled: string[] = []
  const asked = askInOrder(['a', 'b', 'c', 'd'], {
    admit: () => true,
    isParallel: (name) => name !== 'd',
    question: (name) => question(() => new Promise((resolve) => setImmediate(resolve, name))),
    settle: (name, { kind }: Outcome<unknown>) => {
      settled.push(`${name} ${kind}`)
      if (name !== 'c') throw new Error(`no record of ${name}`)
      return false
    },
  })
  await assert.rejects(asked, new Error('no record of a'))
  assert.deepEqual(settled, ['a answered', 'b answered', 'c answered'])
})

test('whatever was thrown is described, and describing it never throws', () => {
  const hostile = new Proxy(
    {},
    {
      getPrototypeOf: () => {
        throw new Error('trap')
      },
      get: () => {
        throw new Error('trap')
      },
    },
  )
  const nameless = new Error('still said')
  Object.defineProperty(nameless, 'name', {
    get: () => {
      throw new Error('trap')
    },
  })
  const odd = Object.assign(new Error('x'), { message: 7 })
  const cases: [unknown, string][] = [
    [new TypeError('x is not a function'), 'TypeError: x is not a function'],
    ['text', 'text'],
    [undefined, 'undefined'],
    [Symbol('s'), 'Symbol(s)'],
    [{ toString: () => 'shown' }, 'shown'],
    [Object.create(null), 'an object that cannot be shown'],
    [hostile, 'an object that cannot be shown'],
    [nameless, 'still said'],
    [odd, 'Error: 7'],
  ]
  for (const [cause, words] of cases) assert.equal(describe(cause), words)
  for (const cause of ['text', hostile, odd]) assert.ok(errorOf(cause).cause === cause)
  assert.deepEqual([isA(hostile, Error), isA(new Error('x'), Error), isA('x', Error)], [false, true, false])
})

test('a wait leaves neither a listener nor a timer behind, however it ends; a limit beyond what a timer takes is none', async (t) => {
  const { signal } = new AbortController()
  const [begun, ended] = [t.mock.method(globalThis, 'setTimeout'), t.mock.method(globalThis, 'clearTimeout')]
  const later = () => new Promise((resolve) => setImmediate(resolve, 'late'))
  const fails = () => Promise.reject(new Error('broke'))
  const never = () => new Promise(() => {})
  const kinds: string[] = []
  for (const [call, limitMs] of [
    [later, 60_000],
    [later, 2 ** 40],
    [later, Number.POSITIVE_INFINITY],
    [fails, 60_000],
    [never, 1],
  ] as const)
    kinds.push((await ask(question(call, limitMs, signal))).kind)
  assert.deepEqual(kinds, ['answered', 'answered', 'answered', 'failed', 'timed-out'])
  assert.deepEqual(getEventListeners(signal, 'abort'), [])
  assert.deepEqual(
    begun.mock.calls.map(({ arguments: [, ms], result }) => [
      ms,
      ended.mock.calls.some(({ arguments: [timer] }) => timer === result),
    ]),
    [60_000, 2 ** 31 - 1, 2 ** 31 - 1, 60_000, 1].map((ms) => [ms, true]),
  )
})

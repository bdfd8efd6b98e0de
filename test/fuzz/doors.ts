/** The doors where data from outside comes in. Each takes a text; it may refuse, and must not throw, hang or change the world. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { messagesOf } from '../../src/agent/context/messages.ts'
import { loadRolesFile } from '../../src/brains/roles/load.ts'
import { readArgs } from '../../src/cli/args.ts'
import { flags } from '../../src/cli/flags.ts'
import { checkPlan } from '../../src/dispatcher/rules/plan-graph.ts'
import { Problem } from '../../src/files/problem.ts'
import { type EventName, events } from '../../src/hooks/events.ts'
import { readHooks } from '../../src/hooks/settings.ts'
import { readOutput } from '../../src/hooks/wire/output.ts'
import { readServers } from '../../src/mcp/config.ts'
import { readRule } from '../../src/permissions/rule.ts'
import { anthropic } from '../../src/providers/dialects/anthropic.ts'
import { openai } from '../../src/providers/dialects/chat-completions.ts'
import type { Dialect } from '../../src/providers/dialects/dialect.ts'
import { sseReader } from '../../src/providers/transport/sse.ts'
import { loadScript } from '../../src/rehearsal/script.ts'
import { openDb } from '../../src/store/open.ts'
import { loadSettings } from '../../src/store/settings/settings.ts'
import { entryProblem, type Row } from '../../src/store/transcript.ts'
import { readFrontmatter } from '../../src/tools/skills/frontmatter.ts'

export interface Door {
  readonly name: string
  /** Words of the format, so that the texts get past its first check. */
  readonly words: readonly string[]
  take(text: string): unknown
}

const json = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const folder = mkdtempSync(join(tmpdir(), 'ona-doors-'))
export const doorsFolder = folder
const places = { home: join(folder, 'home'), cwd: join(folder, 'project') }
for (const each of Object.values(places)) mkdirSync(join(each, '.ona'), { recursive: true })
const db = openDb(join(folder, 'agent.db'))
export const closeDoors = (): void => db.close()

const request = { model: 'm', system: '', messages: [], tools: [], maxTokens: 100 } as never

function replyDoor(dialect: Dialect) {
  return (text: string) => {
    const reader = dialect.reader(request, () => {})
    const stream = sseReader((data) => {
      try {
        reader.event(data)
      } catch (cause) {
        if (!(cause instanceof SyntaxError)) throw cause // what is no JSON is the caller's to tell; nothing else may be thrown
      }
    })
    stream.push(text)
    stream.end()
    const value = json(text)
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
      const whole = dialect.reader(request, () => {})
      whole.whole(value as never)
      whole.reply()
    }
    reader.trouble()
    reader.complete()
    return reader.reply()
  }
}

export const doors: readonly Door[] = [
  {
    name: 'settings',
    words: [
      'permissions',
      'allow',
      'deny',
      'hooks',
      'env',
      'model_config',
      'provider',
      'defaultMode',
      'mcpServers',
      'statusLine',
    ],
    take(text) {
      writeFileSync(join(places.home, '.ona/settings.json'), text)
      return loadSettings({ db, ...places, env: {}, managedDirs: [] })
    },
  },
  {
    name: 'hooks, flat and nested',
    words: [
      'hooks',
      'hook_event_name',
      'PreToolUse',
      'matcher',
      'command',
      'type',
      'if',
      'timeout',
      'before_tool_apply',
      'match',
    ],
    take: (text) => [
      readHooks({ hooks: json(text) }, { source: 'user' as never }),
      readHooks(json(text), { source: 'user' as never }),
    ],
  },
  {
    name: 'stdout of a hook',
    words: [
      'hookSpecificOutput',
      'hookEventName',
      'PreToolUse',
      'permissionDecision',
      'updatedInput',
      'continue',
      'decision',
      'async',
    ],
    take: (text) => Object.keys(events).map((name) => readOutput(name as EventName, json(text))),
  },
  {
    name: 'a reply of Anthropic’s dialect',
    words: [
      'data: ',
      'event: ',
      'type',
      'message_start',
      'content_block_start',
      'content_block_delta',
      'delta',
      'index',
      'usage',
      'message_delta',
      'tool_use',
      'input_json_delta',
      'partial_json',
    ],
    take: replyDoor(anthropic({ host: 'h', headers: {} })),
  },
  {
    name: 'a reply of OpenAI’s dialect',
    words: [
      'data: ',
      '[DONE]',
      'choices',
      'delta',
      'tool_calls',
      'index',
      'function',
      'arguments',
      'finish_reason',
      'usage',
      'message',
    ],
    take: replyDoor(openai({ host: 'h' })),
  },
  {
    name: 'MCP configuration',
    words: ['mcpServers', 'command', 'args', 'env', 'type', 'http', 'url', 'headers', '${X:-y}'],
    take: (text) => readServers([{ name: 'x', config: json(text), scope: 'user', file: 'x' } as never], {}),
  },
  {
    name: 'a row of the transcript',
    words: [
      '_t',
      'user',
      'assistant',
      'tool_use',
      'tool_result',
      'content',
      'uuid',
      'type',
      'text',
      'input',
      'is_error',
      'tool_use_id',
    ],
    take(text) {
      const entry = json(text)
      if (entryProblem(entry) === undefined) messagesOf([{ entry } as unknown as Row])
    },
  },
  {
    name: 'a file of roles',
    words: [
      'repo',
      'roles',
      'slug',
      'hooks',
      'onBrain',
      'onTool',
      'command',
      'timeout',
      'PT5S',
      'filter',
      'what',
      'when',
    ],
    async take(text) {
      const file = join(folder, 'ona.roles.yaml')
      writeFileSync(file, text)
      try {
        await loadRolesFile(file, 'x', false)
      } catch (cause) {
        if (!(cause instanceof Problem)) throw cause // a refusal in words is what is wanted
      }
    },
  },
  {
    name: 'a planGraph',
    words: [
      'version',
      'workId',
      'w001',
      'nodes',
      'id',
      'status',
      'allowed',
      'scope',
      'dependsOn',
      'tools',
      'validations',
    ],
    take: (text) => checkPlan(text, 'w001'),
  },
  {
    name: 'a cassette',
    words: [
      'steps:',
      '- prompt: x',
      '- call: Bash',
      '  input: {}',
      '- say: y',
      '- expect: {}',
      'files:',
      'settings:',
      '&a',
      '*a',
      '!!js',
    ],
    take: (text) => loadScript(text, 'x.yaml'),
  },
  {
    name: 'arguments of the program',
    words: [
      '--print',
      '-p',
      '--model',
      '--settings',
      '--resume',
      '--',
      '--tools',
      '=',
      '--no',
      '-x',
      '--__proto__',
      '--constructor',
    ],
    take: (text) => readArgs(text.split(/[\s"{}:,]+/), flags),
  },
  {
    name: 'a permission rule',
    words: ['Bash', '(', ')', '*', 'Read', '//', '\\', 'domain:', 'mcp__', '**'],
    take: (text) => (['allow', 'deny', 'ask'] as const).map((behavior) => readRule(text, behavior)),
  },
  {
    name: 'the head of a skill',
    words: ['---\n', 'name: x\n', 'description: ', 'allowed-tools: ', '- a\n', '&a ', '*a'],
    take: (text) => readFrontmatter(text),
  },
]

/** Texts that are nearly right: values with the format's words, and what is left of them after a cut or a change. */
export function texts(words: readonly string[]): fc.Arbitrary<string> {
  const word = fc.oneof(fc.constantFrom(...words, '__proto__', 'constructor', 'toString'), fc.string({ maxLength: 6 }))
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.oneof(word, fc.double(), fc.boolean(), fc.constant(null), fc.constant(-1e308)),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.array(fc.tuple(word, tie('value')), { maxLength: 5 }).map(nearlyObject),
    ),
  }))
  const whole = value.map((made) => JSON.stringify(made) ?? 'null')
  return fc.oneof(
    { weight: 4, arbitrary: whole },
    {
      weight: 2,
      arbitrary: fc
        .tuple(whole, fc.nat(400), fc.string({ maxLength: 3 }))
        .map(([text, at, more]) => cutAt(text, at, more)),
    },
    {
      weight: 3,
      arbitrary: fc
        .array(fc.tuple(word, fc.constantFrom(' ', '\n', '\n\n', ': ', ',', '')), { maxLength: 25 })
        .map((all) => all.flat().join('')),
    },
    {
      weight: 2,
      arbitrary: fc.array(whole, { maxLength: 5 }).map((all) => all.map((each) => `data: ${each}\n\n`).join('')),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
  )
}

/** As JSON.parse makes it: `__proto__` is a key like any other. */
const nearlyObject = (pairs: readonly (readonly [string, unknown])[]): unknown =>
  JSON.parse(`{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value) ?? 'null'}`).join()}}`)

const cutAt = (text: string, at: number, more: string): string => {
  const place = at % (text.length + 1)
  return text.slice(0, place) + more + text.slice(place + more.length)
}

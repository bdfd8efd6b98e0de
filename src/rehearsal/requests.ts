/** Plain requests in English, and the tool calls that they stand for. */

export type Step =
  | { readonly call: string; readonly input: Record<string, unknown>; readonly about: string }
  /** Words instead of a call; `guide` stands for the list of what is understood. */
  | { readonly say: string }

/** Empty when the request, or one of its parts, is not understood. */
export function understand(request: string): Step[] {
  if (request.length > 20_000) return []
  const steps: Step[] = []
  for (const part of partsOf(request)) {
    const found = one(part)
    if (!found) return []
    steps.push(...found)
  }
  return steps
}

/** `read a.txt, then run npm test`. What stands in quotes is not split, nor is text that brings its own form. */
function partsOf(request: string): string[] {
  const ownForm = /```|\{/.test(request)
  const ownLines = /^(?:plan|todo|create|make|write)\b/i.test(request.trim()) && !/\bthen\b/i.test(request)
  if (ownForm || ownLines) return [request]
  const outsideQuotes = /(?:[,;.]?\s+and\s+then\s+|[,;.]?\s+then\s+|\s*\n\s*)(?=(?:[^"]*"[^"]*")*[^"]*$)/i
  return request
    .split(outsideQuotes)
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function one(part: string): Step[] | undefined {
  const plain = part.replace(politeness, '').trim().replace(/[?!]$/, '')
  for (const [pattern, steps] of requests) {
    const match = pattern.exec(plain)
    const found = match && steps(...match.slice(1))
    if (found) return found
  }
  return undefined
}

const politeness = /^(?:please|can you|could you|would you|now|ok(?:ay)?|let'?s|i want you to)[,\s]+(?:please\s+)?/i

/** The parts of the patterns: text in quotes or one word; a path; a folder named at the end. */
const text = `(?:"([^"]+)"|'([^']+)'|(\\S+))`
const anyText = `(?:"([^"]*)"|'([^']*)'|(\\S+))`
const folder =
  '(?:\\s+(?:in|of|under)\\s+(?:the\\s+)?(?:folder\\s+|directory\\s+|file\\s+)?(\\S+?)(?:\\s+(?:folder|directory))?)?'
const matching = (...sources: string[]) => new RegExp(`^${sources.join('')}$`, 'i')

type Found = (string | undefined)[]

/** The first that fits counts. A function that gives undefined passes the request on to the next. */
const requests: readonly (readonly [RegExp, (...found: Found) => Step[] | undefined])[] = [
  [/^(?:help|hello|hi|hey|what (?:can|do) you (?:do|understand)|who are you)\b/i, () => [{ say: 'guide' }]],
  [/^(?:thanks|thank you|bye|goodbye)\b/i, () => [{ say: 'You are welcome.' }]],
  [/^(?:call|use)\s+([A-Za-z][\w-]*)\s*(?:with\s+)?(\{[\s\S]*\})?$/i, (tool, json) => anyCall(tool!, json)],
  [
    /^write\s+(?:"([\s\S]*)"|'([\s\S]*)'|(\S[\s\S]*?))\s+(?:in)?to\s+(?:the\s+file\s+)?(\S+)$/i,
    (a, b, c, file) => write(file!, a ?? b ?? c!),
  ],
  [
    /^(?:create|make|write)\s+(?:an?\s+|the\s+)?(?:new\s+)?(?:file\s+)?(?:named\s+|called\s+)?(\S+?)(?:\s+(?:with|containing|that says)(?:\s+(?:the\s+)?(?:text|contents?))?:?\s+|\s*:\s+)([\s\S]+)$/i,
    (file, content) => write(file!, bare(content!)),
  ],
  [
    matching(
      '(?:edit\\s+(\\S+?)[,:]?\\s+(?:and\\s+|to\\s+)?)?(?:replace|change|rename)\\s+',
      text,
      '\\s+(?:with|to|by|into)\\s+',
      anyText,
      '(?:\\s+in\\s+(\\S+))?',
    ),
    (before, a, b, c, x, y, z, after) => edit(before ?? after, a ?? b ?? c!, x ?? y ?? z!),
  ],
  [
    matching('in\\s+(\\S+?),?\\s+(?:replace|change)\\s+', text, '\\s+(?:with|to|by|into)\\s+', anyText),
    (file, a, b, c, x, y, z) => edit(file, a ?? b ?? c!, x ?? y ?? z!),
  ],
  [/^(?:run|execute)\s+(?:the\s+|all\s+)*(?:tests?|test suite)$/i, () => run('npm test')],
  [/^(?:run|execute)\s+(?:the\s+command\s+)?(?:`([^`]+)`|"([^"]+)"|([\s\S]+))$/i, (a, b, c) => run(a ?? b ?? c!)],
  [/^[$!]\s*([\s\S]+)$/, (command) => run(command!)],
  [
    matching('(?:find|list|show)\\s+(?:all\\s+|the\\s+)*files?\\s+(?:named|called|like|matching)\\s+(\\S+)', folder),
    (name, where) => list(bare(name!).includes('/') ? bare(name!) : `**/${bare(name!)}`, where),
  ],
  [
    matching('(?:search|grep|look|find)\\s+(?:for\\s+)?(?:"([^"]+)"|\'([^\']+)\'|(\\S.*?))', folder),
    (a, b, c, where) => search(a ?? b ?? c!, where),
  ],
  [matching('where\\s+is\\s+', text), (a, b, c) => search(a ?? b ?? c!, undefined)],
  [
    matching('(?:list|ls|show)(?:\\s+(?:me|all|the|files|folder|directory|everything|contents))*', folder),
    (where) => list('*', where),
  ],
  [matching('(?:list|ls)\\s+(\\S*\\*\\S*)', folder), (pattern, where) => list(pattern!, where)],
  [/^(?:list|ls)\s+(\S+)$/i, (where) => list('*', where)],
  [
    /^(?:fetch|get|open|read|download)\s+(https?:\/\/\S+)$/i,
    (url) => [{ call: 'WebFetch', input: { url, prompt: 'What does this page say?' }, about: `I'll fetch ${url}.` }],
  ],
  [
    /^(?:read|show|open|print|cat|view|display)\s+(?:me\s+)?(?:lines?\s+(\d+)\s*(?:-|to)\s*(\d+)\s+(?:of|in|from)\s+)?(?:the\s+)?(?:file\s+|contents?\s+of\s+)?("[^"]+"|\S+)(?:\s+file)?$/i,
    (from, to, file) => read(bare(file!), from, to),
  ],
  [/^plan\b(?:\s+how\s+to|\s+to)?[:\s]+([\s\S]+)$/i, (what) => plan(what!)],
  [/^(?:add\s+)?(?:an?\s+)?to-?dos?(?:\s+list)?[:\s]+([\s\S]+)$/i, (what) => todo(what!)],
  [
    /^(?:ask|start|have|let)\s+(?:an?\s+|the\s+)?(?:([\w-]+)\s+)??(?:sub-?)?agent\s+(?:to\s+)?([\s\S]+)$/i,
    (kind, what) => agent(kind, what!),
  ],
]

const write = (file: string, content: string): Step[] => [
  {
    call: 'Write',
    input: { file_path: bare(file), content: content === '' || content.endsWith('\n') ? content : `${content}\n` },
    about: `I'll write ${bare(file)}.`,
  },
]

/** Edit wants the file to have been read. */
function edit(file: string | undefined, old_string: string, new_string: string): Step[] | undefined {
  if (!file) return undefined
  const file_path = bare(file)
  return [
    { call: 'Read', input: { file_path }, about: `I'll read ${file_path} first.` },
    { call: 'Edit', input: { file_path, old_string, new_string }, about: "Now I'll change it." },
  ]
}

const run = (command: string): Step[] => [
  {
    call: 'Bash',
    input: { command: command.trim(), description: `Run ${brief(command)}` },
    about: `I'll run ${brief(command)}.`,
  },
]

const list = (pattern: string, where: string | undefined): Step[] => [
  { call: 'Glob', input: { pattern, ...placed(where) }, about: `I'll list ${placed(where).path ?? 'the files here'}.` },
]

const search = (pattern: string, where: string | undefined): Step[] => [
  {
    call: 'Grep',
    input: { pattern, output_mode: 'content', ...placed(where) },
    about: `I'll search for ${pattern}.`,
  },
]

const read = (file_path: string, from?: string, to?: string): Step[] => [
  {
    call: 'Read',
    input: { file_path, ...(from && to && { offset: Number(from), limit: Number(to) - Number(from) + 1 }) },
    about: `I'll read ${file_path}.`,
  },
]

function plan(what: string): Step[] {
  const [title = '', ...parts] = items(what)
  const steps = parts.length > 0 ? parts : [title]
  const written = [
    `# Plan: ${title}`,
    '## Steps',
    steps.map((step, index) => `${index + 1}. ${step}`).join('\n'),
    '## Success criteria',
    steps.map((step) => `- ${step}: done, and shown by a command that exits 0`).join('\n'),
  ].join('\n\n')
  return [
    { call: 'EnterPlanMode', input: {}, about: "I'll enter plan mode." },
    { call: 'ExitPlanMode', input: { plan: written }, about: 'Here is the plan.' },
  ]
}

function todo(what: string): Step[] {
  const status = (index: number) => (index === 0 ? 'in_progress' : 'pending')
  const todos = items(what).map((content, index) => ({ content, status: status(index), activeForm: content }))
  return [{ call: 'TodoWrite', input: { todos }, about: "I'll write the list down." }]
}

const agent = (kind: string | undefined, prompt: string): Step[] => [
  {
    call: 'Agent',
    input: { description: brief(prompt), prompt, ...(kind && { subagent_type: kind }) },
    about: "I'll start an agent.",
  },
]

function anyCall(tool: string, json: string | undefined): Step[] {
  try {
    const input = json ? (JSON.parse(json) as Record<string, unknown>) : {}
    return [{ call: tool, input, about: `I'll call ${tool}.` }]
  } catch (cause) {
    return [{ say: `The input for ${tool} is not JSON: ${(cause as Error).message}` }]
  }
}

const items = (list: string): string[] =>
  list
    .split(/\s*(?:;|\n|,\s(?:and\s)?)\s*/)
    .map((item) => item.replace(/^(?:[-*]|\d+[.)])\s+/, '').trim())
    .filter((item) => item !== '')

const placed = (where: string | undefined): { path?: string } =>
  !where || /^(?:here|this|\.)$/i.test(where) ? {} : { path: bare(where) }

/** Text without its quotes or its fence. */
function bare(quoted: string): string {
  const fence = /^```[^\n]*\n([\s\S]*?)\n?```$/.exec(quoted.trim())
  if (fence) return fence[1]!
  return /^(["'`])([\s\S]*)\1$/.exec(quoted.trim())?.[2] ?? quoted.trim()
}

function brief(words: string): string {
  const line = words.trim().split('\n')[0]!
  return line.length > 40 ? `${line.slice(0, 40)}…` : line
}

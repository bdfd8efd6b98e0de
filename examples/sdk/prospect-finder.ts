/** An agent with a tool, a checked answer, hooks and a reshaped result: `node examples/sdk/prospect-finder.ts`. */
import { type Chat, defineAgent, defineTool, run, type Said } from 'ona'
import * as z from 'zod'

const companies = [
  { name: 'Acme', country: 'DE', staff: 40 },
  { name: 'Globex', country: 'FR', staff: 900 },
  { name: 'Initech', country: 'US', staff: 120 },
]

const searchCompanies = defineTool({
  name: 'search_companies',
  description: 'Companies of a region, with their number of staff.',
  input: z.object({ region: z.enum(['EU', 'US']) }),
  safety: 'read_only',
  run: ({ region }) => companies.filter(({ country }) => (country === 'US') === (region === 'US')),
})

const finder = defineAgent({
  name: 'prospect-finder',
  // Without ONA_MODEL the built-in rehearsal model plays the lines at the end of this file.
  model: process.env['ONA_MODEL'] ?? 'rehearsal',
  context: z.object({ region: z.enum(['EU', 'US']), minimum: z.number().default(50) }),
  instructions: ({ context }) =>
    `Find companies in ${context.get('region')} that may buy from us. Score each from 0 to 100.`,
  output: z.object({
    prospects: z.array(z.object({ name: z.string(), score: z.number() })),
    summary: z.string().optional(),
  }),
  tools: [searchCompanies],
  hooks: {
    onPromptGenerated: ({ userPrompt, agent, context }) =>
      console.log(`${agent.name} in ${context.get('region')}: ${userPrompt}`),
    onToolEnd: ({ tool, args, result }) => console.log(`${tool} ${JSON.stringify(args)}: ${result.length} characters`),
    onTokensCounted: 'countTokens',
    onValidationFailed: ({ field, error }) => console.log(`does not fit at ${field}: ${error}`),
    onResultReady: ({ rawResult, processedResult }) =>
      console.log(`${rawResult.prospects.length} found, ${processedResult.prospects.length} kept`),
  },
  resultTransform: {
    prospects: {
      transform: (list, _raw, { context }) => list.filter(({ score }) => score >= context.get('minimum')),
      default: [],
    },
    best: { computed: (raw) => raw.prospects.toSorted((a, b) => b.score - a.score)[0]?.name, default: 'nobody' },
    summary: { default: '', transform: 'shorten' },
  },
  methods: {
    shorten: (text: string) => (text.length > 20 ? `${text.slice(0, 19)}…` : text),
    countTokens({ totalTokens }: { totalTokens: number }) {
      spent += totalTokens
    },
  },
})

let spent = 0
const { output, usage } = await run(finder, {
  input: 'Whom should we call?',
  context: { region: 'EU' },
  rehearsal: playLines,
})
console.log(output)
console.log(`tokens agree: ${spent === usage.totalTokens}`)

/** The model's part: a call, an answer that does not fit, and one that does. */
function playLines({ messages }: Chat): Said {
  const replies = messages.filter(({ role }) => role === 'assistant').length
  const lines: Said[] = [
    { calls: [{ name: 'search_companies', input: { region: 'EU' } }] },
    { text: '{"prospects":[{"name":"Acme","score":"high"}]}' },
    {
      text: '{"prospects":[{"name":"Acme","score":81},{"name":"Globex","score":12}],"summary":"Acme fits best of all that were found."}',
    },
  ]
  return lines[replies]!
}

/** Two agents, a handoff with a filter, hooks for both, and the words as they come: `node examples/sdk/support-desk.ts`. */
import { addGlobalHooks, type Chat, defineAgent, handoff, type Said, stream } from 'ona'

const model = process.env['ONA_MODEL'] ?? 'rehearsal'

// For every agent of the process, before its own hooks.
addGlobalHooks({
  onStart: ({ agent }) => console.log(`[${agent.name} takes over]`),
  onError: ({ agent, error }) => console.log(`[${agent.name} failed: ${error.message}]`),
})

const billing = defineAgent({
  name: 'billing',
  description: 'Knows invoices and refunds.',
  model,
  instructions: ({ context }) => `You handle invoices. The customer is on the plan ${context.get('plan')}.`,
})

const desk = defineAgent({
  name: 'desk',
  model,
  instructions: 'You are the first to hear a customer. Hand over to whoever knows best.',
  handoffs: [
    handoff(billing, {
      // The next agent hears the customer's own words, and knows what we looked up.
      filter: ({ messages, context }) => ({
        messages: messages.filter(({ role }) => role === 'user'),
        context: context.set('plan', 'gold'),
      }),
    }),
  ],
  hooks: { onHandoff: ({ from, to, reason }) => console.log(`[${from.name} → ${to.name}: ${reason}]`) },
})

const answer = stream(desk, { input: 'I was charged twice.', context: { customer_id: 7 }, rehearsal: playLines })
for await (const event of answer) if (event.type === 'text') process.stdout.write(event.text)
const { agents, context } = await answer.result
console.log(`\n${agents.join(', ')}; customer ${context.get('customerId')} on ${context.get('plan')}`)

function playLines({ messages, tools }: Chat): Said {
  const system = messages[0]!.text
  if (system.includes('gold')) return { text: 'The second charge is refunded.' }
  return { calls: [{ name: tools[0]!.name, input: { reason: 'charged twice' } }] }
}

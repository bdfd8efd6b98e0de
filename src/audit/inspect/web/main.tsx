/** Starts what the page needs: the overview, or the conversation that the server has written. */
import { render } from 'preact'
import { enhance } from './conversation.ts'
import { Fleet } from './fleet.tsx'
import { Overview } from './overview.tsx'

const app = document.querySelector<HTMLElement>('#app')
const conversation = document.querySelector<HTMLElement>('#conversation')
if (app) {
  app.replaceChildren()
  render(app.dataset['view'] === 'fleet' ? <Fleet /> : <Overview />, app)
}
if (conversation) enhance(conversation)

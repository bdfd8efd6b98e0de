/** What stands under the prompt, gathered when something changed and not at every frame. Loaded when the session is there. */

import { branchOf } from '../../../files/git-branch.ts'
import { getState } from '../../../store/state.ts'
import type { Conversation } from '../../session/conversation.ts'
import { cost } from '../../session/usage-facts.ts'
import { statusInput } from './status-input.ts'
import { readStatusCommand, type StatusFacts, StatusScript, statusLine } from './status-line.ts'

export class StatusView {
  readonly #conversation: Conversation
  readonly #options: { readonly version: string; vimMode(): string | undefined; changed(): void }
  #script: StatusScript | undefined
  #facts: StatusFacts

  constructor(
    conversation: Conversation,
    options: { version: string; vimMode(): string | undefined; changed(): void },
  ) {
    this.#conversation = conversation
    this.#options = options
    this.#facts = this.#gather()
    const { settings } = conversation.session.runtime // without what an untrusted folder says
    if (!settings.disableAllHooks) this.use(settings.statusLine)
  }

  lines(columns: number): readonly string[] {
    return this.#script ? this.#script.lines : [statusLine(this.#facts, columns)]
  }

  refresh(): void {
    this.#facts = this.#gather()
    this.#script?.refresh()
    this.#options.changed()
  }

  /** A command of the user's in place of our line; anything else gives ours back. */
  use(setting: unknown): void {
    this.#script?.close()
    const command = readStatusCommand(setting)
    const { session } = this.#conversation
    this.#script =
      command &&
      new StatusScript(command, () => statusInput(this.#conversation, this.#options.version, this.#options.vimMode()), {
        cwd: () => this.#conversation.session.cwd,
        env: session.runtime.childEnv,
        changed: this.#options.changed,
      })
    this.refresh()
  }

  close(): void {
    this.#script?.close()
  }

  #gather(): StatusFacts {
    const { session, facts } = this.#conversation
    return {
      model: session.model.displayName ?? session.model.wireModel,
      phase: session.phase,
      mode: session.mode,
      contextShare: facts.contextShare,
      costUsd: cost(facts),
      branch: branchOf(session.cwd),
      name: getState(session.db, session.conversationId, 'name') ?? undefined,
      rehearsal: session.model.rehearsal,
      background: session.tasks.list().filter(({ status }) => status === 'running').length,
    }
  }
}

/** What a run reports as it happens. */
import type { AgentEvent } from '../agent/events.ts'

/** `agentName`: the agent of the run that it is about. `agent` is set when a sub-agent of that agent says it. */
export type RunEvent = { readonly agentName: string; readonly parentToolCallId?: string } & (
  | AgentEvent
  /** `agentName` hands over; the events that follow are of the next agent. */
  | { readonly type: 'handoff'; readonly to: string; readonly reason: string; readonly agent?: undefined }
)

/** `parentToolCallId` is the call that an agent used as a tool answers. */
export type OnRunEvent = (event: RunEvent) => void

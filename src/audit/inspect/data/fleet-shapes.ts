/** The fleet's pages: what the server answers and the browser shows. Types only: both sides import them. */

export interface FleetNode {
  readonly node: string
  readonly person: string
  readonly team: string
  readonly ring: string
  readonly rows: number
  readonly faults: number
  readonly version: number | null
  readonly wantedVersion: number | null
  readonly digest: string | null
  readonly state: string
  readonly detail: string
  readonly drift: readonly string[]
  readonly hooks: number
  readonly proof: string
  readonly ok: boolean
  /** UTC, `2026-11-15 08:23:00`; null: never. */
  readonly lastSeen: string | null
}

export interface FleetJob {
  readonly id: string
  readonly state: string
  readonly node: string | null
  readonly team: string | null
  readonly attempt: number
  readonly repo: string
  readonly ref: string
  readonly prompt: string
  readonly reason: string | null
  readonly submittedBy: string
  readonly submittedAt: string
}

export interface JobEvent {
  readonly at: string
  readonly attempt: number
  readonly node: string | null
  readonly what: string
  readonly detail: string
}

export interface JobLog {
  readonly job: FleetJob & { readonly branch: string | null; readonly result: string | null }
  readonly events: readonly JobEvent[]
}

export interface TeamCost {
  readonly team: string
  readonly conversations: number
  readonly calls: number
  readonly denied: number
  readonly tokens: number
  readonly cost: number | null
}

export interface FleetDenial {
  readonly at: string | null
  readonly node: string
  readonly person: string
  readonly team: string
  readonly tool: string | null
  readonly target: string | null
  readonly by: string | null
  readonly conversation: string
}

export interface FleetFault {
  readonly at: string
  readonly node: string
  readonly kind: string
  readonly link: number
  readonly detail: string
}

export interface FleetView {
  readonly nodes: readonly FleetNode[]
  /** How many nodes fit, of which the list shows the first. */
  readonly nodeCount: number
  readonly jobs: readonly FleetJob[]
  readonly jobCounts: readonly { readonly state: string; readonly count: number }[]
  readonly costs: readonly TeamCost[]
  readonly denials: readonly FleetDenial[]
  readonly faults: readonly FleetFault[]
  readonly choices: { readonly nodes: readonly string[]; readonly teams: readonly string[] }
}

export interface FleetFilter {
  readonly node?: string | undefined
  readonly team?: string | undefined
  /** Of jobs: queued, running, waiting, or an outcome. */
  readonly state?: string | undefined
  /** Seconds since 1970. */
  readonly from?: number | undefined
}

/** Where the pages of a fleet come from. */
export interface FleetPages {
  view(filter: FleetFilter): Promise<FleetView>
  job(id: string): Promise<JobLog | undefined>
}

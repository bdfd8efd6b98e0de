/** What a module's author may lean on, as `ona/dispatcher`. Adding a line here is a promise. */

export { neo4jCapability } from './neo4j-cap.ts'
export { globMatches, matchesAny } from './rules/glob.ts'
export { checkPlan, type PlanCheck, type PlanGraph, type PlanNode, type PlanProblem } from './rules/plan-graph.ts'
export { schemas } from './setup/schemas.ts'
export { type TestInput, testContext } from './setup/testing.ts'
export type {
  ArtifactRecord,
  Context,
  ContextItem,
  CoreState,
  Decision,
  EventName,
  EventRecord,
  HookAction,
  HookModule,
  HostEvent,
  Ids,
  LoggedEvent,
  Neo4jCapability,
  Outcome,
  Paths,
  Phase,
  PlanState,
  SessionFiles,
  State,
  Subagent,
} from './types.ts'

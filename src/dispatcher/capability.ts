/** What is known of the graph database. Only ever what the state holds: asking the server is neo4j-cap.ts. */
import type { Neo4jCapability, State } from './types.ts'

const unknownNeo4j: Neo4jCapability = { enabled: false, reachable: false }

export const neo4jFromState = (state: State): Neo4jCapability => state.cap?.neo4j ?? unknownNeo4j

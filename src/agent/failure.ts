/** What a model's failure is called at the hooks. */
import type { EventFields } from '../hooks/events.ts'
import type { ModelFailure } from '../providers/model.ts'
import type { Session } from './session.ts'

export async function raiseStopFailure(session: Session, failure: ModelFailure, text: string): Promise<void> {
  await session.raise('StopFailure', () => ({
    error: wireError[failure.kind],
    error_details: failure.message,
    ...(text !== '' && { last_assistant_message: text }),
  }))
}

export const wireError: Record<ModelFailure['kind'], EventFields['StopFailure']['error']> = {
  authentication: 'authentication_failed',
  billing: 'billing_error',
  'rate-limit': 'rate_limit',
  overloaded: 'server_error',
  'invalid-request': 'invalid_request',
  server: 'server_error',
  'max-output-tokens': 'max_output_tokens',
  network: 'server_error',
  unknown: 'unknown',
}

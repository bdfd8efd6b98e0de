/** The one object on stdout: the contract's fields beside what each host really reads. */

import { clock } from '../lazy-builtins.ts'
import type { Run } from '../run.ts'
import type { Json } from '../types.ts'
import { type Dialect, wires } from './host-input.ts'

export function buildOutput(run: Run, dialect: Dialect): Json {
  const { event } = run.session
  const name = event.name
  const before = name === 'PreToolUse'
  const refused = before && run.decision !== 'allow'
  const context = run.context.map(({ key, value }) => `[${key}] ${value}`).join('\n')
  const patch: Json = { ...run.inputMetadata, ...run.updatedInput }
  const rewritten = before && run.decision !== 'deny' ? fullInput(run) : undefined
  const message = run.warnings.join('; ')

  const specific: Json = {
    hookEventName: name,
    ...(refused && { permissionDecision: run.decision, permissionDecisionReason: run.reason }),
    ...(before && !refused && run.manifest.autoApprove && run.approved && { permissionDecision: 'allow' }),
    ...(rewritten && { updatedInput: rewritten }),
    ...(context && { additionalContext: context }),
  }
  const common: Json = {
    ...(run.stop !== undefined && { continue: false, stopReason: run.stop }),
    ...(message && { systemMessage: message.length > 1000 ? `${message.slice(0, 999)}…` : message }),
    ...(run.block !== undefined && { decision: 'block', reason: run.block }),
  }
  const stops = name === 'Stop' || name === 'SubagentStop'
  const { ignoresUnknownKeys, readsTopLevel } = wires[dialect]
  if (!ignoresUnknownKeys) {
    const nested = !stops && name !== 'PreCompact' && Object.keys(specific).length > 1
    return { ...common, ...(nested && { hookSpecificOutput: specific }) }
  }
  const contract: Json = {
    ...(before && { decision: run.decision }),
    ...(refused && { denyReason: run.reason }),
    ...(before && run.decision !== 'deny' && Object.keys(patch).length > 0 && { updatedInput: patch }),
    ...(run.context.length > 0 && { additionalContext: run.context }),
    ...(run.warnings.length > 0 && { warnings: run.warnings }),
    ...common,
    ...(name !== 'PreCompact' && {
      hookSpecificOutput: {
        ...specific,
        ...(stops && run.block !== undefined && { decision: 'block', reason: run.block }),
      },
    }),
    _debug: {
      hookRunId: run.session.ids.hookRunId,
      modulesRan: run.ran,
      elapsedMs: Math.round(clock() - run.startMs),
      budgetMs: run.budgetMs,
      budgetExceeded: run.budgetExceeded,
    },
  }
  if (!readsTopLevel) return contract
  return {
    ...contract,
    ...(context && { additionalContext: context }),
    ...(refused && { permissionDecision: run.decision, permissionDecisionReason: run.reason }),
    ...(rewritten && { modifiedArgs: rewritten }),
  }
}

/** Hosts replace the tool's input by what we send, so it has to be whole; stamps only where the manifest wants them. */
function fullInput({ manifest, inputMetadata, updatedInput, session }: Run): Json | undefined {
  const stamps = manifest.stampToolInput ? inputMetadata : {}
  if (!updatedInput && Object.keys(stamps).length === 0) return undefined
  return { ...session.event.toolInput, ...stamps, ...updatedInput }
}

/** When there is no run to speak of. Never silent about it. */
export function bareOutput(
  eventName: string,
  decision: 'allow' | 'deny',
  problem: string,
  dialect: Dialect = 'vscode',
): Json {
  const systemMessage = `dispatcher: ${problem}`
  const { ignoresUnknownKeys, readsTopLevel } = wires[dialect]
  if (eventName !== 'PreToolUse') return { systemMessage, ...(ignoresUnknownKeys && { warnings: [systemMessage] }) }
  const specific = {
    hookEventName: 'PreToolUse',
    ...(decision === 'deny' && { permissionDecision: 'deny', permissionDecisionReason: systemMessage }),
  }
  return {
    ...(ignoresUnknownKeys && {
      decision,
      ...(decision === 'deny' && { denyReason: systemMessage }),
      warnings: [systemMessage],
    }),
    systemMessage,
    ...(decision === 'deny' &&
      readsTopLevel && { permissionDecision: 'deny', permissionDecisionReason: systemMessage }),
    hookSpecificOutput: specific,
  }
}

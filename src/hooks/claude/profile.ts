/**
 * The contract that a hook is written for. `claude`: Claude Code's own (contract.ts), for hooks from its settings files,
 * from plugins and from the Agent SDK. By default: document 003 §6.
 */
export type Profile = 'claude'

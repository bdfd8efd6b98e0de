/** VS Code and the dispatcher. */
import type { Registration, Wire } from '../wire.ts'

export const vscodeWire: Wire = {
  ignoresUnknownKeys: true,
  readsTopLevel: false,
  isSender: () => true,
}

/**
 * https://code.visualstudio.com/docs/copilot/customization/hooks, "Hook command properties". VS Code and Copilot CLI read every
 * file in this folder; Copilot CLI rejects one without a version, and VS Code passes over the key.
 */
export const vscodeRegistration: Registration = {
  file: '.github/hooks/hooks.json',
  skeleton: { version: 1 },
  entry: (event, timeout) => ({ type: 'command', command: `node .ai/hooks/dispatch.mjs ${event}`, cwd: '.', timeout }),
}

/** VS Code has no hook that its administrator can force (code.visualstudio.com/docs/enterprise/ai-settings). */
import type { Managed } from '../managed.ts'

export const vscodeManaged: Managed = {
  holds: 'nothing can be enforced: a policy can only turn all hooks off',
  files: () => [],
  support: () => ({
    how: 'cannot',
    why: 'no hook can be forced there, and its managed rules turn every other call into a prompt',
  }),
}

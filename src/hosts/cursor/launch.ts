import type { Launch } from '../launch.ts'

/** It talks to Cursor's own servers only, so no model of ours can drive it. */
export const cursorLaunch: Launch = { program: 'cursor-agent', args: (_, prompt) => ['-p', prompt, '--force'] }

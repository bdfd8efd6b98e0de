import { claudecode } from './claudecode/index.ts'
import { hosts } from './index.ts'
import { hostSuite, type Neighbours } from './suite.ts'

const timeoutByHand = (text: string) => text.replace(/"timeout": \d+/, '"timeout": 99')

/** Claude Code's shape, indented by four as its user likes it. */
const groups = (event: string, extra: string): Neighbours => {
  const config = `{
    "theme": "dark",
    "hooks": {
        "${event}": [
            { "matcher": "Bash", "hooks": [ { "type": "command", "command": "./mine.sh" } ] }
        ]
    },
    ${extra}
}
`
  return {
    config,
    mustStay: [
      `    "theme": "dark",\n`,
      `{ "matcher": "Bash", "hooks": [ { "type": "command", "command": "./mine.sh" } ] }`,
      extra,
    ],
    commented: config.replace('"hooks": {', '// mine\n    "hooks": { /* all of them */'),
    byHand: timeoutByHand,
  }
}

const flat = (event: string): Neighbours => {
  const config = `{
\t"version": 1,
\t"hooks": {
\t\t"${event}": [{ "command": "./mine.sh" }],
\t\t"afterFileEdit": [{ "command": "./format.sh", "note": [1, 2] }]
\t}
}
`
  return {
    config,
    mustStay: ['{ "command": "./mine.sh" }', '\t\t"afterFileEdit": [{ "command": "./format.sh", "note": [1, 2] }]'],
    commented: config.replace('"hooks": {', '// mine\n\t"hooks": {'),
    byHand: timeoutByHand,
  }
}

const neighbours: Record<string, Neighbours> = {
  claudecode: { ...groups('PreToolUse', '"permissions": { "allow": ["Bash(npm test)"], "deny": [] }'), strict: true },
  ona: groups('PreToolUse', '"permissions": { "allow": ["Bash(npm test)"], "deny": [] }'),
  gemini: groups('BeforeTool', '"ui": { "hideBanner": true }'),
  codex: { ...groups('PreToolUse', '"description": "guards"'), strict: true },
  cursor: flat('preToolUse'),
  vscode: flat('PreToolUse'),
  copilot: flat('PreToolUse'),
  opencode: {
    config: '',
    mustStay: [],
    byHand: (text) => text.replace('"timeoutMs":5000', '"timeoutMs":99000'),
  },
}

for (const host of hosts) hostSuite(host, neighbours[host.slug]!)

hostSuite(claudecode.shared!.forAll, neighbours['claudecode']!, 'claudecode-guarded')

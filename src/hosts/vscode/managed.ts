/** VS Code has no hook that its administrator can force (code.visualstudio.com/docs/enterprise/ai-settings). */
import { isFields } from '../../files/json-edit.ts'
import { looseJson, type Managed } from '../managed.ts'

const userSettings = {
  linux: '.config/Code/User/settings.json',
  darwin: 'Library/Application Support/Code/User/settings.json',
}

export const vscodeManaged: Managed = {
  holds: 'nothing can be enforced: a policy can only turn all hooks off; hooks of the repository keep accidents out',
  files: () => [],
  support: () => ({
    how: 'cannot',
    why: 'no hook can be forced there, and its managed rules turn every other call into a prompt',
  }),
  overrides(seen) {
    const policy = '/etc/vscode/policy.json'
    const user = userSettings[seen.platform]
    const files = [
      [`~/${user}`, seen.home(user)],
      ['.vscode/settings.json', seen.repo('.vscode/settings.json')],
    ] as const
    return [
      ...(looseJson(seen.machine(policy))['ChatHooks'] === false ? [`${policy} turns all hooks off (ChatHooks)`] : []),
      ...files.flatMap(([name, text]) => {
        const { 'chat.hookFilesLocations': places, 'chat.tools.global.autoApprove': all } = looseJson(text)
        const off = isFields(places) ? Object.keys(places).filter((place) => places[place] === false) : []
        return [
          ...off.map((place) => `${name} turns the hooks in ${place} off (chat.hookFilesLocations)`),
          ...(all === true ? [`${name} approves every call (chat.tools.global.autoApprove)`] : []),
        ]
      }),
    ]
  },
}

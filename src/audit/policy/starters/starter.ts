/** A policy that teams ask for, ready to adapt: rules or a hook, with a rehearsal that proves it. */

export interface Starter {
  readonly id: string
  readonly about: string
  /** What it does not see, and what helps there. */
  readonly limits: string
  /** Words that name it on the command line. */
  readonly words: readonly string[]
  readonly permissions?: { readonly deny?: readonly string[]; readonly ask?: readonly string[] }
  /** Further settings, as they are written. */
  readonly settings?: Readonly<Record<string, unknown>>
  readonly hook?: StarterHook
  /** Calls that the rehearsal makes: those that must be refused, and those that must still run. */
  readonly refuses: readonly Tried[]
  readonly allows: readonly Tried[]
  /** Steps of the rehearsal after these calls, in place of the end of the turn. */
  readonly ending?: readonly object[]
  /** Files that the rehearsal's folder holds. */
  readonly files?: Readonly<Record<string, string>>
}

/**
 * A program for Node without dependencies, which any agent can run. It reads the event as JSON on stdin; exit 2 denies, and
 * stderr says why. Its default export is the same check as a function.
 */
export interface StarterHook {
  readonly event: 'PreToolUse' | 'Stop'
  readonly matcher: string
  /** The permission rule that a call must match before the program runs. */
  readonly if?: string
  readonly script: string
}

export interface Tried {
  readonly call: string
  readonly input: Readonly<Record<string, string>>
}

export const bash = (command: string): Tried => ({ call: 'Bash', input: { command } })
export const read = (file_path: string): Tried => ({ call: 'Read', input: { file_path } })
export const write = (file_path: string, content = 'x'): Tried => ({ call: 'Write', input: { file_path, content } })

/** The settings that put a starter in force; `script` is the path of its hook. */
export function starterSettings({ permissions, settings, hook }: Starter, script: string): object {
  return {
    ...(permissions && { permissions }),
    ...settings,
    ...(hook && {
      hooks: [
        {
          ...{ hook_event_name: hook.event, matcher: hook.matcher, ...(hook.if && { if: hook.if }) },
          ...{ command: `node "${script}"`, onFailure: 'refuse' },
        },
      ],
    }),
  }
}

/** A script for `ona rehearse`: what must be refused is, and what must run does. JSON is YAML. */
export function starterRehearsal(starter: Starter): string {
  const { about, refuses, allows, files = {}, hook, ending = [{ say: 'done' }] } = starter
  const script = scriptOf(starter)
  const settings = starterSettings(starter, `.ona/hooks/${script}`) as { permissions?: object }
  const tried = (calls: readonly Tried[], expect: object) => calls.flatMap((each) => [each, { expect }])
  const rehearsal = {
    about,
    files: { ...files, ...(hook && { [`.ona/hooks/${script}`]: hook.script }) },
    settings: { ...settings, permissions: { ...settings.permissions, defaultMode: 'bypassPermissions' } },
    steps: [{ prompt: 'try it' }, ...tried(refuses, refused), ...tried(allows, { error: false }), ...ending],
  }
  return `# ${about}\n${JSON.stringify(rehearsal, null, 2)}\n`
}

/** A command that ran and failed shows its exit code. */
const refused = { error: true, excludes: 'Exit code' }

/** The name of the file that holds a starter's hook. */
export const scriptOf = ({ id }: Starter): string => `${id}.mjs`

/** What one folder says about one agent. */
import type { HistoryReader } from './history/record.ts'
import type { BrainHook, Moment } from './hook.ts'
import type { Launch } from './launch.ts'
import type { Managed } from './managed.ts'
import type { ShimDialect } from './shim/shim.ts'
import type { ToolDialect } from './tool-names.ts'

export interface Host {
  readonly slug: string
  readonly aliases: readonly string[]
  /** Its display name. */
  readonly title: string
  readonly signs: Signs
  /** The file that holds our hooks, from the root of the repository. */
  readonly config: string
  /** Files beside the config that must exist while one of our hooks needs them. */
  readonly helpers?: readonly Helper[]
  /** What the agent counts a timeout in. */
  readonly unitMs: number
  /** What the agent cannot express of the hook; empty when it can express everything. */
  limits(hook: BrainHook): Limit[]
  /** Our hooks in the config, in file order. Throws a Problem that names file, line and column. */
  read(text: string, file: string): BrainHook[]
  /** The hooks in the config that are not ours, as far as we can express them. */
  foreign?(text: string, file: string): Foreign[]
  /** The config with exactly these hooks of ours in it and all else as it was; null when no file should be left. */
  write(text: string | null, hooks: readonly BrainHook[], file: string): string | null
  /** Whether a hook of ours is in the config exactly as we would write it. */
  standing(text: string, file: string): (hook: BrainHook) => boolean
  /** Warnings about the config as it is. */
  remarks?(text: string, file: string): string[]
  /** What the user has to do after the hooks there have changed. */
  readonly afterChange?: string
  /** Notes for when the config is created. */
  onStart?(root: string): string[]
  readonly shared?: Shared
  /** How a policy is enforced in it. */
  readonly managed: Managed
  /** The dialect of the shim that its hooks go through. */
  readonly shim: ShimDialect
  /** How it names its tools. */
  readonly dialect: ToolDialect
  /** How it is started headless; none for an agent without a program. */
  readonly launch?: Launch
  /** Reads the sessions it has stored; none: they cannot be imported. */
  readonly history?: HistoryReader
}

export interface Helper {
  readonly path: string
  /** null: it is removed. */
  readonly text: string | null
  serves?(hook: BrainHook): boolean
}

/** A config that other agents read too. */
export interface Shared {
  /** Agents that get no hooks of their own while this config has them, with the reason. */
  readonly serves: Readonly<Record<string, string>>
  /** Agents that may read it and have the hooks in their own config. */
  readonly quietIn: readonly string[]
  /** A text that is in the first helper only while it serves them. */
  readonly marksHelper: string
  /** The same host, writing hooks that work in all of these. */
  readonly forAll: Host
}

export interface Signs {
  /** Paths from the root of the repository; "*" stands for any name. */
  readonly repo: readonly string[]
  /** Paths from the home folder. */
  readonly home: readonly string[]
  /** A file of the repository that is a sign only when its text matches. */
  readonly mention?: { readonly path: string; readonly of: RegExp }
}

export interface Limit {
  readonly hook: BrainHook
  readonly why: string
  /** True: the hook is not written at all. False: it is written and does less than it says. */
  readonly dropped: boolean
}

/** A hook that another program put into an agent's config. */
export type Foreign =
  | {
      readonly path: readonly (string | number)[]
      readonly moment: Moment
      readonly what: string
      readonly command: string
      readonly timeoutMs: number
    }
  | { readonly path: readonly (string | number)[]; readonly why: string }

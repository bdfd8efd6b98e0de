/** Finds the modules of an event: those that came with us by `require`, the user's own by `import()`. */
import { join } from 'node:path'
import { errorOf } from '../hooks/kernel.ts'
import { takeDescriptors } from './host/stdio-guard.ts'
import { late } from './lazy-builtins.ts'
import { type ModuleEntry, shipped } from './manifest.ts'
import { readBytes } from './session/files.ts'
import { isBelow } from './session/paths.ts'
import { type EventName, eventNames, type HookModule } from './types.ts'

/** A module to ask, or the reason why it cannot be. */
export interface Seat {
  readonly name: string
  readonly priority: number
  readonly critical: boolean
  /** Not one of ours: it may do anything, and hold the thread. */
  readonly own: boolean
  readonly module: HookModule | undefined
  readonly failure?: Error
}

/** The modules that came with the dispatcher, compiled into it. */
export type Bundled = Readonly<Record<string, HookModule>>

/** `import()`, from a place where Node can do it. */
export type Importer = (url: string) => Promise<{ default?: unknown }>

/**
 * While features/NAME/hook.mjs is, byte for byte, the file that was installed, its module is taken from our own bundle:
 * the same code without the milliseconds of importing it. A file that says anything else is imported.
 * lib/features.txt holds the files as they were installed, one after another, each under a line with its name.
 */
const installedFile = 'lib/features.txt'

export const installedText = (name: string, text: string): string => `@@ ${name}\n${text}`

/** A module's file in lib/features.txt. */
export function installedPart(installed: Buffer, name: string): Buffer | undefined {
  const heading = `@@ ${name}\n`
  const at = installed.indexOf(heading)
  if (at < 0) return undefined
  const next = installed.indexOf('\n@@ ', at + heading.length)
  return installed.subarray(at + heading.length, next === -1 ? installed.length : next + 1)
}

export async function loadModules(
  entries: readonly ModuleEntry[],
  eventName: EventName,
  hooksRoot: string,
  patienceMs: number,
  bundled: Bundled,
  importer: Importer,
): Promise<Seat[]> {
  const seats: (Seat | undefined | Promise<Seat | undefined>)[] = []
  let quiet = false
  let waits = false
  const pristine = readBytes(join(hooksRoot, installedFile))
  const installed = typeof pristine === 'string' ? Buffer.alloc(0) : pristine
  for (const entry of entries) {
    const file = join(hooksRoot, entry.path)
    const read = isBelow(hooksRoot, file) ? readBytes(file) : `${entry.path} is outside .ai/hooks`
    const known = Object.hasOwn(shipped, entry.name) ? shipped[entry.name] : undefined
    if (typeof read === 'string') {
      const concerned = !known || known.supports.includes(eventName)
      if (concerned) seats.push(broken(entry, new Error(`cannot be read: ${read}`)))
    } else if (known && installedPart(installed, entry.name)?.equals(read)) {
      if (!known.supports.includes(eventName)) continue
      const hook = bundled[entry.name]
      seats.push(hook ? seat(entry, hook, eventName, false) : importOwn(entry, file, eventName, patienceMs, importer))
      waits ||= hook === undefined
    } else {
      if (!quiet) takeDescriptors()
      quiet = true
      waits = true
      seats.push(importOwn(entry, file, eventName, patienceMs, importer))
    }
  }
  const ready = (waits ? await Promise.all(seats) : seats) as (Seat | undefined)[]
  return ready.filter((item) => item !== undefined).sort((a, b) => a.priority - b.priority)
}

async function importOwn(
  entry: ModuleEntry,
  file: string,
  eventName: EventName,
  patienceMs: number,
  importer: Importer,
) {
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`did not finish loading in ${patienceMs} ms`)), patienceMs)
    })
    const { default: given } = await Promise.race([importer(late('node:url').pathToFileURL(file).href), tooLate])
    const wrong = whatIsWrong(given, entry.name)
    if (wrong) throw new Error(wrong)
    const own = given as HookModule
    const { name, priority, hotPathSafe, critical } = own // not spread: in an instance of a class they may be inherited
    const methods = { handle: own.handle.bind(own), settled: own.settled?.bind(own) }
    return seat(
      entry,
      { name, priority, hotPathSafe, critical, supports: new Set(own.supports), ...methods },
      eventName,
      true,
    )
  } catch (cause) {
    return broken(entry, cause)
  } finally {
    clearTimeout(timer)
  }
}

function whatIsWrong(module: unknown, name: string): string | undefined {
  if (typeof module !== 'object' || module === null) return 'has no default export that is an object'
  const own = module as Partial<HookModule>
  if (own.name !== name) return `calls itself "${String(own.name)}" but the manifest says "${name}"`
  if (typeof own.handle !== 'function') return 'has no handle()'
  if (own.settled !== undefined && typeof own.settled !== 'function') return 'has a settled that is not a function'
  if (!(own.supports instanceof Set) && !Array.isArray(own.supports)) return 'has no supports (a Set of event names)'
  if (![...own.supports].some((name) => eventNames.includes(name)))
    return `supports no event that there is (${eventNames.join(', ')})`
  return undefined
}

function seat(entry: ModuleEntry, module: HookModule, eventName: EventName, own: boolean): Seat | undefined {
  if (!module.supports.has(eventName)) return undefined
  if (eventName === 'PreToolUse' && !(entry.hotPathSafe ?? module.hotPathSafe)) return undefined
  return {
    name: entry.name,
    priority: entry.priority ?? numberOr(module.priority, 1000),
    critical: entry.critical ?? module.critical === true,
    own,
    module,
  }
}

/** Nobody knows what it would have said; if it is critical, that must not pass for consent. */
function broken(entry: ModuleEntry, cause: unknown): Seat {
  const known = Object.hasOwn(shipped, entry.name) ? shipped[entry.name] : undefined
  return {
    name: entry.name,
    priority: entry.priority ?? known?.priority ?? 1000,
    critical: entry.critical ?? known?.critical ?? false,
    own: false,
    module: undefined,
    failure: errorOf(cause),
  }
}

const numberOr = (value: unknown, fallback: number): number => (typeof value === 'number' ? value : fallback)

/** Watches files that hooks asked to hear of, and the settings' own files. A session's settings do not change with them. */
import { type FSWatcher, globSync, statSync, watch } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { EventFields } from '../../hooks/events.ts'
import { type Places, settingsFile, settingsFileToWrite } from '../../store/settings/settings-files.ts'
import type { Session } from './session.ts'

export interface Watcher {
  /** FileChanged is raised for these from now on, and for none that were given here before. */
  watch(paths: readonly string[]): void
  /** Ends the hooks under way; their rows are written. */
  close(): Promise<void>
}

type ConfigSource = EventFields['ConfigChange']['source']

/** An editor writes a file in several goes: they are one change. */
const settleMs = 30

/** `configs`: settings files and whose they are; a change raises ConfigChange. `always`: watched to the end. */
export function watchFor(
  session: () => Session,
  configs: ReadonlyMap<string, ConfigSource>,
  always: readonly string[],
): Watcher {
  const folders = new Map<string, FSWatcher>()
  const watched = new Map<string, FileState | undefined>()
  const due = new Map<string, NodeJS.Timeout>()
  const telling = new Set<Promise<void>>()
  const over = new AbortController()

  const look = async (path: string): Promise<void> => {
    due.delete(path)
    if (!watched.has(path)) return // let go in the meantime
    const now = stateOf(path)
    const before = watched.get(path)
    if (now?.mtimeMs === before?.mtimeMs && now?.size === before?.size) return
    watched.set(path, now)
    const event: EventFields['FileChanged']['event'] = before ? (now ? 'change' : 'unlink') : 'add'
    const source = configs.get(path)
    const { signal } = over
    const here = session()
    if (source) await here.raise('ConfigChange', () => ({ source, file_path: path }), signal)
    else await here.raise('FileChanged', () => ({ file_path: path, event }), signal)
    here.commit(() => {})
  }

  const lookSoon = (path: string) => {
    if (due.has(path) || over.signal.aborted) return
    const timer = setTimeout(() => {
      const looked = look(path).finally(() => telling.delete(looked))
      telling.add(looked)
    }, settleMs)
    due.set(path, timer.unref())
  }

  /** A folder that is not there yet is waited for in the nearest one above it. */
  const follow = (folder: string) => {
    const there = nearestFolder(folder)
    if (folders.has(there)) return
    const watcher = watch(there, { persistent: false }, (_kind, name) => {
      for (const path of watched.keys()) {
        if (dirname(path) === there ? name === null || basename(path) === name : path.startsWith(join(there, '/'))) {
          follow(dirname(path))
          lookSoon(path)
        }
      }
    })
    watcher.on('error', () => watcher.close()) // the folder is gone: there is nothing left to hear of
    folders.set(there, watcher)
  }

  const add = (paths: readonly string[]) => {
    for (const given of paths) {
      const path = resolve(session().cwd, given)
      if (watched.has(path)) continue
      watched.set(path, stateOf(path))
      follow(dirname(path))
    }
  }
  const constant = [...configs.keys(), ...always].map((path) => resolve(session().cwd, path))
  add(constant)
  return {
    watch(paths) {
      const wanted = new Set([...constant, ...paths].map((path) => resolve(session().cwd, path)))
      for (const path of watched.keys()) if (!wanted.has(path)) watched.delete(path)
      add(paths)
    },
    async close() {
      over.abort()
      for (const timer of due.values()) clearTimeout(timer)
      for (const watcher of folders.values()) watcher.close()
      await Promise.all(telling)
    },
  }
}

/** The settings files and skills of a session, whether they are there or not, and whose they are. */
export function configFiles(places: Places, managed: readonly string[]): Map<string, ConfigSource> {
  const found = new Map<string, ConfigSource>()
  for (const level of ['user', 'project', 'local'] as const) {
    found.set(settingsFile(level, places) ?? settingsFileToWrite(level, places), `${level}_settings`)
  }
  for (const file of managed) found.set(file, 'policy_settings')
  for (const cwd of [places.home, places.cwd]) {
    for (const file of globSync('{.ona,.claude}/skills/*/SKILL.md', { cwd })) found.set(join(cwd, file), 'skills')
  }
  return found
}

interface FileState {
  readonly size: number
  readonly mtimeMs: number
}

function stateOf(path: string): FileState | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat && { size: stat.size, mtimeMs: stat.mtimeMs }
}

function nearestFolder(folder: string): string {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder
  const up = dirname(folder)
  return up === folder ? folder : nearestFolder(up)
}

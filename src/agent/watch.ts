/** Watches files that hooks asked to hear of, and the settings' own files. A session's settings do not change with them. */
import { existsSync, type FSWatcher, statSync, watch } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { EventFields } from '../hooks/events.ts'
import type { Session } from './session.ts'

export interface Watcher {
  /** FileChanged is raised for these from now on. */
  add(paths: readonly string[]): void
  close(): void
}

type ConfigSource = EventFields['ConfigChange']['source']

/** `configs`: settings files and whose they are; a change raises ConfigChange. */
export function watchFor(session: () => Session, configs: ReadonlyMap<string, ConfigSource>): Watcher {
  const folders = new Map<string, FSWatcher>()
  const watched = new Map<string, { size: number; mtimeMs: number } | undefined>()

  const look = (path: string) => {
    const now = stateOf(path)
    const before = watched.get(path)
    if (now?.mtimeMs === before?.mtimeMs && now?.size === before?.size) return
    watched.set(path, now)
    const event: EventFields['FileChanged']['event'] = before ? (now ? 'change' : 'unlink') : 'add'
    const source = configs.get(path)
    const raised = source
      ? session().raise('ConfigChange', () => ({ source, file_path: path }))
      : session().raise('FileChanged', () => ({ file_path: path, event }))
    raised.then(() => session().commit(() => {}))
  }

  const add = (paths: readonly string[]) => {
    for (const given of paths) {
      const path = resolve(session().cwd, given)
      if (watched.has(path)) continue
      watched.set(path, stateOf(path))
      const folder = dirname(path)
      if (folders.has(folder) || !existsSync(folder)) continue
      const watcher = watch(folder, { persistent: false }, (_kind, name) => {
        for (const each of watched.keys()) {
          if (dirname(each) === folder && (name === null || basename(each) === name)) look(each)
        }
      })
      watcher.on('error', () => watcher.close()) // the folder is gone: there is nothing left to hear of
      folders.set(folder, watcher)
    }
  }
  add([...configs.keys()])
  return {
    add,
    close() {
      for (const watcher of folders.values()) watcher.close()
    },
  }
}

function stateOf(path: string): { size: number; mtimeMs: number } | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat && { size: stat.size, mtimeMs: stat.mtimeMs }
}

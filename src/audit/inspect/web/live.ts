/** Server-sent events: says when the record has changed, and how far the index is. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Progress } from '../data/shapes.ts'

interface Heard {
  readonly onChange: () => void
  readonly onProgress?: (progress: Progress) => void
}

/** Many changes in a row are one. */
const settleMs = 250

export function follow({ onChange, onProgress }: Heard, onState: (isOpen: boolean) => void = () => {}): () => void {
  const source = new EventSource('/api/live')
  let waiting: ReturnType<typeof setTimeout> | undefined
  source.addEventListener('open', () => onState(true))
  source.addEventListener('error', () => onState(false))
  source.addEventListener('change', () => {
    waiting ??= setTimeout(() => {
      waiting = undefined
      onChange()
    }, settleMs)
  })
  source.addEventListener('progress', (event) => onProgress?.(JSON.parse(event.data)))
  return () => {
    clearTimeout(waiting)
    source.close()
  }
}

/** Whether the page is connected. */
export function useLive(heard: Heard): boolean {
  const [isOpen, setOpen] = useState(false)
  const latest = useRef(heard)
  latest.current = heard
  useEffect(
    () =>
      follow(
        { onChange: () => latest.current.onChange(), onProgress: (now) => latest.current.onProgress?.(now) },
        setOpen,
      ),
    [],
  )
  return isOpen
}

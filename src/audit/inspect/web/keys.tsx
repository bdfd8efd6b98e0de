/** The keyboard: `/` searches, j and k go through what is listed, `?` shows the keys. */
import { useEffect, useRef } from 'preact/hooks'

const keys: readonly (readonly [string, string])[] = [
  ['/', 'search'],
  ['j k', 'next and previous conversation'],
  ['Enter', 'open it'],
  ['g', 'to the top'],
  ['?', 'these keys'],
]

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input, select, textarea')

/** Works on any page that has `#find` and links of the class `title`. */
export function onKey(event: KeyboardEvent, showHelp: () => void): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (isTyping(event.target)) {
    if (event.key === 'Escape') (event.target as HTMLElement).blur()
    return
  }
  if (event.key === '/') document.querySelector<HTMLInputElement>('#find')?.focus()
  else if (event.key === 'j' || event.key === 'k') step(event.key === 'j' ? 1 : -1)
  else if (event.key === 'g') scrollTo({ top: 0 })
  else if (event.key === '?') showHelp()
  else return
  event.preventDefault()
}

function step(by: number): void {
  const links = [...document.querySelectorAll<HTMLElement>('a.title')]
  const at = links.indexOf(document.activeElement as HTMLElement)
  links[at === -1 ? (by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + by))]?.focus()
}

export function useKeys() {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => onKey(event, () => dialog.current?.showModal())
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [])
  return { dialog }
}

export const Keys = ({ dialog }: ReturnType<typeof useKeys>) => (
  <dialog ref={dialog} aria-labelledby="keys-title">
    <h2 id="keys-title">Keys</h2>
    <dl>
      {keys.map(([key, what]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
    <form method="dialog">
      <button type="submit">Close</button>
    </form>
  </dialog>
)

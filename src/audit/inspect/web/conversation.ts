/** What a conversation's page does beside being read: local times, find on the page, and new rows as they come. */
import { dateOf } from './format.ts'
import { onKey } from './keys.tsx'
import { follow } from './live.ts'

export function enhance(root: HTMLElement): void {
  localTimes(root)
  finder(root, new URLSearchParams(location.search).get('find') ?? '')
  addEventListener('keydown', (event) => onKey(event, () => {}))
  follow({ onChange: () => void refresh(root) })
}

/** Whole seconds, as the record keeps them. */
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

function localTimes(root: ParentNode): void {
  for (const line of root.querySelectorAll('.line')) localDays(line)
  for (const time of root.querySelectorAll('time[datetime]')) {
    const date = new Date(time.getAttribute('datetime')!)
    if (Number.isNaN(date.getTime())) continue
    time.textContent = clock.format(date)
    time.setAttribute('title', date.toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' }))
  }
  for (const span of root.querySelectorAll<HTMLElement>('[data-utc]')) {
    const date = dateOf(span.dataset['utc']!)
    if (!Number.isNaN(date.getTime()))
      span.textContent = date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
  }
}

/** A day begins at local midnight, not at midnight in UTC. */
function localDays(line: Element): void {
  for (const day of line.querySelectorAll(':scope > .day')) day.remove()
  let now = line.closest('.item') ? dayOf(line.closest('.item')!) : ''
  for (const item of [...line.children]) {
    const day = dayOf(item)
    if (day === '' || day === now) continue
    now = day
    const heading = document.createElement('li')
    heading.className = 'day'
    heading.textContent = day
    item.before(heading)
  }
}

const dayNames = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' })

function dayOf(item: Element): string {
  const date = new Date(item.querySelector('time[datetime]')?.getAttribute('datetime') ?? '')
  return Number.isNaN(date.getTime()) ? '' : dayNames.format(date)
}

function finder(root: HTMLElement, wanted: string): void {
  const find = root.querySelector<HTMLInputElement>('#find')
  if (!find) return
  find.hidden = false
  find.addEventListener('input', () => apply(root, find.value))
  if (wanted === '') return
  find.value = wanted.replaceAll('"', '').replaceAll('*', '')
  apply(root, find.value)
}

/** Every word must be in an item; what does not fit is hidden. */
function apply(root: HTMLElement, text: string): void {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const items = [...root.querySelectorAll<HTMLElement>('.item')]
  const fits = items.filter((item) => {
    const content = item.textContent!.toLowerCase()
    const fit = words.every((word) => content.includes(word))
    item.classList.toggle('out', !fit)
    return fit
  })
  root.querySelector('.hits')!.textContent = words.length === 0 ? '' : `${fits.length} of ${items.length}`
}

/** The page is asked for again, and what changed takes its place; what is folded open stays so. */
async function refresh(root: HTMLElement): Promise<void> {
  const answer = await fetch(location.href).catch(() => undefined)
  if (!answer?.ok) return
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('#conversation')
  const [old, next] = [root.querySelector('.line'), fresh?.querySelector('.line')]
  if (!old || !next) return
  localTimes(fresh!)
  for (const [at, item] of [...next.children].entries()) {
    const known = old.children[at]
    if (!known) old.append(item.cloneNode(true))
    else if (shown(known) !== shown(item)) known.replaceWith(item.cloneNode(true))
  }
  const sums = fresh!.querySelector('.sum')
  if (sums) root.querySelector('.sum')?.replaceWith(sums)
  const find = root.querySelector<HTMLInputElement>('#find')
  if (find?.value) apply(root, find.value)
}

/** Without what the reader did to it. */
function shown(item: Element): string {
  const copy = item.cloneNode(true) as Element
  copy.classList.remove('out')
  for (const each of copy.querySelectorAll('[open]')) each.removeAttribute('open')
  for (const each of copy.querySelectorAll('.out')) each.classList.remove('out')
  return copy.outerHTML
}

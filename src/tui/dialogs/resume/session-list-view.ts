/** The list of sessions to resume: typing searches, Space looks into one, Ctrl-R renames it. */
import type { SessionSummary } from '../../../store/session/session-list.ts'
import type { Input } from '../../input/keys.ts'
import { LineInput } from '../../input/line-input.ts'
import { glyph } from '../../render/glyphs.ts'
import type { Item } from '../../render/items.ts'
import type { Frame } from '../../render/screen.ts'
import type { View } from '../../render/view.ts'
import { type Markdown, previewLines } from './preview.ts'
import type { SessionFinder } from './session-finder.ts'
import { drawList, drawPreview, mostShown, roomFor } from './session-list-render.ts'
import { detailOf, type RowFacts, titleOf } from './session-rows.ts'

export interface SessionSource {
  readonly query: string
  /** Where we are. */
  readonly project: string
  readonly branch: string | undefined
  finder(everyProject: boolean): SessionFinder
  messages(one: SessionSummary): number
  projectOf(one: SessionSummary): string
  preview(one: SessionSummary): readonly Item[]
  /** The name that it has now; an empty one takes the name away. */
  rename(one: SessionSummary, name: string): string | null
  markdown: Markdown
  changed(): void
}

/** One look for more takes at most so long; a longer search goes on between keys. */
const sliceMs = 12

export class SessionListView implements View {
  readonly #source: SessionSource
  readonly #done: (one: SessionSummary | undefined) => void
  readonly #query: LineInput
  readonly #facts = new Map<string, RowFacts>()
  #finder: SessionFinder
  #everyProject = false
  #onlyBranch = false
  #at = 0
  #room = mostShown
  #renaming: LineInput | undefined
  #preview: { readonly items: readonly Item[]; up: number } | undefined
  #looking = false

  constructor(source: SessionSource, done: (one: SessionSummary | undefined) => void) {
    this.#source = source
    this.#done = done
    this.#query = new LineInput({ placeholder: `Search${glyph.more}`, initial: source.query })
    this.#finder = source.finder(false)
    this.#search()
  }

  get text(): string {
    return this.#query.text
  }

  press(input: Input): void {
    const key = 'key' in input ? input.key : 'text' in input ? input.text : ''
    if (this.#renaming) this.#pressRenaming(key, input)
    else if (this.#preview) this.#pressPreview(key)
    else this.#pressList(key, input)
  }

  get #here(): SessionSummary | undefined {
    return this.#finder.found[this.#at]
  }

  #pressList(key: string, input: Input): void {
    const act = this.#keys[key]
    if (act) act()
    else if (key === ' ' && this.#query.text === '') this.#look()
    else if (this.#query.press(input)) this.#search()
  }

  readonly #keys: Readonly<Record<string, () => void>> = {
    esc: () => (this.#query.text === '' ? this.#done(undefined) : this.#clear()),
    'ctrl+c': () => this.#done(undefined),
    enter: () => this.#here && this.#done(this.#here),
    tab: () => this.#look(),
    up: () => this.#move(-1),
    'ctrl+p': () => this.#move(-1),
    down: () => this.#move(1),
    'ctrl+n': () => this.#move(1),
    pageup: () => this.#move(-this.#room),
    pagedown: () => this.#move(this.#room),
    home: () => this.#move(Number.NEGATIVE_INFINITY),
    end: () => this.#move(this.#finder.found.length),
    'ctrl+r': () => {
      if (this.#here) this.#renaming = new LineInput({ initial: titleOf(this.#here) })
    },
    'ctrl+a': () => {
      this.#everyProject = !this.#everyProject
      this.#finder = this.#source.finder(this.#everyProject)
      this.#search()
    },
    'ctrl+b': () => {
      if (!this.#source.branch) return
      this.#onlyBranch = !this.#onlyBranch
      this.#search()
    },
  }

  #clear(): void {
    while (this.#query.text !== '') this.#query.press({ key: 'ctrl+u' })
    this.#search()
  }

  #pressRenaming(key: string, input: Input): void {
    if (key === 'esc' || key === 'ctrl+c') this.#renaming = undefined
    else if (key === 'enter') {
      const one = this.#here!
      this.#finder.rename(one.conversationId, this.#source.rename(one, this.#renaming!.text))
      this.#renaming = undefined
    } else this.#renaming!.press(input)
  }

  #pressPreview(key: string): void {
    const preview = this.#preview!
    const by: Record<string, number> = { up: 1, k: 1, down: -1, j: -1, pageup: 10, pagedown: -10 }
    if (key === 'enter') this.#done(this.#here)
    else if (['esc', ' ', 'tab', 'q', 'ctrl+c'].includes(key)) this.#preview = undefined
    else if (by[key] !== undefined) preview.up = Math.max(0, preview.up + by[key])
  }

  #look(): void {
    if (this.#here) this.#preview = { items: this.#source.preview(this.#here), up: 0 }
  }

  #search(): void {
    this.#at = 0
    this.#finder.search(this.#query.text, this.#onlyBranch ? this.#source.branch : undefined)
    this.#find(this.#room + 1)
  }

  #move(by: number): void {
    this.#find(this.#at + Math.min(by, this.#room) + this.#room + 1)
    this.#at = Math.max(0, Math.min(this.#finder.found.length - 1, this.#at + by))
  }

  /** Looks for so many; what takes longer goes on when the keys that wait have been read. */
  #find(wanted: number): void {
    this.#finder.look(wanted, sliceMs)
    const more = this.#finder.found.length < wanted && !this.#finder.isComplete
    if (!more || this.#looking) return
    this.#looking = true
    setImmediate(() => {
      this.#looking = false
      this.#find(wanted)
      this.#source.changed()
    })
  }

  draw(columns: number, rows: number): Frame {
    const here = this.#here
    if (here && this.#preview) {
      const { items, up } = this.#preview
      const drawn = drawPreview(
        { title: titleOf(here), detail: detailOf(here, this.#factsOf(here), columns), up },
        previewLines(items, columns, this.#source.markdown),
        columns,
        rows,
      )
      this.#preview.up = drawn.up
      return drawn.frame
    }
    this.#room = roomFor(rows, columns)
    const { found, isComplete } = this.#finder
    const from = Math.max(0, Math.min(this.#at - Math.floor(this.#room / 2), found.length - this.#room))
    const place = this.#everyProject ? 'all projects' : this.#source.project
    return drawList(
      {
        place: this.#onlyBranch ? `${place} on ${this.#source.branch}` : place,
        query: this.#query,
        rows: found.slice(from, from + this.#room).map((one) => ({ one, facts: this.#factsOf(one) })),
        at: this.#at - from,
        renaming: this.#renaming,
        position: found.length > this.#room ? `${this.#at + 1} of ${found.length}${isComplete ? '' : '+'}` : '',
        isSearching: !isComplete && found.length < this.#room,
        everyProject: this.#everyProject,
        branch: this.#source.branch,
        onlyBranch: this.#onlyBranch,
      },
      columns,
      rows,
    )
  }

  #factsOf(one: SessionSummary): RowFacts {
    const known = this.#facts.get(one.sessionId) ?? { messages: this.#source.messages(one) }
    this.#facts.set(one.sessionId, known)
    return this.#everyProject ? { ...known, project: this.#source.projectOf(one) } : known
  }
}
